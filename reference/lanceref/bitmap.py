"""Bitmap: a set of numbers such as fragment ids (face).

Has the names of pylance's `Bitmap`; whatever takes another set takes any numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet


class Bitmap(MutableSet[int]):
    """A set of numbers from 0 on, in ascending order.

    Raises OverflowError for a negative number, TypeError for something else than a number.
    """

    def __init__(self, values: Iterable[int] | None = None) -> None:
        self._held: set[int] = set()
        self.update(() if values is None else values)

    def __contains__(self, value: object) -> bool:
        return value in self._held

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._held))

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"Bitmap({{{', '.join(map(str, self))}}})"

    def add(self, value: int) -> None:
        """Add a number."""
        number = int(value.as_py() if hasattr(value, "as_py") else value)
        if number < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self._held.add(number)

    def discard(self, value: int) -> None:
        """Take a number out if it is there."""
        self._held.discard(value)

    def update(self, values: Iterable[int]) -> None:
        """Add numbers."""
        for value in values:
            self.add(value)

    def copy(self) -> Bitmap:
        """Return another one with the same numbers."""
        return Bitmap(self)

    def intersection(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are in both."""
        return Bitmap(self._held.intersection(other))

    def union(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are in either."""
        return Bitmap(self._held.union(other))

    def difference(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are not in the other."""
        return Bitmap(self._held.difference(other))

    def symmetric_difference(self, other: Iterable[int]) -> Bitmap:
        """Return the numbers that are in one of both."""
        return Bitmap(self._held.symmetric_difference(other))

    def issubset(self, other: Iterable[int]) -> bool:
        """Whether the other has every number."""
        return self._held.issubset(other)

    def issuperset(self, other: Iterable[int]) -> bool:
        """Whether every number of the other is here."""
        return self._held.issuperset(other)
