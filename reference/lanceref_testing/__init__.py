"""Test data for readers and writers of the format: hypothesis strategies and seeded samples.

`arrow_types`, `arrays.arrays` and `tables.tables` are hypothesis strategies; `random_sample` gives
the same tables from a seed. Everything a file version cannot store is left out. The names load on
first use: the encoders of this package need no hypothesis.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref_testing.arrays import random_array
    from lanceref_testing.tables import Sample, random_sample
    from lanceref_testing.types import arrow_types, random_type

__all__ = [
    "Sample",
    "arrow_types",
    "random_array",
    "random_sample",
    "random_type",
]

_HOMES = {
    "Sample": "tables",
    "arrow_types": "types",
    "random_array": "arrays",
    "random_sample": "tables",
    "random_type": "types",
}
"""Module of each name."""


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
