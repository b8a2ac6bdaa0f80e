"""Inventory of the file container, the 2.0 encodings, and 0.1 files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from .row import Row, one_file, write_file

INTS = pa.array(range(300), pa.int32())
GAPS = pa.array([None if i % 3 == 1 else i for i in range(300)], pa.int32())
WORDS = pa.array([f"word number {i}" for i in range(300)])
FEW = pa.array(["a", "b", None, "c", "d"] * 60)
LISTS = pa.array([[1, 2], None, [], [3, None]] * 50, pa.list_(pa.int32()))
PAIRS = pa.struct([pa.field("x", pa.int16(), False), pa.field("y", pa.float64(), False)])
PAIR_ROWS = pa.array([{"x": i, "y": i / 2} for i in range(200)], PAIRS)
NUMBERED = pa.table({"a": INTS, "s": WORDS})
KEYED = pa.schema(
    [
        pa.field(
            "a", pa.int32(), False, metadata={"lance-schema:unenforced-primary-key:position": "1",
                                              "lance-schema:unenforced-primary-key": "true"}
        ),
        pa.field(
            "s", pa.string(), metadata={"lance-schema:unenforced-clustering-key:position": "1"}
        ),
    ]
)  # fmt: skip


def _global_buffer(folder: Path) -> None:
    from lance.file import LanceFileWriter

    with LanceFileWriter(str(folder / "file.lance"), NUMBERED.schema, version="2.0") as writer:
        writer.write_batch(NUMBERED)
        writer.add_global_buffer(b"anything")
        writer.add_schema_metadata("key", "value")


def _legacy(table: pa.Table, columns: dict[str, str] | None = None) -> Row:
    def make(folder: Path) -> None:
        import lance

        uri = folder / "legacy.lance"
        dataset = lance.write_dataset(
            table, uri, data_storage_version="legacy", max_rows_per_group=100
        )
        if columns:
            dataset.add_columns(columns)

    return Row(make, "Metadata.batch_offsets", "Metadata.manifest_position")


def _with_shows(row: Row, *shows: str) -> Row:
    return Row(row.make, *row.shows, *shows)


def _fsl(nulls: bool) -> pa.Array:
    rows = [None if nulls and i % 4 == 1 else [i, None if nulls else 0.0] for i in range(100)]
    return pa.array(rows, pa.list_(pa.float32(), 2))


ROWS = {
    "2.0 footer 0.3": one_file(INTS, "2.0", "FileDescriptor.length", "Flat.bits_per_value"),
    "user global buffer": Row(_global_buffer, "Schema.metadata"),
    "schema metadata": Row(
        lambda folder: write_file(folder, NUMBERED.replace_schema_metadata({"k": "v"}), "2.0"),
        "Schema.metadata",
    ),
    "padding": one_file(pa.array([1], pa.int8()), "2.0", "Page.buffer_sizes"),
    "no pages": one_file(INTS.slice(0, 0), "2.0", "ColumnEncoding.values"),
    "no_nulls": one_file(INTS, "2.0", "Nullable.no_nulls"),
    "some_nulls": one_file(GAPS, "2.0", "SomeNull.validity", "SomeNull.values"),
    "all_nulls": one_file(pa.nulls(9, pa.int32()), "2.0", "Nullable.all_nulls"),
    "null type": one_file(pa.nulls(9), "2.0", "Nullable.all_nulls"),
    "bool": one_file(pa.array([True, False] * 20).slice(13, 19), "2.0", "Nullable.no_nulls"),
    "binary with nulls": one_file(
        pa.array(["a", None, "", "bcd"]), "2.0", "Binary.indices", "Binary.null_adjustment"
    ),
    "auto dictionary": one_file(FEW, "2.0", "Dictionary.num_dictionary_items"),
    "arrow dictionary": one_file(FEW.dictionary_encode(), "2.0", "Dictionary.items"),
    "list": one_file(LISTS, "2.0", "List.null_offset_adjustment", "List.num_items"),
    "list of lists": one_file(
        pa.array([[[1], []], None] * 20, pa.list_(pa.list_(pa.int8()))), "2.0", "List.offsets"
    ),
    "list of structs": one_file(
        pa.array([[{"a": 1}], []] * 20, pa.list_(pa.struct([("a", pa.int8())]))),
        "2.0",
        "ArrayEncoding.struct",
    ),
    "fixed-size list": one_file(_fsl(False), "2.0", "FixedSizeList.dimension"),
    "fixed-size list with nulls": one_file(_fsl(True), "2.0", "FixedSizeList.items"),
    "struct header": one_file(
        pa.array([{"a": 1}] * 9, pa.struct([("a", pa.int8())])), "2.0", "ArrayEncoding.struct"
    ),
    "packed struct": one_file(
        PAIR_ROWS, "2.0", "PackedStruct.inner", "PackedStruct.buffer", metadata={"packed": "true"}
    ),
    "blob": one_file(
        pa.array([b"abc", None, b""], pa.large_binary()), "2.0", "Blob.inner", blob="true"
    ),
    "zstd strings": one_file(
        WORDS, "2.0", "Compression.scheme", "Compression.level",
        compression="zstd", compression_level="9",
    ),
    "lz4 strings": one_file(WORDS, "2.0", "Compression.scheme", compression="lz4"),
    "fsst": one_file(
        pa.array([f"https://example.org/{i}" for i in range(3000)]),
        "2.0", "Fsst.symbol_table", "Fsst.binary", compression="fsst",
    ),
    "many pages": one_file(INTS, "2.0", "ColumnMetadata.pages", batches=4),
    "multi-page list": one_file(LISTS, "2.0", "List.num_items", batches=4),
    "field ids": one_file(INTS, "2.0", "Field.id", metadata={"lance:field_id": "7"}),
    "extension type": one_file(
        pa.array([b"ab"], pa.binary(2)), "2.0", "Field.extension_name", "Field.metadata",
        metadata={"ARROW:extension:name": "lance.bfloat16"},
    ),
    "primary and clustering key": Row(
        lambda folder: write_file(folder, NUMBERED.cast(KEYED), "2.0"),
        "Field.unenforced_primary_key",
        "Field.unenforced_primary_key_position",
        "Field.unenforced_clustering_key_position",
    ),
    "0.1 file": _legacy(NUMBERED),
    "0.1 statistics": _with_shows(_legacy(NUMBERED), "StatisticsMetadata.schema"),
    "0.1 later field ids": _legacy(NUMBERED, {"d": "a + 1"}),
    "0.1 dictionary": _with_shows(
        _legacy(pa.table({"d": FEW.dictionary_encode()})), "Dictionary.offset"
    ),
}  # fmt: skip

NOT_WRITTEN = {
    "ArrayEncoding.bitpacked": "no writer of 2.0 chooses it",
    "ArrayEncoding.bitpacked_for_non_neg": "no writer of 2.0 chooses it",
    "ArrayEncoding.fixed_size_binary": "no writer of 2.0 chooses it",
    "ArrayEncoding.constant": "the oracle neither writes nor reads it",
    "ColumnEncoding.zone_index": "the oracle neither writes nor reads it",
    "Encoding.none": "the oracle neither writes nor reads it",
    "Encoding.indirect": "the oracle neither writes nor reads it",
    "Buffer.buffer_type": "buffers of a column are read, those of a file not; both never written",
    "ColumnMetadata.buffer_sizes": "buffers of a column are read, never written",
    "file.Field.type": "parents, lists and leaves alike say 0",
    "file.Field.unenforced_clustering_key": "the position says it alone",
}
