"""Cases of indices to one side of the usual: whole fragments, far zones, one row, tiny numbers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.index.row_set import RowSet, encode_row_set, parse_row_set
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.table_pb2 import IndexMetadata
from pyroaring import BitMap

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import COLUMN, Indexed, create_index, made
from lance_conformance.recipes.messages import descriptor, index, setting
from lance_conformance.recipes.model import Negative, Positive, SpanPatch
from lance_conformance.recipes.tables.faults_indices import fault, lint, nulls, values
from lance_conformance.recipes.tables.indices import BITMAP, BTREE, LABEL_LIST, search
from lance_conformance.recipes.tables.indices_blocks import rewritten
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_rtree import RTREE
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.indices_vectors import TYPES, case
from lance_conformance.recipes.vectors import Numbers, Vectors, far
from lance_conformance.recipes.vectors import made as vectors_made

_MINUS_NAN = Indexed(
    pa.array([1.0, -float("nan"), 2.0, 3.0, 4.0, *[5.0] * 7]), "ZONEMAP", {"rows_per_zone": 5}
)

_WIDE = Indexed(pa.array(range(12), pa.int32()), "BLOOMFILTER",
                {"number_of_items": 60, "probability": 0.01}, "2.0")  # fmt: skip

_UNTOLD = search("nulls-untold", "an index that does not tell which lists are null",
                 "array_has(c, 'a')", [0, 5, 9], LABEL_LIST)  # fmt: skip

_DENIED = search("nulls-untold-denied", "what a label is denied of, where null lists are untold",
                 "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10], LABEL_LIST)  # fmt: skip

_NULLS = search("nulls-untold-asked", "null lists, where an index does not tell them",
                "c IS NULL", [2, 11], LABEL_LIST, used=False)  # fmt: skip

_GONE_WHOLE = Indexed(
    pa.array([*[["y"]] * 5, ["x"], ["y"], [], ["x", "y"], [], None, None], pa.list_(pa.utf8())),
    "LABEL_LIST", version="2.0", afterwards=lambda dataset: dataset.delete("id < 5"),
)  # fmt: skip


def _with_whole(table: pa.Table) -> pa.Table:
    """Say of the fragment that is gone that all its rows have the label `y`."""
    sets = dict(zip(table["keys"].to_pylist(), table["bitmaps"].to_pylist(), strict=True))
    own = parse_row_set(Cursor(memoryview(sets["y"]), 0, Context("")))
    sets["y"] = encode_row_set(RowSet(own.keys[own.keys >> np.uint64(32) > 0], frozenset([0])))
    bitmaps = pa.array(sets.values(), table.schema.field("bitmaps").type)
    return table.set_column(1, table.schema.field("bitmaps"), bitmaps)


_WHOLE = search("whole", "a fragment that has a label in all its rows, and is gone",
                "array_has_all(c, ['x', 'y'])", [8], _GONE_WHOLE,
                ("L.index.rows.count",))  # fmt: skip


def _unit(places: Sequence[tuple[float, float] | None]) -> pa.Array:
    data = [one and struct.pack("<BIdd", 1, 1, *one) for one in places]
    return pa.array(data, pa.binary())


_UNIT = replace(RTREE, values=_unit([(0.1 * k % 0.7, 0.07 * k) for k in range(12)]))

_GONE = pa.array(['{"a":1.5}', "{}", '{"a":2.5}', *['{"b":1}'] * 9], pa.json_())
_NULL_LEFT = Indexed(
    _GONE, "JSON", {"path": "a", "target_index_type": "btree"}, "2.0",
    afterwards=lambda dataset: dataset.delete("id IN (0, 2)"),
)  # fmt: skip


def _one_row(module: Any, uri: str) -> None:
    """Make an index over no rows, and a row that it does not cover."""
    schema = pa.schema([("id", pa.int64()), (COLUMN, pa.int32())])
    dataset = module.write_dataset(schema.empty_table(), uri, schema, data_storage_version="2.0")
    create_index(module, dataset, COLUMN, "BITMAP", {})
    row = pa.table([[0], [3]], schema=schema)
    module.write_dataset(row, uri, mode="append", data_storage_version="2.0")


def _covers_it(entry: IndexMetadata) -> None:
    entry.fragment_bitmap = BitMap([0]).serialize()


def _covers_three(entry: IndexMetadata) -> None:
    entry.fragment_bitmap = BitMap([0, 1, 2]).serialize()


_ALONE = search("uncovered", "a row that an index of no rows does not cover", "c = 3", [0], BITMAP,
                used=True)  # fmt: skip


class _Tiny(Vectors):
    """Vectors so short that numbers next to them are far from one."""

    __slots__ = ()

    @property
    def values(self) -> Numbers:
        """All vectors, those of a row one after the other; the last one is the query."""
        longer: Numbers = Vectors.values.fget(self)  # type: ignore[attr-defined]
        shorter: Numbers = (longer.astype(np.float64) / 16384).astype(longer.dtype)
        return shorter


_BITS = replace(TYPES["flat"], metric="hamming", element="u1", version="2.0", seed=4)

_NEXT = case("own-next", "a row of the partition after the nearest, where that has none", _BITS,
             by="reference", true=1, others={"filter": {"sql": "id = 2"}})  # fmt: skip


def _of(row: int) -> pa.Table:
    """Return how far a row is."""
    distance = far(_BITS.values[row : row + 1], _BITS.query, _BITS.metric)
    return pa.table({"id": [row], "_distance": distance.astype(np.float32)})


_THIN = replace(TYPES["hnsw-flat"], parameters={"m": 4, "ef_construction": 4}, version="2.0",
                seed=37)  # fmt: skip

_KEPT = case("own-kept", "a walk keeps half as many rows again as are asked for", _THIN,
             ("L.index.vector.graph.ef",), by="reference", true=2, nprobes=2)  # fmt: skip

_PAGES = search("nullable", "numbers of pages that might be null", "c = 3", [0, 4, 10],
                replace(BTREE, version="2.0"))  # fmt: skip


def _may_be_null(message: FileDescriptor) -> None:
    for field in message.schema.fields:
        field.nullable = True


POSITIVES: tuple[Positive, ...] = (
    search("minus-nan", "the negative NaN, which is below the bounds of its zone",
           "c = CAST('-NaN' AS DOUBLE)", [1], _MINUS_NAN),
    search("wide", "filters of more than one block", "c = 3", [3], _WIDE),
    *(replace(one, reachable=False,
              make=reworked(one.make, index(setting(index_version=0), LAST)))
      for one in (_UNTOLD, _DENIED, _NULLS)),
    replace(_WHOLE, reachable=False, make=rewritten(
        _WHOLE.make, "bitmap_page_lookup.lance", _with_whole,
        "_versions/18446744073709551610.manifest")),
    search("unit", "points between 0 and 1 on either axis", "st_intersects(c, "
           "'POLYGON((0 0,0.25 0,0.25 0.25,0 0.25,0 0))')", [0, 1, 2], _UNIT),
    search("null-left", "documents of which none has the number any more",
           "json_get_float(c, 'a') IS NULL", [1, 3, 4, 5, 6, 8, 9, 10, 11], _NULL_LEFT),
    replace(_ALONE, facts={}, make=made(_one_row, pa.table({"id": pa.array([0], pa.int64())}))),
    case("tiny", "vectors of tiny numbers", _Tiny("IVF_FLAT", version="2.0"), nprobes=2),
    replace(_NEXT, make=vectors_made(_BITS, _NEXT.args, _of(2), by="reference")),
    replace(_KEPT, make=vectors_made(_THIN, _KEPT.args, None, by="reference")),
    replace(_PAGES, reachable=False, make=reworked(
        _PAGES.make, index(without_sizes, LAST),
        descriptor(_may_be_null, "_indices/*/page_lookup.lance"))),
)  # fmt: skip
"""Every positive case beside the usual."""


NEGATIVES: tuple[Negative, ...] = (
    fault("btree/nullable", "pages", "pages without numbers", "L.index.files.column",
          nulls("page_lookup.lance", 3)),
    fault("bitmap/plain", "fragment-asked", "a row that is asked for, of a fragment that never was",
          "L.index.rows.fragment", values("bitmap_page_lookup.lance", "bitmaps", b"\3", 146,
                                          "bytes")),
    fault("bloomfilter/wide", "blocks", "filters of three blocks and of five",
          "L.index.bloom.data", values("bloomfilter.lance", "bloom_filter_data", b"\x60", 0,
                                       "string ends")),
    fault("ivf-pq/early-plain", "message-longer", "a message that ends inside of the footer",
          "L.index.vector.single.message",
          SpanPatch(("message size",), lambda old: bytes([old[0] + 2]) + old[1:],
                    target="_indices/*/index.idx")),
    lint("bitmap/uncovered", "complete", "a row of a fragment that is covered by no value",
         "L.index.segment.complete", index(_covers_it, "_versions/18446744073709551612.manifest")),
    *(lint(f"{kind}/plain", "bare-fragment", "a fragment that is covered and has no zones",
           "L.index.segment.complete", index(_covers_three, LAST))
      for kind in ("zonemap", "bloomfilter")),
    lint("ivf-flat/tiny", "values", "a number that is off by little, and far for its vector",
         "L.index.vector.flat.values", values("auxiliary.idx", "flat", b"\0\0\0\0")),
    lint("ivf-pq/plain", "codes-first", "a code further off, which has as great a product",
         "L.index.vector.pq.codes", values("auxiliary.idx", "__pq_code", b"\0")),
    lint("rtree/unit", "order", "a leaf so wide that its middle lies further along the curve",
         "L.index.rtree.order", values("page_data.lance", "xmax", struct.pack("<d", 0.6), 8 * 4)),
)  # fmt: skip
"""Every fault of them."""
