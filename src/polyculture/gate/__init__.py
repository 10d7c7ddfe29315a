"""Limits on the numbers of a result: which fields, which bounds, and whether they hold.

Knows JSON documents that polyculture wrote, and nothing of how their numbers are made.
"""
