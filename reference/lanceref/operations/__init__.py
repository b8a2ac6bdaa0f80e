"""Operations: rows and columns of a table deleted, updated, merged, rewritten or indexed.

Each module is loaded when it is first used, so that reading a table loads none.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.operations import alter_table, branches, index_build, new_data, update

__all__ = ["alter_table", "branches", "index_build", "new_data", "update"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
