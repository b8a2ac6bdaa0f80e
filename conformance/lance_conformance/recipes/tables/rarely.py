"""Cases of what is rarely there: early files that an index lists, no columns, pages of one row.

Values that have no rows, and batches that have no values, are here as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout, SparseValiditySet
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.table_pb2 import DataFile, IndexMetadata, Manifest
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader, LanceFileWriter

from lance_conformance.recipes import blocks
from lance_conformance.recipes.hand import Page, by_hand, reworked, words
from lance_conformance.recipes.messages import column as column_edit
from lance_conformance.recipes.messages import data_file, index, manifest, page
from lance_conformance.recipes.model import DATA, Made, MessageEdit, Negative, Positive, SpanPatch
from lance_conformance.recipes.oracle_made import column, dataset, file, write
from lance_conformance.recipes.pages import Chunk, chunked
from lance_conformance.recipes.tables.blobs import second_kind
from lance_conformance.recipes.tables.datasets import table_case
from lance_conformance.recipes.tables.edits import fault, table_fault
from lance_conformance.recipes.tables.files_0_1 import LEGACY
from lance_conformance.recipes.tables.files_arms import case
from lance_conformance.recipes.tables.files_far import taken
from lance_conformance.recipes.tables.overlays import overlay

_SECOND = "_versions/18446744073709551613.manifest"
"""The manifest of version 2."""


def _legacy(slug: str, title: str, clause: str, make: Callable[[], Made], type_: str) -> Positive:
    return Positive(
        id=f"file/0.1/{slug}",
        title=title,
        clauses=(f"L.legacy.{clause}",),
        make=make,
        version="0.1",
        kind="read-dataset",
        reachable=False,
    )


def _forget_manifest(message: object) -> None:
    message.ClearField("manifest_position")  # type: ignore[attr-defined]


def _no_words(uri: str) -> pa.Table:
    """Write one row of a dictionary, and delete it with its file."""
    table = pa.table({"d": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["a"])})
    write(table, uri, **LEGACY).delete("d = 'a'")
    for path in Path(uri, "data").iterdir():
        path.unlink()
    none = pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), pa.array([], pa.string()))
    return pa.table({"d": none})


def _no_length(message: Manifest) -> None:
    message.fields[0].dictionary.length = 0


def _early_index(uri: str) -> pa.Table:
    """Index a column, and put the rows of the index in files of 0.1, as early releases did."""
    table = pa.table({"a": pa.array([4, 1, 3, 0, 2], pa.int64())})
    write(table, uri, data_storage_version="2.1").create_scalar_index("a", "BTREE")
    (folder,) = Path(uri, "_indices").iterdir()
    for path in folder.iterdir():
        held = LanceFileReader(path).read_all().to_table().replace_schema_metadata(None)
        with tempfile.TemporaryDirectory() as name:
            write(held, f"{name}/t", **LEGACY)
            (made,) = Path(name, "t", "data").iterdir()
            path.write_bytes(made.read_bytes())
    return table


def _sizes(make: Callable[[], Made]) -> Callable[[], Made]:
    """Let the manifest list the files of the index by the sizes they have."""

    def made() -> Made:
        base = make()
        sizes = {Path(name).name: len(data) for name, data in base.files.items()}

        def listed(entry: IndexMetadata) -> None:
            for one in entry.files:
                one.size_bytes = sizes[one.path]

        return reworked(lambda: base, index(listed, _SECOND))()

    return made


def _none(version: str) -> Positive:
    return Positive(
        id=f"file/{version}/container/no-columns",
        title="a file without columns, and so without rows",
        clauses=("L.file.footer.column-metadata-start", "L.file.footer.num-columns"),
        make=file(pa.table({}), version),
        version=version,
    )


_LISTS = pa.array([None if i % 9 == 4 else [i * j for j in range(i % 5)] for i in range(1300)],
                  pa.list_(pa.int32()))  # fmt: skip


def _apart() -> Positive:
    """Ask for rows whose ends lie further apart than a reader bridges."""
    rows = [3, 1203, 1204]
    return Positive(
        id="file/2.0/list/apart",
        title="lists more than a thousand rows apart",
        clauses=("L.array.list.num-items",),
        make=taken(file(column(_LISTS), "2.0"), rows),
        version="2.0",
        args={"rows": [str(row) for row in rows]},
    )


_PAIR = pa.struct([("x", pa.int8()), ("y", pa.int64())])

_PAIRS = column(
    pa.array([[{"x": i, "y": 5 if i < 6 else i * 7}, {"x": -i, "y": 5}] for i in range(12)],
             pa.list_(_PAIR, 2))
)  # fmt: skip


def _made_cut() -> Made:
    """Write two pages of each field: one value alone is in the first page of the second."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        with LanceFileWriter(str(path), _PAIRS.schema, version="2.2", data_cache_bytes=1) as writer:
            for at in (0, 6):
                writer.write_batch(_PAIRS.slice(at, 6))
        return Made({DATA: path.read_bytes()}, _PAIRS, made_by="reference")


