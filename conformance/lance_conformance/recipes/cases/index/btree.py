"""Cases of B-tree indices, and of rows that moved under them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.proto.table_pb2 import IndexMetadata, IndexSection

from lance_conformance.recipes import edits, indexed, model
from lance_conformance.recipes.apply_change import apply, edit_message
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import DATA_PLACE, unsized, values
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import FOURTH, SIXTH, index, indices, update
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.indexed import Indexed, compact, filtered, then
from lance_conformance.recipes.model import Files, MessageEdit, Recipe

BTREE = Indexed(indexed.INTS, "BTREE", {"zone_size": 4})
_WORDS = replace(BTREE, values=indexed.WORD_KEYS)


def moved_rows(section: IndexSection) -> IndexMetadata:
    """Return the entry that says where rows went."""
    (own,) = (entry for entry in section.indices if entry.name == "__lance_frag_reuse")
    return own


def _over_values(section: IndexSection) -> IndexMetadata:
    """Return the entry of the index over the column."""
    (own,) = (entry for entry in section.indices if entry.name == indexed.NAME)
    return own


_OLDER = FragmentReuseIndexDetails.InlineContent(
    versions=[FragmentReuseIndexDetails.Version(dataset_version=1)]
).SerializeToString()
"""What the file said once, and its entry passes over."""


def _twice_appended(dataset: Any) -> None:
    """Append rows that the index does not cover, and write all anew."""
    rows = pa.table(
        {"id": pa.array([12, 13], pa.int64()), indexed.COLUMN: pa.array([3, 4], pa.int32())}
    )
    compact(dataset.insert(rows) or dataset)


def _without_last(dataset: Any) -> None:
    """Delete what the index does not cover, and its last row; then write all anew."""
    dataset.delete("id >= 9")
    compact(dataset)


_BELOW = float(np.nextafter(-1.0, -2.0))


def _last_elsewhere(old: bytes) -> bytes:
    """Put a row that is not there in place of the last one."""
    ids = np.frombuffer(old, "<u8").copy()
    ids[ids.argmax()] = indexed.ROWS_PER_FILE
    return ids.tobytes()


def _ordered(details: FragmentReuseIndexDetails) -> None:
    """Say what moved in the words of index version 1."""
    first = details.inline.versions[0].groups[0]
    transition = {
        "sources": [*first.old_fragments],
        "destinations": [*first.new_fragments],
        "ordered_compaction.changed_row_addrs": first.changed_row_addrs,
    }
    update(details, {f"inline.transitions.0.{path}": value for path, value in transition.items()})
    update(details, {"inline.versions": []})


def reuse(edit: edits.Edit, **others: object) -> MessageEdit:
    """Edit the details of the reuse index, or other fields of its entry."""
    paths = {"index_details.value": edits.inside(FragmentReuseIndexDetails, edit), **others}
    return indices(lambda section: update(moved_rows(section), paths), SIXTH)


def external_details(before: bytes = b"") -> Callable[[Files], Files]:
    """Return the change that moves the details of the reuse index into a file, after some bytes."""

    def move(files: Files) -> Files:
        buffers, folder = ([], [])

        def find(section: Any) -> None:
            folder.append(str(UUID(bytes=moved_rows(section).uuid.uuid)))

        def edit(details: FragmentReuseIndexDetails) -> None:
            buffers.append(details.inline.SerializeToString(deterministic=True))
            details.external.path = "details.binpb"
            details.external.offset = len(before)
            details.external.size = len(buffers[0])

        edit_message(SIXTH, files[SIXTH], "index section", find)
        moved, _ = apply(reuse(edit), files)
        return {**moved, f"_indices/{folder[0]}/details.binpb": before + buffers[0]}

    return move


CASES: tuple[Recipe, ...] = (
    case("index/any/btree/folder", "files in the folder of their segment",
        ("L.index.segment.folder", "L.index.btree.columns"),
        unsized(filtered(replace(BTREE, version="2.0"), "c >= 2 AND c < 9", [0, 3, 4, 5, 10, 11],
                clauses=()))),
    *(case(f"index/any/btree/{slug}", f"words of a dictionary: {title}", "L.index.btree.order",
            filtered(_WORDS, sql, rows, by=by)) for slug, title, sql, rows, by in (
            ("dictionary", "a reader that compares keys finds others of a range",
                "c >= 'fig' AND c < 'pear'", [0, 4, 5, 10], "oracle"),
            ("dictionary-nulls", "rows that are null", "c IS NULL", [1, 6], "oracle"),
            ("own-dictionary", "a range in an index of the reference",
                "c >= 'fig' AND c < 'pear'", [0, 4, 5, 10], "reference"))),
    case("index/any/btree/same-value",
        "a value on five pages: a reader that looks on the first or the last of them misses rows",
        ("L.index.btree.pages", "L.index.btree.order"),
        filtered(Indexed(pa.array([5, 5, 9, 5, 5, 1, 5, 5, 5, 5, 2, 5], pa.int32()), "BTREE",
                {"zone_size": 2}), "c = 5", [0, 1, 3, 4, 6, 8, 9, 11])),
    case("index/any/btree/0-33-0-row-ids", "keys in a column of another name",
        ("L.index.files.column", "L.index.segment.keys"),
        indexed.early_index("0.33.0", "BTREE", "c >= 3 AND c < 9", [0, 3, 7, 10, 11])),
    case("index/any/btree/equals", "a value that occurs twice, and once in a row that was appended",
        filtered(BTREE, "c = 3", [0, 4, 10])),
    case("index/any/btree/negative", "negative numbers next to each other", filtered(Indexed(
                pa.array([-1.0, _BELOW, None, 2.0, -1.0, _BELOW, 3.0, 0.5, 9.0, 9.0, _BELOW, -1.0]),
                "BTREE"), "c < -1.0", [1, 5, 10])),
    case("index/any/btree/range", "a range over two pages, one of its rows deleted",
        filtered(BTREE, "c >= 3 AND c < 9", [0, 3, 4, 10, 11])),
    case("index/any/btree/nulls", "rows that are null", filtered(BTREE, "c IS NULL", [1, 6])),
    case("index/any/btree/null-alone", "a page with one row that is null", filtered(
            Indexed(pa.array([3, 1, 4, None, 5, 9, 2, 6, 5, 3, 5, 8]), "BTREE", {"zone_size": 4}),
            "c IS NULL", [3])),
    case("index/any/btree/among", "some values of which one is nowhere",
        filtered(BTREE, "c IN (1, 4, 9)", [2, 8, 9])),
    case("index/any/btree/not", "a range that is denied: rows that are null are not found",
        filtered(BTREE, "NOT (c < 5)", [3, 8, 11])),
    case("index/any/btree/both", "a condition on another column goes with it",
        filtered(BTREE, "c = 3 AND id > 2", [4, 10])),
    case("index/any/btree/none", "a value that is nowhere", filtered(BTREE, "c = 4", [])),
    case("index/any/btree/zeros", "zero is looked for with either sign",
        filtered(Indexed(indexed.FLOATS, "BTREE"), "c = 0", [0, 1, 10])),
    case("index/any/btree/above", "NaN is above everything",
        filtered(Indexed(indexed.FLOATS, "BTREE"), "c > 1.5", [2, 8, 11])),
    case("index/any/btree/prefix", "texts that begin with another", filtered(
            Indexed(indexed.TEXTS_INDICES, "BTREE", version="2.2"), "c LIKE 'ap%'", [0, 1, 4, 10])),
    case("index/any/btree/row-ids", "addresses where rows have stable ids",
        filtered(replace(BTREE, version="2.2", stable_row_ids=True), "c = 5", [3])),
    case("index/any/btree/row-ids-second",
        "addresses of a second fragment, where rows have stable ids",
        filtered(replace(BTREE, version="2.2", stable_row_ids=True), "c = 1", [2, 9])),
    case("index/any/btree/early", "index files of 2.0",
        filtered(replace(BTREE, version="2.0"), "c = 1", [2, 9])),
    fault("gone", "a file of the index is missing", "L.index.segment.files",
        model.Remove(f"_indices/*/{DATA_PLACE}")),
    fault("longer", "a file of the index is longer than the entry says", "L.index.files.size",
        model.Resize(None, b"\x00APPEND", f"_indices/*/{DATA_PLACE}")),
    lint("future", "an index of a version that is still to come", "L.index.segment.dataset-version",
        index({"dataset_version": 99}, FOURTH)),
    case("index/any/btree/of-0.1", "index files of 2.0 beside data files of 0.1",
        "L.index.files.version", filtered(replace(BTREE, version="legacy"), "c = 2", [5])),
    case("index/any/btree/next", "index files of 2.3",
        filtered(replace(BTREE, version="2.3"), "c = 1", [2, 9])),
    case("index/any/btree/own-range", "a range in an index of the reference",
        filtered(BTREE, "c BETWEEN 2 AND 5", [0, 3, 4, 5, 10], by="reference")),
    case("index/any/btree/own-row-ids", "addresses in an index of the reference",
        filtered(replace(BTREE, version="2.2", stable_row_ids=True), "c IN (5, 8)", [3, 11],
            by="reference")),
    case("index/any/btree/content", "what it holds", indexed.dump(BTREE, indexed.SORTED)),
    case("index/any/btree/own-content", "what one of the reference holds",
        indexed.dump(BTREE, indexed.SORTED, by="reference")),
    case("index/any/btree/ordered", "rows that moved in order, told in words of a later version",
        "L.index.details.version",
        edited(filtered(then(BTREE, compact), "c = 3", [10, 0, 4]),
            reuse(_ordered, index_version=1))),
    case("index/any/btree/moved-beside-offset",
        "addresses that moved, told after other bytes of a file", "L.index.reuse.external",
        edited(filtered(then(BTREE, compact), "c = 3", [10, 0, 4]), external_details(_OLDER))),
    case("index/any/btree/moved-beside-index", "rows moved with the index, and others beside it",
        "L.index.reuse.applied",
        filtered(then(BTREE, _twice_appended), "c = 3", [0, 4, 10, 12])),
    case("index/any/btree/moved-without-last", "rows moved, but for the last of the index",
        "L.index.reuse.applied", filtered(then(BTREE, _without_last), "c > 2", [0, 3, 4, 8])),
    case("index/any/btree/page-rows", "pages whose rows nobody counts have 4096",
        "L.index.btree.batch-size", edited(
            unsized(filtered(replace(BTREE, version="2.0", parameters={}), "c = 3", [0, 4, 10])),
            edits.descriptor({"schema.metadata.batch_size": None},
                "_indices/*/page_lookup.lance"))),
    case("index/any/btree/plain", "files of 2.0, whose sizes nobody says",
        unsized(filtered(replace(BTREE, version="2.0"), "c >= 2 AND c < 9", [0, 3, 4, 5, 10, 11]))),
    fault("page-behind", "a page one after the last", "L.index.btree.pages",
        values("page_lookup.lance", "page_idx", b"\x03", 8)),
    fault("column", "a column has another name", "L.index.files.column",
        index_files.renamed(DATA_PLACE, "ids")),
    lint("order", "values that fall", "L.index.btree.order",
        values(DATA_PLACE, "values", b"\x04", 8)),
    fault("pages", "a page after the last", "L.index.btree.pages",
        values("page_lookup.lance", "page_idx", b"c", 4)),
    lint("bounds", "a greatest value that is not that of its page", "L.index.btree.bounds",
        values("page_lookup.lance", "max", b"c", 8)),
    lint("ids", "a row that occurs twice", "L.index.btree.ids",
        values(DATA_PLACE, "ids", b"\x04", 40)),
    fault("folder", "a file of a segment in another folder", "L.index.segment.files",
        model.Rename("_indices/*/page_data.lance", "_indices/other/page_data.lance"),
        also="L.index.segment.folder"),
    fault("columns", "keys under another name", "L.index.files.column",
        index_files.renamed("page_lookup.lance", "min"), also="L.index.btree.columns"),
    lint("page-past", "a page that begins after all rows", "L.index.btree.pages",
        values("page_lookup.lance", "page_idx", b"\x05", 8)),
    lint("last", "the last row that the index covers is not in it", "L.index.segment.complete",
        values("page_data.lance", "ids", _last_elsewhere)),
    case("index/any/btree/segments", "two segments of one name", "L.index.segment.disjoint",
        filtered(then(BTREE,
                lambda dataset: dataset.optimize.optimize_indices(num_indices_to_merge=0)), "c = 3",
            [0, 4, 10])),
    lint("overlap", "two segments of one name that cover the same fragments",
        "L.index.segment.disjoint", indices(lambda section: update(section,
                {"indices.1.fragment_bitmap": section.indices[0].fragment_bitmap}),
            edits.manifest_of(5))),
    case("index/any/btree/merged", "two segments that became one",
        filtered(then(BTREE, lambda dataset: dataset.optimize.optimize_indices()), "c >= 5",
            [3, 8, 11])),
    case("index/any/btree/rewritten", "an index that a compaction wrote anew",
        filtered(then(BTREE, lambda dataset: dataset.optimize.compact_files()), "c = 3",
            [10, 0, 4])),
    case("index/any/btree/moved", "addresses that moved since the index was written",
        "L.index.reuse.applied", filtered(then(BTREE, compact), "c = 3", [10, 0, 4])),
    lint("moved-other-column", "an index whose rows moved, said to be over another column",
        "L.index.segment.complete",
        indices(lambda section: update(_over_values(section), {"fields.0": 0}), SIXTH)),
    fault("rows", "fewer rows were written on than the new fragments have", "L.index.reuse.rows",
        reuse({"inline.versions.0.groups.0.new_fragments.0.physical_rows": lambda old: old + 1})),
    fault("fragments", "rows were written on that the old fragments do not have",
        "L.index.reuse.fragments",
        reuse({"inline.versions.0.groups.0.old_fragments.0.physical_rows": 2})),
    fault("new-rows", "a new fragment of 2**32 rows", "L.table.fragments.address",
        reuse({"inline.versions.0.groups.0.new_fragments.0.physical_rows": 2**32})),
    fault("old-id", "an old fragment of the number 2**32", "L.table.fragments.address",
        reuse({"inline.versions.0.groups.0.old_fragments.0.id": 2**32})),
    lint("order", "a version that occurs twice", "L.index.reuse.order",
        reuse({"inline.versions": lambda old: [*old, old[0]], "inline.versions.1.groups": []})),
    case("index/any/btree/own-moved", "addresses that the reference moved", "L.index.reuse.applied",
        filtered(then(BTREE, compact), "c = 1", [2, 9], by="reference")),
    case("index/any/btree/changed", "a row that got another value lies in a fragment without index",
        filtered(then(BTREE, lambda dataset: dataset.update({"c": "3"}, where="id = 5")),
            "c = 3", [0, 4, 10, 5])),
    case("index/any/btree/gone", "a fragment of the index that is gone",
        filtered(then(BTREE, lambda dataset: dataset.delete("id < 5")), "c <= 3", [5, 9, 10])),
    case("index/any/btree/upper-case", "the name of the type in capitals", "L.index.details.url",
        edited(filtered(BTREE, "c = 3", [0, 4, 10]),
            index({"index_details.type_url": lambda old: old.upper()}, FOURTH))),
    case("index/any/btree/unknown-type", "a type that nobody knows: the rows are scanned",
        "L.index.details.unknown", edited(filtered(BTREE, "c = 3", [0, 4, 10], used=False),
            index({"index_details.type_url": "/lance.table.TomorrowIndexDetails"}, FOURTH))),
    case("index/any/btree/too-new", "a version that nobody knows: the rows are scanned",
        "L.index.details.version", edited(filtered(BTREE, "c = 3", [0, 4, 10], used=False),
            index({"index_version": 9}, FOURTH))),
    case("index/any/btree/moved-beside", "addresses that moved, told in a file beside",
        "L.index.reuse.applied",
        edited(filtered(then(BTREE, compact), "c = 3", [10, 0, 4]), external_details())),
    fault("missing", "a file beside that is not there", "L.index.segment.files",
        reuse({"external.path": "other.binpb"})),
    fault("longer", "a file beside that is shorter than the entry says", "L.index.reuse.external",
        reuse({"external.size": lambda old: old + 1})),
    fault("elsewhere", "a file beside in another folder", "L.index.reuse.external",
        reuse({"external.path": "../details.binpb"})),
    case("index/any/btree/nullable", "numbers of pages that might be null",
        edited(filtered(replace(BTREE, version="2.0"), "c = 3", [0, 4, 10]),
            index({"files": None}, FOURTH),
            edits.descriptor({f"schema.fields.{number}.nullable": True for number in range(4)},
                "_indices/*/page_lookup.lance"))),
    fault("pages", "pages without numbers", "L.index.files.column",
        index_files.nulls("page_lookup.lance", 3)),
    *index_files.damaged("btree"),
)  # fmt: skip
