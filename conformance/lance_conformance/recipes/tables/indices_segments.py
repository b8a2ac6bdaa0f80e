"""Cases of indices as the manifest lists them: segments, types nobody knows, rows that moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.proto.table_pb2 import IndexMetadata, IndexSection

from lance_conformance.recipes.change import apply
from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.messages import index, indices
from lance_conformance.recipes.model import Made, MessageEdit, Positive
from lance_conformance.recipes.reflow import edit_message
from lance_conformance.recipes.tables.indices import BITMAP, BTREE, ZONEMAP, search

LAST = "_versions/18446744073709551611.manifest"
"""The fourth version, which a table with an index has in the end."""


def and_then(table: Indexed, afterwards: Callable[[Any], object]) -> Indexed:
    """Return a table to which something is done in the end."""
    return replace(table, afterwards=afterwards)


def _second_segment(dataset: Any) -> None:
    dataset.optimize.optimize_indices(num_indices_to_merge=0)


def _merged(dataset: Any) -> None:
    dataset.optimize.optimize_indices()


def compacted(dataset: Any) -> None:
    """Write rows anew and leave the indices as they are."""
    dataset.optimize.compact_files(defer_index_remap=True)


def _rewritten(dataset: Any) -> None:
    dataset.optimize.compact_files()


def _changed(dataset: Any) -> None:
    dataset.update({"c": "3"}, where="id = 5")


def _gone(dataset: Any) -> None:
    dataset.delete("id < 5")


_STABLE = replace(BITMAP, version="2.2", stable_row_ids=True)

_WRITTEN = (
    search("segments", "two segments of one name", "c = 3", [0, 4, 10],
           and_then(BTREE, _second_segment), ("L.index.segment.disjoint",)),
    search("merged", "two segments that became one", "c >= 5", [3, 8, 11],
           and_then(BTREE, _merged)),
    search("rewritten", "an index that a compaction wrote anew", "c = 3", [10, 0, 4],
           and_then(BTREE, _rewritten)),
    search("moved", "addresses that moved since the index was written", "c = 3", [10, 0, 4],
           and_then(BTREE, compacted), ("L.index.reuse.applied",)),
    search("own-moved", "addresses that the reference moved", "c = 1", [2, 9],
           and_then(BTREE, compacted), ("L.index.reuse.applied",), by="reference"),
    search("moved", "zones whose rows moved", "c = 1", [2, 9], and_then(ZONEMAP, compacted),
           ("L.index.reuse.applied",)),
    search("changed", "a row that got another value lies in a fragment without index",
           "c = 3", [0, 4, 10, 5], and_then(BTREE, _changed)),
    search("changed-ids", "a row id that got another value", "c = 2", [],
           and_then(_STABLE, _changed)),
    search("gone", "a fragment of the index that is gone", "c <= 3", [5, 9, 10],
           and_then(BTREE, _gone)),
    search("own-segments", "two segments of the reference", "c = 3", [0, 4, 10],
           and_then(BITMAP, _second_segment), ("L.index.segment.disjoint",), by="reference"),
)  # fmt: skip


def _upper(entry: IndexMetadata) -> None:
    entry.index_details.type_url = entry.index_details.type_url.upper()


def _unknown(entry: IndexMetadata) -> None:
    entry.index_details.type_url = "/lance.table.TomorrowIndexDetails"


def _too_new(entry: IndexMetadata) -> None:
    entry.index_version = 9


def _edited(
    slug: str, title: str, rows: Sequence[int], clause: str, change: MessageEdit, *, used: bool
) -> Positive:
    case = search(slug, title, "c = 3", rows, BTREE, (clause,), used=used)
    return replace(case, make=reworked(case.make, change), reachable=False)


_EDITED = (
    _edited("upper-case", "the name of the type in capitals", [0, 4, 10],
            "L.index.details.url", index(_upper, LAST), used=True),
    _edited("unknown-type", "a type that nobody knows: the rows are scanned", [0, 4, 10],
            "L.index.details.unknown", index(_unknown, LAST), used=False),
    _edited("too-new", "a version that nobody knows: the rows are scanned", [0, 4, 10],
            "L.index.details.version", index(_too_new, LAST), used=False),
)  # fmt: skip

MOVED = "_versions/18446744073709551609.manifest"
"""The seventh version, of a table whose rows were moved."""

Details = FragmentReuseIndexDetails


def moved_rows(section: IndexSection) -> IndexMetadata:
    """Return the entry that says where rows went."""
    (own,) = (entry for entry in section.indices if entry.name == "__lance_frag_reuse")
    return own


def reuse(edit: Callable[[Details], None]) -> MessageEdit:
    """Change what is said of rows that moved."""

    def apply(section: IndexSection) -> None:
        own = moved_rows(section)
        details = Details.FromString(own.index_details.value)
        edit(details)
        own.index_details.value = details.SerializeToString(deterministic=True)

    return indices(apply, MOVED)


_BESIDE = "details.binpb"


def beside(make: Callable[[], Made], before: bytes = b"") -> Callable[[], Made]:
    """Return a maker that puts what is said of rows that moved into a file, after some bytes."""

    def made() -> Made:
        base = make()
        held, folder = [], []

        def move(section: IndexSection) -> None:
            folder.append(str(UUID(bytes=moved_rows(section).uuid.uuid)))

        def edit(details: Details) -> None:
            held.append(details.inline.SerializeToString(deterministic=True))
            details.external.path = _BESIDE
            details.external.offset = len(before)
            details.external.size = len(held[0])

        edit_message(MOVED, base.files[MOVED], "index section", indices(move).edit)
        files, _ = apply(reuse(edit), base.files)
        files[f"_indices/{folder[0]}/{_BESIDE}"] = before + held[0]
        return Made(files, base.table, made_by="hand")

    return made


def _moved_beside() -> Positive:
    case = search("moved-beside", "addresses that moved, told in a file beside", "c = 3",
                  [10, 0, 4], and_then(BTREE, compacted), ("L.index.reuse.applied",))  # fmt: skip
    return replace(case, make=beside(case.make), reachable=False)


POSITIVES = (*_WRITTEN, *_EDITED, _moved_beside())