def _cut() -> Positive:
    return Positive(
        id="file/2.2/levels/pairs-cut",
        title="pairs of structs, of which one field is read in two pieces",
        clauses=("L.page.layout.scale", "L.page.siblings.rows"),
        make=_made_cut,
        version="2.2",
    )


def _no_slots() -> Positive:
    """Lay out lists of nothing, whose zipped values are none."""
    layout = PlanarLayout()
    lists = layout.structure.sparse.layers.add().list
    lists.non_empty_positions.constant.SetInParent()
    lists.counts.constant.SetInParent()
    lists.validity.meaning = SparseValiditySet.NULL_POSITIONS
    lists.validity.positions.constant.SetInParent()
    validity = layout.structure.sparse.layers.add().validity
    validity.meaning = SparseValiditySet.NULL_POSITIONS
    validity.positions.constant.SetInParent()
    layout.values.zipped.bits_per_value = 8
    layout.values.zipped.compression.flat.bits_per_value = 8
    array = pa.array([[], [], []], pa.list_(pa.int8()))
    return Positive(
        id="file/2.3/sparse/no-slots",
        title="lists of nothing, and zipped values of which there are none",
        clauses=("L.page.sparse.stored",),
        make=by_hand(column(array), "2.3", {0: [Page(layout, 3, (b"",))]}),
        version="2.3",
        reachable=False,
    )


def _two_pages(uri: str) -> pa.Table:
    """Write a column of two pages, and new values for a row of each."""
    table = pa.table({"a": pa.array(range(8), pa.int64())})
    pylanceref.write_dataset(table, uri, data_storage_version="2.0")
    (path,) = Path(uri, "data").iterdir()
    made = file(table, "2.0", batches=2, data_cache_bytes=1)()
    path.write_bytes(made.files[DATA])
    overlay(uri, 0, [1, 6], pa.table({"a": pa.array([101, 106], pa.int64())}), [0])
    return pa.table({"a": pa.array([0, 101, 2, 3, 4, 5, 106, 7], pa.int64())})


def _unsized(entry: DataFile) -> None:
    entry.ClearField("file_size_bytes")


def _new_lists(uri: str) -> pa.Table:
    """Write lists, and others in the place of two."""
    table = pa.table({"a": pa.array([[1], [2, 3], None, [4]], pa.list_(pa.int16()))})
    pylanceref.write_dataset(table, uri, data_storage_version="2.1")
    new = pa.table({"a": pa.array([[9, 9, 9], None], pa.list_(pa.int16()))})
    overlay(uri, 0, [1, 3], new, [1])
    return pa.table({"a": pa.array([[1], [9, 9, 9], None, None], pa.list_(pa.int16()))})


def _by_reference(make: Callable[[], Made]) -> Callable[[], Made]:
    return lambda: replace(make(), made_by="reference")


def _no_inner_lists(uri: str) -> pa.Table:
    rows = [[[1], []], [], [], []]
    table = pa.table({"l": pa.array(rows, pa.list_(pa.list_(pa.int32())))})
    write(table, uri, **LEGACY, max_rows_per_group=2)
    return table


