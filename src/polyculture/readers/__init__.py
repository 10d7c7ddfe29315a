"""Files people already have -> a lazy frame and where it came from. One module a format, recognised by content.

What the columns mean is decided elsewhere (``outcomes``), except where a layout fixes it.
"""

from polyculture.readers.opening import open_sources
from polyculture.readers.table import Table

__all__ = ["Table", "open_sources"]
