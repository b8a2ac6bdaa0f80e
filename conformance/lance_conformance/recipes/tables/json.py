"""Cases of json columns: tables that read as text, and documents with one fault."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.model import Negative, Positive, SpanPatch
from lance_conformance.recipes.oracle_made import dataset, file, write

_NAMED = {"ARROW:extension:name": "arrow.json"}

_TEXTS = ['{"a":"x","b":[null,true,7]}', "300", '"xy"', None, ""]
"""One object with an array, a number of two bytes, a string, a null, and text without a value."""

_SHOWN = [*_TEXTS[:4], "null"]


def _json(values: list[str | None]) -> pa.Array:
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(values, pa.utf8()))


def _documents(uri: str) -> pa.Table:
    schema = pa.schema([pa.field("j", pa.utf8(), metadata=_NAMED)])
    write(pa.table([pa.array(_TEXTS)], schema=schema), uri, data_storage_version="2.0")
    return pa.table({"j": _json(_SHOWN)})


def _nested(uri: str) -> pa.Table:
    item = pa.field("j", pa.utf8(), metadata=_NAMED)
    lists = pa.array([['{"b":1,"a":1.5}'], None, [], ["[]", None]], pa.list_(item))
    write(pa.table({"l": lists}), uri, data_storage_version="2.2")
    items = _json(['{"a":1.5,"b":1}', "[]", None])
    shown = pa.ListArray.from_arrays(
        pa.array([0, 1, 1, 1, 3], pa.int32()),
        items,
        type=pa.list_(pa.field("j", pa.json_())),
        mask=pa.array([False, True, False, False]),
    )
    return pa.table({"l": shown})


_RAW = [
    "40000002 10000001 10000001 10000001 50000012 6162 78 80000003 00000000 40000000 20000002 5007",
    "20000000 20000003 50012c",
]


def _raw() -> pa.Table:
    named = pa.field("j", pa.large_binary(), metadata={"ARROW:extension:name": "lance.json"})
    return pa.table(
        [pa.array([bytes.fromhex(one) for one in _RAW], pa.large_binary())],
        schema=pa.schema([named]),
    )


_CLAUSES = (
    *("L.json.header", "L.json.scalar", "L.json.entries", "L.json.entry-type", "L.json.payload"),
    *("L.json.trailing", "L.json.literal", "L.json.string", "L.json.number", "L.json.key"),
    "L.json.column",
)

POSITIVES = (
    Positive(
        id="table/any/json/documents",
        title="an object, a number, a string, a null and an empty text as rows",
        clauses=_CLAUSES,
        make=dataset(_documents),
        version="2.0",
        kind="read-dataset",
    ),
    Positive(
        id="table/any/json/nested",
        title="documents inside lists",
        clauses=("L.json.column",),
        make=dataset(_nested),
        version="2.2",
        kind="read-dataset",
    ),
    Positive(
        id="file/2.0/json/raw",
        title="a file gives documents as they are stored",
        clauses=("L.json.key-order", "L.json.number-width"),
        make=file(_raw(), "2.0"),
        version="2.0",
    ),
)


def _patch(was: str, now: str) -> SpanPatch:
    old, new = bytes.fromhex(was), bytes.fromhex(now)
    return SpanPatch(
        ("page 0", "bytes"), lambda data: data.replace(old, new, 1), target="data/*.lance"
    )


def _fault(slug: str, title: str, clause: str, was: str, now: str) -> Negative:
    return Negative(
        id=f"table/any/json/neg-{slug}",
        title=title,
        clause=clause,
        parent="table/any/json/documents",
        change=_patch(was, now),
        meaning=title,
        kind="negative-dataset",
    )


NEGATIVES = (
    _fault("header", "a container of no kind", "L.json.header", "80000003", "60000003"),
    _fault("scalar", "a lone value inside an object", "L.json.scalar", "80000003", "20000003"),
    _fault(
        "entries",
        "an array of more items than it has bytes for",
        "L.json.entries",
        "80000003",
        "80000013",
    ),
    _fault("entry-type", "an item of type 7", "L.json.entry-type", "40000000", "70000000"),
    _fault(
        "payload",
        "a number that ends after its array",
        "L.json.payload",
        "200000025007",
        "200000035007",
    ),
    _fault(
        "trailing",
        "a byte after the string of a document",
        "L.json.trailing",
        "100000027879",
        "100000017879",
    ),
    _fault(
        "literal", "a null with a byte", "L.json.literal", "80000003 00000000", "80000003 00000001"
    ),
    _fault("string", "a string that is not UTF-8", "L.json.string", "100000027879", "10000002ff79"),
    _fault("number", "a number with an unknown first byte", "L.json.number", "5007", "5107"),
    _fault("key", "a key that is a number", "L.json.key", "4000000210000001", "4000000220000001"),
)
