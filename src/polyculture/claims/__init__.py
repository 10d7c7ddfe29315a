"""What papers report, as data; and whether what we find agrees with it.

Knows records of audits, and nothing of how they are made or shown.
"""
