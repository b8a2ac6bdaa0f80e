"""Variations: the ways in which a legal file can differ from those that writers make, by name.

A `VariationSampler` draws everything that is random in a noncanonical file. It decides about each
variation and counts those that occur; `allowed` restricts it to some variations, so that a failure
of a reader can be attributed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from random import Random


def _split_names(text: str) -> frozenset[str]:
    """Return the names in a text, separated by semicolons."""
    return frozenset(" ".join(text.split()).split("; "))


CONTAINER = _split_names(
    """
    shuffled buffers of pages; gaps between buffers; buffers of the application;
    buffers after the descriptor; fields in any order; longer varints;
    repeated numbers not packed; explicit default values; unknown fields; split messages;
    type urls with a host
    """
)
"""Variations of the container."""

WRITER_VIOLATIONS = _split_names(
    """
    other bytes as padding; equal buffers stored once; column metadata in any order;
    gaps between column metadata; a gap before the footer; unaligned buffers;
    larger null adjustments; bytes after the last string; other bytes inside chunks
    """
)
"""Variations that break rules for writers: readers must accept them, `validate` reports them."""

ARRAYS = _split_names(
    """
    pages cut anywhere; pages without rows; items of null lists; buffers of the column;
    buffers of a page in any order; compressed values; compressed bitmaps; compressed offsets;
    compressed keys; zstd without a size; no nullable around values; nullable around parts;
    validity where no row is null; nulls without values; bits after the last row;
    bytes in null slots; bitpacked; bitpacked with a sign; bitpacked for non-negative;
    vectors that claim validity; buffers of packed fields; strings of one width;
    strings of one width as values; validity over strings; nulls at two levels;
    bytes of null strings; random symbol tables; symbol tables of large strings;
    disabled symbol table; dictionary of any strings; repeated items; null items
    """
)
"""Variations of the pages of 2.0."""

PAGES = _split_names(
    """
    pages cut anywhere; pages cut anywhere inside structs of lists; pages without rows;
    pages of any layout; wider layers; dictionaries of any values; explicit count of the last chunk;
    large chunks; runs cut anywhere; values packed to any width; levels packed to any width;
    wider row index; sparse structure; positions in any codec; compressed positions;
    compressed deltas; deltas of deltas; more positions than needed
    """
)
"""Variations of the pages of 2.1 to 2.3."""

PREREQUISITES = {
    "bitpacked with a sign": "bitpacked",
    "zstd without a size": "compressed values",
    "strings of one width as values": "strings of one width",
    "nulls at two levels": "validity over strings",
    "positions in any codec": "sparse structure",
    **dict.fromkeys(
        ("compressed positions", "compressed deltas", "deltas of deltas"), "positions in any codec"
    ),
    "more positions than needed": "sparse structure",
    **dict.fromkeys(
        (
            "wider layers",
            "dictionaries of any values",
            "explicit count of the last chunk",
            "large chunks",
            "runs cut anywhere",
            "values packed to any width",
            "levels packed to any width",
            "wider row index",
            "other bytes inside chunks",
        ),
        "pages of any layout",
    ),
}
"""Variations that occur only where another one does."""

ALL = CONTAINER | WRITER_VIOLATIONS | ARRAYS | PAGES
"""Every variation."""

WRITER_CLAUSES = frozenset(
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
"""Clauses that the variations in `WRITER_VIOLATIONS` break; readers accept that."""


def with_prerequisites(variation: str) -> frozenset[str]:
    """Return a variation and those that it needs to occur."""
    needed = PREREQUISITES.get(variation)
    return frozenset({variation}) | (frozenset() if needed is None else with_prerequisites(needed))


class VariationSampler(Random):
    """Draws random numbers and variations; only `allowed` variations occur, `seen` counts them."""

    def __init__(self, seed: int, allowed: Collection[str] = ALL) -> None:
        super().__init__(seed)
        self.allowed = frozenset(allowed)
        self.seen: Counter[str] = Counter()

    def varies(self, name: str, share: float = 0.5) -> bool:
        """Draw whether a variation occurs here: in `share` of the calls, where it is allowed."""
        drawn = self.random() < share and name in self.allowed
        if drawn:
            self.seen[name] += 1
        return drawn
