"""Access to `lanceref_testing`, which only a checkout of the repository contains.

Its random tables are used for a corpus, and its noncanonical files by a few recipes.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from lanceref.core.errors import ExtraMissing

TESTING = "lanceref_testing"
"""The package that is not in the wheel."""


def testing_module(name: str) -> ModuleType:
    """Return a module of `lanceref_testing`. Raises ExtraMissing where it cannot be imported."""
    try:
        return importlib.import_module(f"{TESTING}.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != TESTING:
            needed = f"needs {error.name}: pip install 'lance-conformance[corpus]'"
            raise ExtraMissing(needed) from error
        message = f"runs from a checkout of the repository: {TESTING} is not in the wheel"
        raise ExtraMissing(message) from error
