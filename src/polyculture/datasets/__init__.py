"""Bundled data sets: outcomes of commercial services in 2020 as counts, and German Credit.

Facts and loaders only. Origin and licence stand in SOURCES.md beside the files.
"""

from polyculture.datasets.german_credit import GERMAN_CREDIT_COLUMNS, german_credit
from polyculture.datasets.hapi2020 import hapi
from polyculture.datasets.listing import Dataset, listing

__all__ = ["GERMAN_CREDIT_COLUMNS", "Dataset", "german_credit", "hapi", "listing"]
