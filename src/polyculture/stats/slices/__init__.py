"""Describable slices: a search over conditions, and the contrast of a slice's excess with that of others.

Arrays in, arrays out; which columns are searched, and what is reported, stands in ``audit.slices``.
"""
