"""The reference implementation of the Lance format: small, readable, complete.

The names are those of pylance, so that a program written against the format-related part of
`import lance` runs with `import lanceref as lance`; `explain` and `validate` are our own. Each of
the modules `dataset`, `explain` and `validate` shares its name with a function: the module is
imported first, then the function is bound, so that both spellings work.
"""

from __future__ import annotations

from lanceref.dataset import LanceDataset, dataset
from lanceref.errors import LanceError
from lanceref.explain import explain
from lanceref.fragment import DataFile, LanceFragment
from lanceref.scanner import LanceScanner
from lanceref.validate import validate

__version__ = "0.1.0"

__all__ = [
    "DataFile",
    "LanceDataset",
    "LanceError",
    "LanceFragment",
    "LanceScanner",
    "dataset",
    "explain",
    "validate",
]
