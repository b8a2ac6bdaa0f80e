"""Source: one file or object, opened for positioned reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Source(Protocol):
    """One object opened for positioned reads."""

    @property
    def path(self) -> str:
        """The name used in errors."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`; shorter only at the end of the object."""

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Make as many requests as there are offsets: what `read` returns for each."""

    def close(self) -> None:
        """Release what the source holds."""
