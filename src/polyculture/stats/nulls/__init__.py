"""Models of chance ("nulls"), each of which says how often all models would fail: fitted, tested, ordered.

Arrays in, arrays out; how a null is fitted stands in its own module, what all of them are asked in ``ladder``. What a
reader sees of them is made in ``polyculture.audit.nulls``.
"""