def _described() -> Made:
    """Take the data file of a table of blobs by itself, and its last descriptors."""
    made = dataset(second_kind)()
    (data,) = (data for name, data in made.files.items() if name.endswith(".lance"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        path.write_bytes(data)
        rows = LanceFileReader(path).take_rows([2, 3]).to_table()
    return Made({DATA: data}, rows)


def _descriptors() -> Positive:
    return Positive(
        id="file/2.2/blob/described",
        title="descriptors of blobs, as the data file has them",
        clauses=("L.blob.kind",),
        make=_described,
        version="2.2",
        args={"rows": ["2", "3"]},
    )


def _packed_ends() -> Positive:
    """Lay the same page out anew, with the ends of its strings in a frame too."""
    texts = pa.array(["alpha beta " * 9, "alpha", None, "beta " * 20])
    table = column(texts, compression="zstd")

    def make() -> Made:
        parsed = open_file(BytesSource(file(table, "2.0")().files[DATA]), Context("written"))
        (held,) = parsed.columns[0].pages
        ends, body = (bytes(parsed.bytes.source.read(*extent)) for extent in held.extents)
        encoding = held.encoding
        assert isinstance(encoding, ArrayEncoding)
        encoding.binary.indices.nullable.no_nulls.values.flat.compression.scheme = "zstd"
        framed = words(len(ends)) + bytes(pa.Codec("zstd").compress(ends, asbytes=True))
        return by_hand(table, "2.0", {0: [Page(encoding, held.num_rows, (framed, body))]})()

    return Positive(
        id="file/2.0/binary/zstd-ends",
        title="ends of strings in a zstd frame, as their bytes are",
        clauses=("L.array.flat.compressed-block", "L.array.ends.width"),
        make=make,
        version="2.0",
        reachable=False,
    )


def _items() -> Positive:
    indices = blocks.flat([0, 1, 0], 8)
    items = blocks.compressed(blocks.flat([5, 6], 64), "zstd")
    laid = chunked("2.1", indices[0], [Chunk(3, (indices[1],))], dictionary=(items, 2))
    return case("zstd-items", "the items of a dictionary in a zstd frame", "2.1",
                pa.array([5, 6, 5], pa.int64()), [laid], "L.codec.general.frame")  # fmt: skip


def _one_row_pages() -> Positive:
    encoding = blocks.flat([0], 64)[0]
    pages = [chunked("2.1", encoding, [Chunk(1, (blocks.flat([at], 64)[1],))]) for at in (7, 8)]
    pages[1] = replace(pages[1], first_row=1)
    return case("one-row-pages", "two pages of a row each", "2.1",
                pa.array([7, 8], pa.int64()), pages, "L.file.pages.priority")  # fmt: skip


POSITIVES: tuple[Positive, ...] = (
    _legacy("dictionary/no-values", "a dictionary of no values, in a table of no rows",
            "dictionary.values", reworked(dataset(_no_words), manifest(_no_length, _SECOND)),
            "dictionary"),
    replace(
        table_case("manifest/early-index-listed", "an index of files of 0.1, which are listed",
                   ("L.index.segment.files", "L.legacy.footer.version"),
                   _sizes(dataset(_early_index)), reachable=False)),
    _none("2.0"),
    _none("2.1"),
    _apart(),
    _one_row_pages(),
    _items(),
    _descriptors(),
    _packed_ends(),
    _cut(),
    _no_slots(),
    replace(_legacy("list/of-lists-none", "a batch of lists that have no lists in them",
                    "list.items", dataset(_no_inner_lists), "list"), reachable=True),
    table_case("overlays/two-pages", "new values for a row of each of two pages",
               ("L.table.overlay.value",),
               _by_reference(reworked(dataset(_two_pages), data_file(_unsized, _SECOND))),
               "2.0"),
    table_case("overlays/lists", "new lists in the place of others", ("L.table.overlay.value",),
               _by_reference(dataset(_new_lists))),
)  # fmt: skip
"""Every positive case of what is rarely there."""


def _no_bytes(message: ColumnMetadata) -> None:
    message.pages[0].buffer_sizes[-1] = 0


def _texts(message: PageLayout) -> None:
    items = message.mini_block_layout.dictionary.general.values
    items.variable.offsets.flat.bits_per_value = 32


def _within(message: Manifest) -> None:
    """Let the transaction be none: zeros inside of the index section."""
    message.transaction_section = 46


def _one_bit(message: PlanarLayout) -> None:
    message.values.indexed.indices.delta.deltas.flat.bits_per_value = 1


def _less(old: bytes) -> bytes:
    return bytes([old[0] - 8]) + old[1:]


NEGATIVES: tuple[Negative, ...] = (
    table_fault("table/any/manifest/early-index-listed", "early-index-manifest",
                "a listed file of an index that holds no manifest", "L.legacy.manifest.position",
                MessageEdit("metadata", _forget_manifest, "_indices/*/page_lookup.lance"),
                kind="lint"),
    fault("file/2.1/arms/one-row-pages", "fill", "a value buffer of eight bytes less",
          "L.page.miniblock.chunk-fill",
          SpanPatch(("chunk 0", "size of value buffer 0"), _less)),
    replace(
        fault("file/2.1/repindex/long-row", "leftover-last", "an entry left over at the end",
              "L.page.repindex.rows",
              SpanPatch(("repetition index", "entries*"), b"\1" + bytes(7), nth=-1))),
    fault("file/2.1/repindex/long-row", "leftover-huge", "2**62 entries left over",
          "L.page.repindex.range",
          SpanPatch(("repetition index", "entries*"), bytes(7) + b"\x40")),
    fault("file/2.1/arms/zstd-items", "no-bytes", "compressed items that have no bytes",
          "L.codec.general.frame", column_edit(_no_bytes)),
    fault("file/2.1/arms/zstd-items", "texts", "items of any length for a column of integers",
          "L.page.leaf.kind", page(_texts)),
    fault("file/2.3/sequences/indices", "delta-bit", "differences of a bit",
          "L.codec.delta.width", MessageEdit("page 0.14", _one_bit)),
    fault("file/2.2/blob/described", "kind-next", "a blob of the kind after the last",
          "L.blob.kind", SpanPatch(("column 0 page 0", "value"), b"\6", nth=0), kind="lint"),
    table_fault("table/any/manifest/two-indices", "sections-overlap",
                "a transaction inside of the index section", "L.table.manifest.overlap",
                manifest(_within, "_versions/18446744073709551612.manifest"), kind="lint"),
)  # fmt: skip
"""Every fault of them."""
