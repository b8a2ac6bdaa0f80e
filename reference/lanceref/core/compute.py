"""Libraries that are imported when the first of their functions or classes is asked for.

The import of `pyarrow.compute` takes a tenth of the time that importing the package may take, and
tables without deletions and indices are read and written without `pyroaring`. Modules use
`from lanceref.core.compute import pc` (or `bitmaps`) and then `pc.equal`, `bitmaps.BitMap`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["bitmaps", "pc"]


class OnFirstUse:
    """What a library has, which is imported at the first use of any of it."""

    def __init__(self, library: str) -> None:
        self._library = library

    def __getattr__(self, name: str) -> object:
        """Return what the library has under a name."""
        found: object = getattr(import_module(self._library), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import pyarrow.compute as pc
    import pyroaring as bitmaps
else:
    pc, bitmaps = OnFirstUse("pyarrow.compute"), OnFirstUse("pyroaring")
