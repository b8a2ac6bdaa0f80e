"""Spans: named byte ranges of a file, which one parse records.

They are the pieces that the cursor cuts, `(start, end, name, clause, value)`. Groups nest (a
message, a page, a chunk); leaves own bytes. `explain`, hexmaps and byte coverage are views of this
tree; nothing else parses a file for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lanceref.core.errors import LimitExceeded, Place

SPAN_BYTES = 480
"""Memory of a span, with its name and value, and of the message that it is read from."""


@dataclass(slots=True)
class Span:
    """A named byte range; absolute offsets, half open. Only a leaf (no children) owns its bytes."""

    start: int
    end: int
    name: str
    kind: str
    clause: str = ""
    value: object = None
    children: Sequence[Span] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether the span owns its bytes: groups and data descriptions do not."""
        return self.kind != "group"

    def leaves(self) -> Iterator[Span]:
        """Yield the owning spans below (or at) this one, in recorded order."""
        if self.is_leaf:
            yield self
        for child in self.children:
            yield from child.leaves()


class SpanRecorder:
    """Collects spans in order, nested by open groups. Raises LimitExceeded beyond `most_bytes`."""

    def __init__(self, most_bytes: int | None = None) -> None:
        top: list[Span] = []
        self.root = Span(0, 0, "file", "group", children=top)
        self._open = [top]
        self._left = -1 if most_bytes is None else most_bytes // SPAN_BYTES
        self._most_bytes = most_bytes

    def leaf(
        self, start: int, end: int, name: str, kind: str, clause: str = "", value: object = None
    ) -> None:
        """Record that `name` owns bytes start..end; empty ranges own nothing and are dropped."""
        if end > start:
            self._count(start)
            self._open[-1].append(Span(start, end, name, kind, clause, value))

    def _count(self, start: int) -> None:
        """Count one more span. Raises LimitExceeded."""
        if self._left == 0:
            place, found = Place("the file", start), "more spans than the limits allow memory for"
            wanted = f"{self._most_bytes} bytes; limits=Limits(expansion_bytes=...) allows more"
            raise LimitExceeded("L.wire.message", place, found, wanted)
        self._left -= 1

    @contextmanager
    def group(self, name: str, clause: str = "", value: object = None) -> Iterator[None]:
        """Nest what is recorded inside the block; the group's range is that of its children."""
        self._count(0)
        inside: list[Span] = []
        span = Span(0, 0, name, "group", clause, value, inside)
        self._open[-1].append(span)
        self._open.append(inside)
        try:
            yield
        finally:
            self._open.pop()
            span.start = min((c.start for c in inside), default=0)
            span.end = max((c.end for c in inside), default=0)

    def gaps(self, size_bytes: int) -> list[tuple[int, int]]:
        """Return the ranges of a file of `size_bytes` that no leaf owns yet."""
        return uncovered(Span(0, size_bytes, "file", "group", children=self.root.children))

    def finish(self, size_bytes: int) -> Span:
        """Close the tree of a file of `size_bytes` and return its root."""
        self.root.end = size_bytes
        return self.root


def uncovered(root: Span) -> list[tuple[int, int]]:
    """Return the ranges of the file that no leaf owns, ascending."""
    gaps, at = [], root.start
    for leaf in sorted(root.leaves(), key=lambda s: s.start):
        if leaf.start > at:
            gaps.append((at, leaf.start))
        at = max(at, leaf.end)
    if at < root.end:
        gaps.append((at, root.end))
    return gaps
