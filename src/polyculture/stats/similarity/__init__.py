"""How alike models are: measures of all pairs at once, and of whole collections; one family a module."""

from polyculture.stats.similarity.cells import Cells, cells_from_tables, cells_of
from polyculture.stats.similarity.pairs import Answers, PairSimilarity, pair_similarity

__all__ = ["Answers", "Cells", "PairSimilarity", "cells_from_tables", "cells_of", "pair_similarity"]
