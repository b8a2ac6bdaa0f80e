"""Compute: the functions of `pyarrow.compute`, imported when the first of them is asked for.

That import takes a tenth of the time that importing the package may take, and a program that only
reads and writes needs none of it. Modules use `from lanceref.core.compute import pc`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["pc"]


class OnFirstUse:
    """The functions of `pyarrow.compute`, which is imported at the first use of one."""

    def __getattr__(self, name: str) -> object:
        """Return what `pyarrow.compute` has under a name."""
        return getattr(import_module("pyarrow.compute"), name)


if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = OnFirstUse()
