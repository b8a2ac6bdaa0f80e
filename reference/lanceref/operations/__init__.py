"""Edits: rows of a table deleted, changed, merged or moved.

Each module is loaded when it is first asked for: who reads a table edits nothing.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.operations import (
        cast,
        column_update,
        columns,
        delete,
        external_files,
        index_build,
        index_staging,
        moved_ids,
        new_rows,
        schema_evolution,
        sources,
        update,
    )

__all__ = [
    "cast",
    "column_update",
    "columns",
    "delete",
    "external_files",
    "index_build",
    "index_staging",
    "moved_ids",
    "new_rows",
    "schema_evolution",
    "sources",
    "update",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
