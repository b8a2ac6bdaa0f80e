"""Minimal: delta debugging.

The algorithm is ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input", IEEE TSE 28 (2), 2002: no single item of the result can be removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimal(items: Sequence[T], holds: Callable[[list[T]], bool]) -> list[T]:
    """Return a subset of `items` that holds, and from which no single item can be removed.

    `holds(items)` must be true; it is never called with an empty list.
    """
    remaining, parts = list(items), 2
    while len(remaining) > 1:
        size = max(1, len(remaining) // parts)
        smaller = next((one for one in _candidates(remaining, size) if holds(one)), None)
        if smaller is not None:
            parts = max(2, parts - 1) if len(smaller) > size else 2
            remaining = smaller
        elif size == 1:
            break
        else:
            parts = min(len(remaining), parts * 2)
    return remaining


def zero_runs(data: bytes, end: int, holds: Callable[[bytes], bool], grain: int = 8) -> bytes:
    """Return `data` with as many bytes as possible before `end` set to 0, in runs of `grain`."""
    pending = [(0, end)]
    while pending:
        start, stop = pending.pop()
        if not any(data[start:stop]):
            continue
        candidate = data[:start] + bytes(stop - start) + data[stop:]
        if holds(candidate):
            data = candidate
        elif stop - start > grain:
            middle = start + max(grain, (stop - start) // 2 // grain * grain)
            pending += [(middle, stop), (start, middle)]
    return data


def _candidates(remaining: list[T], size: int) -> Iterator[list[T]]:
    """Yield every run of `size` items alone, then everything but that run."""
    starts = range(0, len(remaining), size)
    if size < len(remaining):
        yield from (remaining[start : start + size] for start in starts)
    if len(starts) > 2:
        yield from (remaining[:start] + remaining[start + size :] for start in starts)
