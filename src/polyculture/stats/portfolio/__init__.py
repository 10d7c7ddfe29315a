"""Which set of models: losses of sets over pattern tables, exact and greedy search.

Arrays in, arrays out; what is asked, and how it is reported, stands in ``audit.portfolio``.
"""
