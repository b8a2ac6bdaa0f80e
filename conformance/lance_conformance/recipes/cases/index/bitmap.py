"""Cases of bitmap and label-list indices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.index.row_set import RowSet
from pyroaring import BitMap

from lance_conformance.recipes import indexed
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import metadata, unsized
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import FOURTH, THIRD, index, manifest_of
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.indexed import COLUMN, INTS, Indexed, dump, filtered
from lance_conformance.recipes.model import Recipe

_BITMAP = "bitmap_page_lookup.lance"
LABEL_LIST = Indexed(pa.array([["a", "b"], [], None, ["b", None], ["c"], ["a", "a"], ["b"], ["a"],
            [None], ["c", "a"], ["b"], None], pa.list_(pa.utf8())), "LABEL_LIST")  # fmt: skip

_LISTED = pa.concat_tables(
    [indexed.members(["a", "b", "b", None, "c", "a", "b", "a", None, "c", "a"],
        [0, 0, 3, 3, 4, 5, 6, 7, 8, 9, 9], pa.utf8()).append_column("list", pa.array([True] * 11)),
    indexed.members([None], [2], pa.utf8()).append_column("list", pa.array([False]))])  # fmt: skip

_GONE_WHOLE = Indexed(
    pa.array([*[["y"]] * 5, ["x"], ["y"], [], ["x", "y"], [], None, None], pa.list_(pa.utf8())),
    "LABEL_LIST", version="2.0", afterwards=lambda dataset: dataset.delete("id < 5"))  # fmt: skip

_LEFT_WHOLE = Indexed(pa.array(
        [["y"], ["x", "y"], ["y"], ["y"], ["y", "x"], ["x"], ["y"], [], ["x", "y"], [], None, None],
        pa.list_(pa.utf8())), "LABEL_LIST", version="2.0")  # fmt: skip


def _with_whole(table: pa.Table) -> pa.Table:
    """Say of the first fragment that all its rows have the label `y`."""
    sets = dict(zip(table["keys"].to_pylist(), table["bitmaps"].to_pylist(), strict=True))
    own = RowSet.parse(Cursor(memoryview(sets["y"]), 0, Context("")))
    sets["y"] = RowSet.encode(RowSet(own.keys[own.keys >> np.uint64(32) > 0], frozenset([0])))
    bitmaps = pa.array(sets.values(), table.schema.field("bitmaps").type)
    return table.set_column(1, table.schema.field("bitmaps"), bitmaps)


BITMAP = Indexed(INTS, "BITMAP")


_BELOW = BITMAP.table.set_column(1, "s", pa.array(
        [{"b": f"{one}", "a": one} for one in INTS.to_pylist()]))  # fmt: skip
_NOTHING = replace(BITMAP, version="2.0")
_FAR = indexed.at_once(pa.table({COLUMN: [row in (1, 65537) for row in range(65_560)]}), "BITMAP",
    {}, "2.1")  # fmt: skip
"""More rows than 16 bits number, two of which have a value."""

CASES: tuple[Recipe, ...] = (
    case("index/any/label-list/null-lists", "a set of the lists that are null",
        "L.index.label-list.nulls", unsized(filtered(replace(LABEL_LIST, version="2.0"),
                "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10], clauses=()))),
    case("index/any/label-list/any", "lists with one of two labels, one of them in a deleted row",
        filtered(LABEL_LIST, "array_has_any(c, ['a', 'c'])", [0, 4, 5, 9])),
    case("index/any/label-list/all", "lists with both labels",
        filtered(LABEL_LIST, "array_has_all(c, ['a', 'b'])", [0])),
    case("index/any/label-list/not", "lists without a label: those that are null are not found",
        filtered(LABEL_LIST, "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10])),
    case("index/any/label-list/dictionary", "labels of a dictionary", filtered(Indexed(pa.array(
                    [["b"], None, *[["a"]] * 10], pa.list_(pa.dictionary("int8", "string"))),
                "LABEL_LIST"), "array_has_any(c, ['b'])", [0])),
    case("index/any/label-list/own-any", "labels in an index of the reference",
        filtered(LABEL_LIST, "array_has_any(c, ['b'])", [0, 3, 6, 10], by="reference")),
    case("index/any/label-list/content", "what it holds", dump(LABEL_LIST, _LISTED)),
    case("index/any/label-list/own-content", "what one of the reference holds",
        dump(LABEL_LIST, _LISTED, by="reference")),
    case("index/any/label-list/plain", "files of 2.0, whose sizes nobody says", unsized(filtered(
                replace(LABEL_LIST, version="2.0"), "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10]))),
    fault("metadata", "nothing names the buffer of the lists that are null",
        "L.index.files.metadata", metadata(_BITMAP, "lance:label_list_nulls", None)),
    lint("null-other", "an empty list in the place of one that is null", "L.index.segment.complete",
        index_files.held_bytes(_BITMAP, b"\x01", 28)),
    lint("disjoint", "an item of a list that is null", "L.index.label-list.disjoint",
        index_files.held_bytes(_BITMAP, b"\x00", 28)),
    fault("nulls", "no buffer of the lists that are null", "L.index.files.metadata",
        metadata("bitmap_page_lookup.lance", "lance:label_list_nulls", "x"),
        also="L.index.label-list.nulls"),
    lint("statistics", "another number of items", "L.index.bitmap.statistics",
        metadata("bitmap_page_lookup.lance", "lance:index_stats", '{"num_bitmaps":9}')),
    *(case(f"index/any/label-list/nulls-untold{slug}", title,
            edited(filtered(LABEL_LIST, sql, rows, used=used), index({"index_version": 0}, FOURTH)))
        for slug, title, sql, rows, used in (
            ("", "an index that does not tell which lists are null", "array_has(c, 'a')", [0, 5, 9],
                True), ("-denied", "what a label is denied of, where null lists are untold",
                "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10], True),
            ("-asked", "null lists, where an index does not tell them", "c IS NULL", [2, 11],
                None))),
    case("index/any/label-list/nulls-untold-segment",
        "null lists, where one of two segments does not tell them",
        edited(filtered(indexed.then(LABEL_LIST,
                    lambda dataset: dataset.optimize.optimize_indices(num_indices_to_merge=0)),
                "c IS NULL", [2, 11], used=None), index({"index_version": 0}, manifest_of(5)))),
    case("index/any/label-list/whole", "a fragment that has a label in all its rows, and is gone",
        "L.index.rows.count", edited(filtered(_GONE_WHOLE, "array_has_all(c, ['x', 'y'])", [8]),
            index_files.rewritten(_BITMAP, index_files.with_rows(_with_whole), manifest_of(5)))),
    case("index/any/label-list/whole-left",
        "a fragment that has a label in all its rows, and another in some",
        edited(filtered(_LEFT_WHOLE, "array_has_all(c, ['x', 'y'])", [1, 4, 8]),
            index_files.rewritten(_BITMAP, index_files.with_rows(_with_whole), FOURTH))),
    case("index/any/label-list/untold", "labels in an index whose entry does not tell its type",
        edited(filtered(LABEL_LIST, "array_has_any(c, ['a', 'c'])", [0, 4, 5, 9]),
            index({"index_details": None}, FOURTH)), facts={}),
    case("index/any/bitmap/4-0-1-unordered", "keys in any order",
        ("L.index.bitmap.columns", "L.index.segment.keys"),
        indexed.early_index("4.0.1", "BITMAP", "c = 5", [3, 7])),
    lint("complete", "a value that no row has, among keys that do not rise",
        "L.index.segment.complete", index_files.values("bitmap_page_lookup.lance", "keys",
            lambda old: old.replace(words(9, width=4), words(10, width=4)))),
    case("index/any/bitmap/equals",
        "a value that occurs twice, and once in a row that was appended",
        filtered(BITMAP, "c = 3", [0, 4, 10])),
    *(case(f"index/any/bitmap/{slug}", f"words of a dictionary: {title}", "L.index.bitmap.columns",
            filtered(replace(BITMAP, values=indexed.WORD_KEYS), sql, rows, by=by))
        for slug, title, sql, rows, by in (
            ("dictionary", "a reader that takes the value for a key finds none", "c = 'kiwi'",
                [0, 4, 10], "oracle"),
            ("dictionary-not", "all but one, and rows that are null are not found", "c != 'kiwi'",
                [2, 3, 5, 8, 9, 11], "oracle"),
            ("dictionary-nulls", "rows that are null", "c IS NULL", [1, 6], "oracle"),
            ("own-dictionary", "one in an index of the reference", "c = 'kiwi'", [0, 4, 10],
                "reference"))),
    case("index/any/bitmap/range", "a range of values",
        filtered(BITMAP, "c > 2 AND c <= 5", [0, 3, 4, 10])),
    case("index/any/bitmap/nulls", "rows that are null, and others",
        filtered(BITMAP, "c IS NULL OR c = 9", [1, 6, 8])),
    case("index/any/bitmap/not-null", "rows that are not null",
        filtered(BITMAP, "c IS NOT NULL", [0, 2, 3, 4, 5, 8, 9, 10, 11])),
    case("index/any/bitmap/not", "every value but one: rows that are null are not found",
        filtered(BITMAP, "c != 1", [0, 3, 4, 5, 8, 10, 11])),
    case("index/any/bitmap/fragments", "a value in both fragments, the highest among them",
        "L.index.rows.fragment", filtered(BITMAP, "c = 3 OR c = 5", [0, 3, 4, 10])),
    case("index/any/bitmap/row-ids", "stable row ids",
        filtered(replace(BITMAP, version="2.2", stable_row_ids=True), "c = 5", [3])),
    case("index/any/bitmap/early", "index files of 2.0",
        filtered(replace(BITMAP, version="2.0"), "c = 3", [0, 4, 10])),
    case("index/any/bitmap/own-equals", "a value in an index of the reference",
        filtered(BITMAP, "c = 3", [0, 4, 10], by="reference")),
    case("index/any/bitmap/content", "what it holds", dump(BITMAP, indexed.SORTED)),
    case("index/any/bitmap/own-content", "what one of the reference holds",
        dump(BITMAP, indexed.SORTED, by="reference")),
    case("index/any/bitmap/keys", "row ids, in files of 2.0",
        filtered(replace(BITMAP, version="2.0", stable_row_ids=True), "c = 5", [3])),
    lint("address", "an address in place of a row id", "L.index.segment.complete",
        index_files.values("bitmap_page_lookup.lance", "bitmaps", b"\x01", 4, "bytes"),
        also="L.index.segment.keys"),
    case("index/any/bitmap/untold", "values in an index whose entry does not tell its type",
        "L.index.details.missing",
        edited(filtered(replace(BITMAP, version="2.0"), "c = 3", [0, 4, 10]),
            index({"index_details": None}, FOURTH)), facts={}),
    lint("complete", "an index without its type, and a fragment that it does not hold",
        "L.index.segment.complete",
        index({"fragment_bitmap": BitMap([0, 1, 2]).serialize()}, FOURTH)),
    case("index/any/bitmap/row-ids-second", "stable row ids of a second fragment",
        filtered(Indexed(INTS, "BITMAP", {}, "2.2", stable_row_ids=True), "c = 1", [2, 9])),
    case("index/any/bitmap/below", "a field of a struct", filtered(BITMAP, "s.a = 3", [0, 4, 10],
            steps=indexed.at_once(_BELOW, "BITMAP", {}, "2.1", "s.a"))),
    case("index/any/bitmap/of-no-rows", "an index of no rows, beside some that came later",
        filtered(_NOTHING, "c = 3", [0, 4, 10], used=None, steps=indexed.before_rows(_NOTHING))),
    case("index/any/bitmap/plain", "files of 2.0, whose sizes nobody says",
        unsized(filtered(replace(BITMAP, version="2.0"), "c = 2 OR c = 3", [0, 4, 5, 10]))),
    lint("statistics-more", "one key more than there are", "L.index.bitmap.statistics",
        metadata("bitmap_page_lookup.lance", "lance:index_stats", '{"num_bitmaps":8}')),
    lint("complete", "a value that no row has, in place of one that a row has",
        "L.index.segment.complete", index_files.values(_BITMAP, "keys", b"\n", 20)),
    lint("fragment", "a row of a fragment that never was", "L.index.rows.fragment",
        index_files.values(_BITMAP, "bitmaps", b"\x03", 116, "bytes")),
    fault("null", "null in place of a set of rows", "L.index.bitmap.columns",
        index_files.nulls(_BITMAP, 1)),
    lint("disjoint", "a row in the sets of two values", "L.index.bitmap.disjoint",
        index_files.values(_BITMAP, "bitmaps", b"\x01", 140, "bytes")),
    lint("statistics", "another number of keys", "L.index.bitmap.statistics",
        metadata(_BITMAP, "lance:index_stats", '{"num_bitmaps":7}')),
    fault("fragment-asked", "a row that is asked for, of a fragment that never was",
        "L.index.rows.fragment",
        index_files.values("bitmap_page_lookup.lance", "bitmaps", b"\x03", 146, "bytes")),
    case("index/any/bitmap/changed-ids", "a row id that got another value",
        filtered(indexed.then(replace(BITMAP, version="2.2", stable_row_ids=True),
                lambda dataset: dataset.update({"c": "3"}, where="id = 5")), "c = 2", [])),
    case("index/any/bitmap/moved", "addresses that moved since the index was written",
        "L.index.reuse.applied",
        filtered(indexed.then(BITMAP, indexed.compact), "c = 3", [10, 0, 4])),
    case("index/any/bitmap/far", "a row above 65535 of a fragment",
        filtered(BITMAP, "c = true", []), args={"filter": {"sql": "c = true"}, "columns": ["c"]},
        make=indexed.made(_FAR, pa.table({"c": [True, True]}))),
    case("index/any/bitmap/own-segments", "two segments of the reference",
        "L.index.segment.disjoint", filtered(indexed.then(BITMAP,
                lambda dataset: dataset.optimize.optimize_indices(num_indices_to_merge=0)), "c = 3",
            [0, 4, 10], by="reference")),
    case("index/any/bitmap/uncovered", "a row that an index of no rows does not cover",
        filtered(BITMAP, "c = 3", [0], used=None,
            steps=indexed.before_rows(replace(_NOTHING, values=INTS.slice(0, 1))))),
    lint("complete", "a row of a fragment that is covered by no value", "L.index.segment.complete",
        index({"fragment_bitmap": BitMap([0]).serialize()}, THIRD)),
    *index_files.damaged("label-list"),
    *index_files.damaged("bitmap"),
)  # fmt: skip
