"""Minimal: delta debugging.

The algorithm is ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input", IEEE TSE 28 (2), 2002: what is left over can lose no single item any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimal(items: Sequence[T], holds: Callable[[list[T]], bool]) -> list[T]:
    """Return a part of `items` that holds and from which no single item can be taken.

    `holds(items)` must be true. What is tried is never empty.
    """
    kept, parts = list(items), 2
    while len(kept) > 1:
        size = max(1, len(kept) // parts)
        smaller = next((one for one in _candidates(kept, size) if holds(one)), None)
        if smaller is not None:
            parts = max(2, parts - 1) if len(smaller) > size else 2
            kept = smaller
        elif size == 1:
            break
        else:
            parts = min(len(kept), parts * 2)
    return kept


def zeroed(data: bytes, end: int, holds: Callable[[bytes], bool], grain: int = 8) -> bytes:
    """Return `data` with as many bytes before `end` as possible set to 0, in runs of `grain`."""
    pending = [(0, end)]
    while pending:
        start, stop = pending.pop()
        if not any(data[start:stop]):
            continue
        tried = data[:start] + bytes(stop - start) + data[stop:]
        if holds(tried):
            data = tried
        elif stop - start > grain:
            middle = start + max(grain, (stop - start) // 2 // grain * grain)
            pending += [(middle, stop), (start, middle)]
    return data


def _candidates(kept: list[T], size: int) -> Iterator[list[T]]:
    """Yield every run of `size` items alone, then everything but that run."""
    starts = range(0, len(kept), size)
    if size < len(kept):
        yield from (kept[start : start + size] for start in starts)
    if len(starts) > 2:
        yield from (kept[:start] + kept[start + size :] for start in starts)
