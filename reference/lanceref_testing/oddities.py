"""Oddities: what an odd file may do that no writer does, each by its name.

A `Chance` draws all that is random in an odd file. It is asked before anything odd is done, and
counts what was; it can allow some oddities alone, which shows what a reader cannot take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from random import Random


def _named(text: str) -> frozenset[str]:
    """Return the names in a text, which semicolons separate."""
    return frozenset(" ".join(text.split()).split("; "))


CONTAINER = _named(
    """
    buffers of pages mixed; gaps between buffers; buffers of the application;
    buffers after the descriptor; fields in any order; numbers longer than they need;
    repeated numbers not packed; zeros spelled out; unknown fields; messages cut in two;
    type urls with a host
    """
)
"""Oddities of the container."""

SLOPPY = _named(
    """
    other bytes as padding; equal buffers stored once; column metadata in any order;
    gaps between column metadata; a gap before the footer; buffers that begin anywhere;
    larger null adjustments; bytes after the last string; other bytes inside chunks
    """
)
"""Oddities that break rules for writers: readers must not mind, and `validate` reports them."""

ARRAYS = _named(
    """
    pages cut anywhere; pages without rows; items of null lists; buffers of the column;
    buffers of a page in any order; compressed values; compressed bitmaps; compressed offsets;
    compressed keys; zstd without a size; no nullable around values; nullable around parts;
    validity where no row is null; nulls without values; bits after the last row;
    bytes below nulls; bitpacked; bitpacked with a sign; bitpacked for non-negative;
    vectors that claim validity; buffers of packed fields; strings of one width;
    strings of one width as values; validity over strings; nulls said in two places;
    bytes of null strings; symbol tables of chance; symbol tables of large strings;
    symbol table switched off; own dictionary of any strings; items twice; null items
    """
)
"""Oddities of the pages of 2.0."""

PAGES = _named(
    """
    pages cut anywhere; pages cut anywhere inside structs of lists; pages without rows;
    pages laid out anyhow; wider layers; dictionaries that do not pay; last chunk says its count;
    large chunks; runs cut anywhere; values packed to any width; levels packed to any width;
    row index wider than it needs; sparse structure; positions in any codec; compressed positions;
    compressed deltas; deltas of deltas; more positions than needed
    """
)
"""Oddities of the pages of 2.1 to 2.3."""

NEEDS = {
    "bitpacked with a sign": "bitpacked",
    "zstd without a size": "compressed values",
    "strings of one width as values": "strings of one width",
    "nulls said in two places": "validity over strings",
    "positions in any codec": "sparse structure",
    **dict.fromkeys(
        ("compressed positions", "compressed deltas", "deltas of deltas"), "positions in any codec"
    ),
    "more positions than needed": "sparse structure",
    **dict.fromkeys(
        (
            "wider layers",
            "dictionaries that do not pay",
            "last chunk says its count",
            "large chunks",
            "runs cut anywhere",
            "values packed to any width",
            "levels packed to any width",
            "row index wider than it needs",
            "other bytes inside chunks",
        ),
        "pages laid out anyhow",
    ),
}
"""Oddities that occur together with another one only."""

ALL = CONTAINER | SLOPPY | ARRAYS | PAGES
"""Every oddity there is."""

WRITERS_ONLY = frozenset(
    {
        "L.file.padding.value",
        "L.file.columns.order",
        "L.file.buffers.overlap",
        "L.file.alignment.buffers",
        "L.file.footer.gbo-start",
        "L.array.binary.null-adjustment-value",
        "L.array.binary.bytes-end",
        "L.array.list.null-adjustment-value",
        "L.page.miniblock.padding",
    }
)
"""Clauses that sloppy oddities break: no reader minds."""


def with_needs(oddity: str) -> frozenset[str]:
    """Return an oddity with all that it needs to occur."""
    return frozenset({oddity}) | (with_needs(NEEDS[oddity]) if oddity in NEEDS else frozenset())


class Chance(Random):
    """Draws what is random; `seen` counts the oddities, of which only `allowed` ones occur."""

    def __init__(self, seed: int, allowed: Collection[str] = ALL) -> None:
        super().__init__(seed)
        self.allowed = frozenset(allowed)
        self.seen: Counter[str] = Counter()

    def odd(self, name: str, share: float = 0.5) -> bool:
        """Decide whether to be odd in this way here; `share` of the times it is allowed."""
        drawn = self.random() < share and name in self.allowed
        if drawn:
            self.seen[name] += 1
        return drawn
