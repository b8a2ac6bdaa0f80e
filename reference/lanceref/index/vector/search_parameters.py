"""Asked: what a search wants of an index of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.index.vector.storage import Mode


@dataclass(frozen=True, slots=True)
class Asked:
    """The `k` nearest rows; `least` and `most` partitions to be looked at, None: no limit.

    `effort` in 0..1 says how many partitions are looked at first, None: as always. `ef` says how
    many rows a walk over a graph keeps, None: half as many again as wanted. With `several` rows may
    have more than one vector.
    """

    k: int
    least: int | None = None
    most: int | None = None
    effort: float | None = None
    ef: int | None = None
    mode: Mode = "normal"
    range: tuple[float | None, float | None] = (None, None)
    in_the_end: int | None = None
    several: bool = False

    @property
    def wanted(self) -> int:
        """How many rows are returned in the end, of those that are looked at again."""
        return self.k if self.in_the_end is None else self.in_the_end
