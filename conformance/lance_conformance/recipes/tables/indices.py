"""Cases of scalar indices: filters asked of each type, and what each type holds.

Every table has twelve rows: ten indexed, one of these deleted, two appended. The rows expected are
told by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.indexed import NAME, Indexed, made
from lance_conformance.recipes.model import Positive

INTS = pa.array([3, None, 1, 5, 3, 2, None, 5, 9, 1, 3, 8], pa.int32())

_NAN, _INF = float("nan"), float("inf")
FLOATS = pa.array([0.0, -0.0, _NAN, -_NAN, None, 1.5, -_INF, 2.0, _INF, 1.5, -0.0, _NAN])

TEXTS = pa.array(
    ["apple", "apply", None, "Äpfel", "ape", "banana", "bandana", "cabana", "", "an", "apple", "b"]
)

LABELS = pa.array(
    [["a", "b"], [], None, ["b", None], ["c"], ["a", "a"], ["b"], ["a"], [None], ["c", "a"],
     ["b"], None],
    pa.list_(pa.utf8()),
)  # fmt: skip

_COVERAGE = ("L.index.segment.coverage", "L.index.segment.keys")

BTREE = Indexed(INTS, "BTREE", {"zone_size": 4})
BITMAP = Indexed(INTS, "BITMAP")
LABEL_LIST = Indexed(LABELS, "LABEL_LIST")
NGRAM = Indexed(TEXTS, "NGRAM")
ZONEMAP = Indexed(INTS, "ZONEMAP", {"rows_per_zone": 2})
BLOOMFILTER = Indexed(INTS, "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01})


def _topic(type_: str) -> str:
    return type_.lower().replace("_", "-")


def search(
    slug: str,
    title: str,
    filter_: str,
    rows: Sequence[int],
    table: Indexed,
    clauses: tuple[str, ...] = (),
    *,
    by: str = "oracle",
    used: bool = True,
) -> Positive:
    """Return the case of a filter that finds the rows with these ids."""
    expected = pa.table({"id": pa.array(rows, pa.int64())})
    return Positive(
        id=f"index/any/{_topic(table.type)}/{slug}",
        title=title,
        clauses=(*_COVERAGE, *clauses),
        make=made(table, expected, by=by),
        version=table.version,
        kind="index-search",
        facts={"used": used},
        args={"filter": {"sql": filter_}, "columns": ["id"]},
        index=table.type,
    )


def content(
    slug: str, title: str, expected: pa.Table, table: Indexed, *, by: str = "oracle"
) -> Positive:
    """Return the case of what an index holds."""
    return Positive(
        id=f"index/any/{_topic(table.type)}/{slug}",
        title=title,
        clauses=("L.index.segment.complete", "L.index.files.column"),
        make=made(table, expected, by=by),
        version=table.version,
        kind="index-bytes",
        args={"index": NAME},
        index=table.type,
        order="any",
    )


def _version(table: Indexed, version: str, *, stable_row_ids: bool = False) -> Indexed:
    return Indexed(table.values, table.type, table.parameters, version, stable_row_ids)


_BTREE = (
    search("equals", "a value that occurs twice, and once in a row that was appended",
           "c = 3", [0, 4, 10], BTREE),
    search("range", "a range over two pages, one of its rows deleted", "c >= 3 AND c < 9",
           [0, 3, 4, 10, 11], BTREE),
    search("nulls", "rows that are null", "c IS NULL", [1, 6], BTREE),
    search("null-alone", "a page with one row that is null", "c IS NULL", [3],
           Indexed(pa.array([3, 1, 4, None, 5, 9, 2, 6, 5, 3, 5, 8]), "BTREE", {"zone_size": 4})),
    search("among", "some values of which one is nowhere", "c IN (1, 4, 9)", [2, 8, 9], BTREE),
    search("not", "a range that is denied: rows that are null are not found", "NOT (c < 5)",
           [3, 8, 11], BTREE),
    search("both", "a condition on another column goes with it", "c = 3 AND id > 2", [4, 10],
           BTREE),
    search("none", "a value that is nowhere", "c = 4", [], BTREE),
    search("zeros", "zero is looked for with either sign", "c = 0", [0, 1, 10],
           Indexed(FLOATS, "BTREE")),
    search("above", "NaN is above everything", "c > 1.5", [2, 8, 11], Indexed(FLOATS, "BTREE")),
    search("prefix", "texts that begin with another", "c LIKE 'ap%'", [0, 1, 4, 10],
           Indexed(TEXTS, "BTREE", version="2.2")),
    search("row-ids", "addresses where rows have stable ids", "c = 5", [3],
           _version(BTREE, "2.2", stable_row_ids=True)),
    search("early", "index files of 2.0", "c = 1", [2, 9], _version(BTREE, "2.0")),
    search("of-0.1", "index files of 2.0 beside data files of 0.1", "c = 2", [5],
           _version(BTREE, "legacy"), ("L.index.files.version",)),
    search("next", "index files of 2.3", "c = 1", [2, 9], _version(BTREE, "2.3")),
    search("own-range", "a range in an index of the reference", "c BETWEEN 2 AND 5",
           [0, 3, 4, 5, 10], BTREE, by="reference"),
    search("own-row-ids", "addresses in an index of the reference", "c IN (5, 8)", [3, 11],
           _version(BTREE, "2.2", stable_row_ids=True), by="reference"),
)  # fmt: skip

_BITMAP = (
    search("equals", "a value that occurs twice, and once in a row that was appended",
           "c = 3", [0, 4, 10], BITMAP),
    search("range", "a range of values", "c > 2 AND c <= 5", [0, 3, 4, 10], BITMAP),
    search("nulls", "rows that are null, and others", "c IS NULL OR c = 9", [1, 6, 8], BITMAP),
    search("not-null", "rows that are not null", "c IS NOT NULL",
           [0, 2, 3, 4, 5, 8, 9, 10, 11], BITMAP),
    search("not", "every value but one: rows that are null are not found", "c != 1",
           [0, 3, 4, 5, 8, 10, 11], BITMAP),
    search("fragments", "a value in both fragments, the highest among them", "c = 3 OR c = 5",
           [0, 3, 4, 10], BITMAP, ("L.index.rows.fragment",)),
    search("row-ids", "stable row ids", "c = 5", [3], _version(BITMAP, "2.2", stable_row_ids=True)),
    search("early", "index files of 2.0", "c = 3", [0, 4, 10], _version(BITMAP, "2.0")),
    search("own-equals", "a value in an index of the reference", "c = 3", [0, 4, 10], BITMAP,
           by="reference"),
)  # fmt: skip

_LABEL_LIST = (
    search("any", "lists with one of two labels, one of them in a deleted row",
           "array_has_any(c, ['a', 'c'])", [0, 4, 5, 9], LABEL_LIST),
    search("all", "lists with both labels", "array_has_all(c, ['a', 'b'])", [0], LABEL_LIST),
    search("not", "lists without a label: those that are null are not found",
           "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10], LABEL_LIST),
    search("own-any", "labels in an index of the reference", "array_has_any(c, ['b'])",
           [0, 3, 6, 10], LABEL_LIST, by="reference"),
)  # fmt: skip

_NGRAM = (
    search("contains", "a text of two tokens", "contains(c, 'pple')", [0, 10], NGRAM),
    search("folded", "letters are brought to ASCII, and the case of the text counts",
           "contains(c, 'pfe')", [3], NGRAM),
    search("match", "a regular expression with a text that every match holds",
           "regexp_match(c, 'and.*na')", [6], NGRAM),
    search("own-contains", "a text in an index of the reference", "contains(c, 'ana')", [5, 6],
           NGRAM, by="reference"),
)  # fmt: skip

_ZONEMAP = (
    search("range", "a range that rules zones out", "c >= 5", [3, 8, 11], ZONEMAP),
    search("nulls", "rows that are null are known exactly", "c IS NULL", [1, 6], ZONEMAP),
    search("nan", "a zone with NaN has no upper bound", "c > 1.75", [2, 8, 11],
           Indexed(FLOATS, "ZONEMAP", {"rows_per_zone": 2}), ("L.index.zonemap.bounds",)),
    search("bytes", "bounds that are null rule nothing out", "c = X'0203'", [1],
           Indexed(pa.array([bytes([n, n + 1, n + 2][:2]) if n else None for n in
                             (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12)], pa.binary(2)),
                   "ZONEMAP", {"rows_per_zone": 2}), ("L.index.zonemap.bounds",)),
    search("own-range", "a range in an index of the reference", "c < 2", [2, 9], ZONEMAP,
           by="reference"),
)  # fmt: skip

_BLOOMFILTER = (
    search("equals", "a value whose zones the filters name", "c = 3", [0, 4, 10], BLOOMFILTER),
    search("among", "some values", "c IN (1, 9)", [2, 8, 9], BLOOMFILTER),
    search("nulls", "rows that are null are known exactly", "c IS NULL", [1, 6], BLOOMFILTER),
    search("zeros", "zero is looked for with either sign", "c = 0", [0, 1, 10],
           Indexed(FLOATS, "BLOOMFILTER", BLOOMFILTER.parameters)),
    search("blocks", "filters of many blocks", "c = 3", [0, 4, 10],
           Indexed(INTS, "BLOOMFILTER", {"number_of_items": 1000, "probability": 0.0001})),
    search("own-equals", "a value in an index of the reference", "c = 1", [2, 9], BLOOMFILTER,
           by="reference"),
)  # fmt: skip


def _key(row: int) -> int:
    """Return the address of one of the rows that are indexed."""
    return (row // 5 << 32) + row % 5


def _members(values: Sequence[object], rows: Sequence[int], type_: pa.DataType) -> pa.Table:
    keys = pa.array([_key(row) for row in rows], pa.uint64())
    return pa.table({"value": pa.array(values, type_), "row": keys})


_SORTED = _members([None, None, 1, 1, 2, 3, 3, 5, 5, 9], [1, 6, 2, 9, 5, 0, 4, 3, 7, 8], pa.int32())

_ITEMS = _members(
    ["a", "b", "b", None, "c", "a", "b", "a", None, "c", "a"],
    [0, 0, 3, 3, 4, 5, 6, 7, 8, 9, 9],
    pa.utf8(),
)
_NULL_LISTS = _members([None], [2], pa.utf8())
_LISTED = pa.concat_tables(
    [
        _ITEMS.append_column("list", pa.array([True] * 11)),
        _NULL_LISTS.append_column("list", pa.array([False])),
    ]
)


def _token(text: str) -> int:
    """Return the number of three letters."""
    first, second, third = (11 + ord(letter) - ord("a") for letter in text)
    return first * 37**2 + second * 37 + third


_WORDS = {0: "app ppl ple", 1: "app ppl ply", 3: "apf pfe fel", 4: "ape", 5: "ban ana nan",
          6: "ban and nda dan ana", 7: "cab aba ban ana"}  # fmt: skip

_TOKENS = sorted(
    [(_token(word), _key(row)) for row, words in _WORDS.items() for word in words.split()]
    + [(0, _key(2))]
)

_ZONES = pa.table(
    {
        "min": pa.array([3, 1, 3, 2, 5, 1], pa.int32()),
        "max": pa.array([3, 5, 3, 2, 9, 1], pa.int32()),
        "null_count": pa.array([1, 0, 0, 1, 0, 0], pa.uint32()),
        "nan_count": pa.array([0] * 6, pa.uint32()),
        "fragment_id": pa.array([0, 0, 0, 1, 1, 1], pa.uint64()),
        "zone_start": pa.array([0, 2, 4, 0, 2, 4], pa.uint64()),
        "zone_length": pa.array([2, 2, 1, 2, 2, 1], pa.uint64()),
    }
)


def _contents(prefix: str, by: str) -> tuple[Positive, ...]:
    title = "what it holds" if by == "oracle" else "what one of the reference holds"
    tokens, keys = np.array(_TOKENS, np.uint64).T
    ngrams = pa.table({"token": tokens.astype(np.uint32), "row": keys})
    return tuple(
        content(f"{prefix}content", title, expected, table, by=by)
        for expected, table in (
            (_SORTED, BTREE),
            (_SORTED, BITMAP),
            (_LISTED, LABEL_LIST),
            (ngrams, NGRAM),
            (_ZONES, ZONEMAP),
        )
    )


POSITIVES = (
    *_BTREE,
    *_BITMAP,
    *_LABEL_LIST,
    *_NGRAM,
    *_ZONEMAP,
    *_BLOOMFILTER,
    *_contents("", "oracle"),
    *_contents("own-", "reference"),
)
