"""Bitmap: a set of numbers such as fragment ids (face).

Has the names of pylance's `Bitmap`; whatever takes another set takes any numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet

from pyroaring import BitMap, BitMap64


class Bitmap(MutableSet[int]):
    """Numbers from 0 on, in ascending order. Raises OverflowError below 0, TypeError."""

    def __init__(self, values: Iterable[int] | BitMap | None = None) -> None:
        self._held = values.copy() if isinstance(values, BitMap) else BitMap64()
        if not isinstance(values, BitMap):
            self.update(() if values is None else values)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and value >= 0 and value in self._held

    def __iter__(self) -> Iterator[int]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"Bitmap({{{', '.join(map(str, self))}}})"

    def add(self, value: int) -> None:
        """Add one number from 0 on. Raises OverflowError below 0."""
        number = int(value.as_py() if hasattr(value, "as_py") else value)
        if number < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self._held.add(number)

    def discard(self, value: int) -> None:
        """Take a number out if it is there."""
        if value in self:
            self._held.discard(value)

    def update(self, values: Iterable[int]) -> None:
        """Add every number that `values` yields to the set."""
        for value in values:
            self.add(value)

    def copy(self) -> Bitmap:
        """Return another one with the same numbers."""
        return Bitmap(self)

    def intersection(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are in both."""
        return Bitmap(value for value in other if value in self)

    def union(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are in either."""
        return Bitmap([*self, *other])

    def difference(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are not in the other."""
        return Bitmap(set(self).difference(other))

    def symmetric_difference(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are in one of both."""
        return Bitmap(set(self).symmetric_difference(Bitmap(other)))

    def issubset(self, other: Iterable[int]) -> bool:
        """Whether the other set has every number of this one."""
        return self <= Bitmap(other)

    def issuperset(self, other: Iterable[int]) -> bool:
        """Whether every number of the other is here."""
        return all(value in self for value in other)
