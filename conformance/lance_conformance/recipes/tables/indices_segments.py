"""Cases of indices as the manifest lists them: segments, types nobody knows, rows that moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from google.protobuf.message import Message

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.model import MessageEdit, Positive
from lance_conformance.recipes.tables.indices import BITMAP, BTREE, ZONEMAP, search

LAST = "_versions/18446744073709551611.manifest"
"""The fourth version, which a table with an index has in the end."""


def _and(table: Indexed, afterwards: Callable[[Any], object]) -> Indexed:
    return replace(table, afterwards=afterwards)


def _second_segment(dataset: Any) -> None:
    dataset.optimize.optimize_indices(num_indices_to_merge=0)


def _merged(dataset: Any) -> None:
    dataset.optimize.optimize_indices()


def _moved(dataset: Any) -> None:
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
           _and(BTREE, _second_segment), ("L.index.segment.disjoint",)),
    search("merged", "two segments that became one", "c >= 5", [3, 8, 11], _and(BTREE, _merged)),
    search("rewritten", "an index that a compaction wrote anew", "c = 3", [10, 0, 4],
           _and(BTREE, _rewritten)),
    search("moved", "addresses that moved since the index was written", "c = 3", [10, 0, 4],
           _and(BTREE, _moved), ("L.index.reuse.applied",)),
    search("own-moved", "addresses that the reference moved", "c = 1", [2, 9],
           _and(BTREE, _moved), ("L.index.reuse.applied",), by="reference"),
    search("moved", "zones whose rows moved", "c = 1", [2, 9], _and(ZONEMAP, _moved),
           ("L.index.reuse.applied",)),
    search("changed", "a row that got another value lies in a fragment without index",
           "c = 3", [0, 4, 10, 5], _and(BTREE, _changed)),
    search("changed-ids", "a row id that got another value", "c = 2", [],
           _and(_STABLE, _changed)),
    search("gone", "a fragment of the index that is gone", "c <= 3", [5, 9, 10],
           _and(BTREE, _gone)),
    search("own-segments", "two segments of the reference", "c = 3", [0, 4, 10],
           _and(BITMAP, _second_segment), ("L.index.segment.disjoint",), by="reference"),
)  # fmt: skip


def _entry(edit: Callable[[Any], None]) -> MessageEdit:
    def apply(section: Message) -> None:
        edit(section.indices[0])  # type: ignore[attr-defined]

    return MessageEdit("index section", apply, LAST)


def _upper(entry: Any) -> None:
    entry.index_details.type_url = entry.index_details.type_url.upper()


def _unknown(entry: Any) -> None:
    entry.index_details.type_url = "/lance.table.TomorrowIndexDetails"


def _too_new(entry: Any) -> None:
    entry.index_version = 9


def _edited(
    slug: str, title: str, rows: Sequence[int], clause: str, change: MessageEdit, *, used: bool
) -> Positive:
    case = search(slug, title, "c = 3", rows, BTREE, (clause,), used=used)
    return replace(case, make=reworked(case.make, change), reachable=False)


_EDITED = (
    _edited("upper-case", "the name of the type in capitals", [0, 4, 10],
            "L.index.details.url", _entry(_upper), used=True),
    _edited("unknown-type", "a type that nobody knows: the rows are scanned", [0, 4, 10],
            "L.index.details.unknown", _entry(_unknown), used=False),
    _edited("too-new", "a version that nobody knows: the rows are scanned", [0, 4, 10],
            "L.index.details.version", _entry(_too_new), used=False),
)  # fmt: skip

POSITIVES = (*_WRITTEN, *_EDITED)
