"""Bitmaps: the classes of `pyroaring`, imported when the first one is made.

Tables without deletions and indices are read and written without the library. Use them as
`bitmaps.BitMap`: a name imported from here would import it at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64

__all__ = ["BitMap", "BitMap64"]


def __getattr__(name: str) -> object:
    """Return a class of the library."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import pyroaring

    found: object = globals().setdefault(name, getattr(pyroaring, name))
    return found
