"""`polyculture schema`: the JSON Schema of a result."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from polyculture.errors import UsageError, nearest

_NAMES = ("audit", "compare")


def schema(name: Annotated[str, Parameter(help="Which result: audit or compare.")], /) -> int:
    """Print the JSON Schema of a result."""
    from polyculture.commands.outputs import write_standard_output
    from polyculture.report.json import json_schema

    if name not in _NAMES:
        hint = nearest(name, _NAMES) or f"The schemas are: {', '.join(_NAMES)}."
        raise UsageError(f"There is no schema {name!r}.", hint=hint)
    write_standard_output(json.dumps(json_schema(name), indent=2, ensure_ascii=False) + "\n")
    return 0
