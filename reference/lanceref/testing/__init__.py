"""Test data for readers and writers of the format: hypothesis strategies and seeded samples.

`arrow_types`, `arrays` and `tables` are hypothesis strategies; `random_sample` gives the same
tables from a seed, without hypothesis. Everything a file version cannot store is left out.
"""

from lanceref.testing.arrays import arrays, random_array
from lanceref.testing.tables import Sample, random_sample, tables
from lanceref.testing.types import arrow_types, random_type

__all__ = [
    "Sample",
    "arrays",
    "arrow_types",
    "random_array",
    "random_sample",
    "random_type",
    "tables",
]
