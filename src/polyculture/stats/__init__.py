"""Statistics on arrays: numpy in, numpy out.

No frames, no files, and no randomness but a Generator that the caller passes. What the arrays mean, and
which figure a reader sees, stands in ``polyculture.audit``.
"""
