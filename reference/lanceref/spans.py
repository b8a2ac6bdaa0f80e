"""Spans: who owns which byte.

While a file is parsed, the cursor can record for every piece it cuts a span `(start, end, name,
clause, value)`. Groups nest (a message, a page, a chunk); leaves own bytes. `explain`, hexmaps and
byte coverage are views of this tree; nothing else parses a file for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Span:
    """A named byte range; absolute offsets, half open. Only a leaf (no children) owns its bytes."""

    start: int
    end: int
    name: str
    kind: str
    clause: str = ""
    value: object = None
    children: list[Span] = field(default_factory=list)

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
    """Collects spans in the order they are parsed, nested by open groups."""

    def __init__(self) -> None:
        self.root = Span(0, 0, "file", "group")
        self._open = [self.root]

    def leaf(
        self, start: int, end: int, name: str, kind: str, clause: str = "", value: object = None
    ) -> None:
        """Record that `name` owns bytes start..end; empty ranges own nothing and are dropped."""
        if end > start:
            self._open[-1].children.append(Span(start, end, name, kind, clause, value))

    @contextmanager
    def group(self, name: str, clause: str = "", value: object = None) -> Iterator[None]:
        """Nest what is recorded inside the block; the group's range is that of its children."""
        span = Span(0, 0, name, "group", clause, value)
        self._open[-1].children.append(span)
        self._open.append(span)
        try:
            yield
        finally:
            self._open.pop()
            span.start = min((c.start for c in span.children), default=0)
            span.end = max((c.end for c in span.children), default=0)

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
