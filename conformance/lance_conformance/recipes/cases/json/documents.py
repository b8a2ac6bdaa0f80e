"""Cases of JSON documents, as JSONB in their columns."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.constructors import case, fault
from lance_conformance.recipes.model import Maker, Recipe, SpanPatch
from lance_conformance.recipes.oracle_files import stored

_NAMED = {"ARROW:extension:name": "arrow.json"}
_TEXTS = ['{"a":"x","b":[null,true,7]}', "300", '"xy"', None, ""]
"""One object with an array, a number of two bytes, a string, a null, and text without a value."""

_DOUBLES = "[0.00001,0.000015,-0.000025,9.5e-6,1e-6,1.5e+16,1234567.5]"
_NUMBERS = f"[0,-1,255,-129,65535,-32769,4294967295,-2147483649,{2**64 - 1},-0.5]"


def _json(values: list[str | None]) -> pa.Array:
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(values, pa.utf8()))


def _nested() -> Maker:
    item = pa.field("j", pa.utf8(), metadata=_NAMED)
    lists = pa.array([['{"b":1,"a":1.5}'], None, [], ["[]", None]], pa.list_(item))
    items = _json(['{"a":1.5,"b":1}', "[]", None])
    shown = pa.ListArray.from_arrays(
        pa.array([0, 1, 1, 1, 3], pa.int32()),
        items,
        type=pa.list_(pa.field("j", pa.json_())),
        mask=pa.array([False, True, False, False]),
    )
    return stored(pa.table({"l": lists}), holds=pa.table({"l": shown}), version="2.2")


def _raw() -> pa.Table:
    named = pa.field("j", pa.large_binary(), metadata={"ARROW:extension:name": "lance.json"})
    rows = (
        "40000002 10000001 10000001 10000001 50000012 6162 78 80000003"
        "00000000 40000000 20000002 5007",
        "20000000 20000003 50012c",
    )
    documents = pa.array([bytes.fromhex(row) for row in rows], pa.large_binary())
    return pa.table([documents], schema=pa.schema([named]))


def _written(*texts: str | None, shown: list[str | None] | None = None) -> Maker:
    """Return a maker of a table of documents, by their texts, and of how they are shown."""
    schema = pa.schema([pa.field("j", pa.utf8(), metadata=_NAMED)])
    expected = pa.table({"j": _json(shown or [*texts])})
    return stored(pa.table([pa.array(texts)], schema), holds=expected, version="2.0")


def _patch(was: str, now: str) -> SpanPatch:
    place, old, new = ("page 0", "bytes"), bytes.fromhex(was), bytes.fromhex(now)
    return SpanPatch(place, lambda data: data.replace(old, new, 1), target="data/*.lance")


CASES: tuple[Recipe, ...] = (
    case("table/any/json/documents",
        "an object, a number, a string, a null and an empty text as rows",
        ("L.json.header", "L.json.scalar", "L.json.entries", "L.json.entry-type", "L.json.payload",
            "L.json.trailing", "L.json.literal", "L.json.string", "L.json.number", "L.json.key",
            "L.json.column"), _written(*_TEXTS, shown=[*_TEXTS[:4], "null"])),
    fault("header", "a container of no kind", "L.json.header", _patch("80000003", "60000003")),
    fault("scalar", "a lone value inside an object", "L.json.scalar",
        _patch("80000003", "20000003")),
    fault("scalar-count", "a lone value that counts itself", "L.json.scalar",
        _patch("20000000 20000003", "20000001 20000003")),
    fault("scalar-inside", "a lone value, of no count, as a value of an object", "L.json.scalar",
        _patch("80000003 00000000 40000000 20000002 5007",
            "20000000 1000000a 20202020202020202020")),
    fault("entries", "an array of more items than it has bytes for", "L.json.entries",
        _patch("80000003", "80000013")),
    fault("entry-type", "an item of type 7", "L.json.entry-type", _patch("40000000", "70000000")),
    fault("payload", "a number that ends after its array", "L.json.payload",
        _patch("200000025007", "200000035007")),
    fault("trailing", "a byte after the string of a document", "L.json.trailing",
        _patch("100000027879", "100000017879")),
    fault("literal", "a null with a byte", "L.json.literal",
        _patch("80000003 00000000", "80000003 00000001")),
    fault("string", "a string that is not UTF-8", "L.json.string",
        _patch("100000027879", "10000002ff79")),
    fault("number", "a number with an unknown first byte", "L.json.number", _patch("5007", "5107")),
    fault("key", "a key that is a number", "L.json.key",
        _patch("4000000210000001", "4000000220000001")),
    fault("double", "a double of one byte", "L.json.number", _patch("5007", "6007")),
    fault("zero", "a zero with a byte", "L.json.number", _patch("5007", "0007")),
    fault("empty", "an integer of no bytes", "L.json.number",
        _patch("20000002 5007", "20000001 5007"), also="L.json.trailing"),
    case("table/any/json/doubles", "numbers near 1e-5 and 1e16, where the text of a double changes",
        "L.json.number", _written(_DOUBLES)),
    case("table/any/json/numbers", "numbers of every kind and width, but decimals",
        "L.json.number", _written(_NUMBERS)),
    case("table/any/json/nested", "documents inside lists", "L.json.column", _nested()),
    case("file/2.0/json/raw", "a file gives documents as they are stored",
        ("L.json.key-order", "L.json.number-width"), _raw()),
)  # fmt: skip
