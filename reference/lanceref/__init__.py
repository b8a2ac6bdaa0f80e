"""The reference implementation of the Lance format: small, readable, complete.

The names load on first use: importing the package, or one piece of it, does not load the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.core import errors, limits
    from lanceref.core.context import Finding
    from lanceref.core.errors import FormatError, LanceError
    from lanceref.core.limits import Limits
    from lanceref.files import File, open_file, write_file
    from lanceref.inspection import explain, validate
    from lanceref.tables import Table, open_table, write_table

__version__ = "0.1.0"

_HOMES = {
    "File": "lanceref.files",
    "Finding": "lanceref.core.context",
    "FormatError": "lanceref.core.errors",
    "LanceError": "lanceref.core.errors",
    "Limits": "lanceref.core.limits",
    "Table": "lanceref.tables",
    "explain": "lanceref.inspection",
    "open_file": "lanceref.files",
    "open_table": "lanceref.tables",
    "validate": "lanceref.inspection",
    "write_file": "lanceref.files",
    "write_table": "lanceref.tables",
}
"""Module of each public name."""

__all__ = [
    "File",
    "Finding",
    "FormatError",
    "LanceError",
    "Limits",
    "Table",
    "errors",
    "explain",
    "limits",
    "open_file",
    "open_table",
    "validate",
    "write_file",
    "write_table",
]


def __getattr__(name: str) -> object:
    if name in ("errors", "limits"):
        return importlib.import_module(f"lanceref.core.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({"__all__", "__doc__", "__file__", "__path__", "__version__", *__all__})
