"""Compute: the functions of `pyarrow.compute`, imported when the first of them is asked for.

That import takes a tenth of the time that importing the package may take, and a program that only
reads and writes needs none of it. Modules say `from lanceref import compute as pc`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return what `pyarrow.compute` has under a name."""
    return getattr(import_module("pyarrow.compute"), name)
