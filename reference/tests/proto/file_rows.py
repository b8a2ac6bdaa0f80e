"""Inventory of the data file: every stored column, and what is written in other ways."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa

from ..file.stored_columns import COLUMNS, FEW, INTS, WORDS, StoredColumn
from .row import Row

NUMBERED = pa.table({"a": INTS, "s": WORDS})
PRIMARY, CLUSTERING = (f"lance-schema:unenforced-{kind}-key" for kind in ("primary", "clustering"))
KEYED = pa.schema(
    [
        pa.field("a", pa.int32(), False, {f"{PRIMARY}:position": "1", PRIMARY: "true"}),
        pa.field("s", pa.string(), metadata={f"{CLUSTERING}:position": "1"}),
    ]
)


def _column(folder: Path, stored: StoredColumn) -> None:
    """Write a column in every version that stores it, each batch a page where there are several."""
    from lance.file import LanceFileWriter

    options = {"data_cache_bytes": 1024} if stored.batches > 1 else {}
    for version in stored.versions:
        path = str(folder / f"{version}.lance")
        with LanceFileWriter(path, stored.schema, version=version, **options) as writer:
            for part in stored.parts():
                writer.write_batch(part)


def _table(folder: Path, table: pa.Table) -> None:
    from lance.file import LanceFileWriter

    path = str(folder / "file.lance")
    with LanceFileWriter(path, table.schema, version="2.0") as writer:
        writer.write_batch(table)
        writer.add_global_buffer(b"anything")
        writer.add_schema_metadata("key", "value")


def _legacy(folder: Path, table: pa.Table, columns: dict[str, str] | None = None) -> None:
    import lance

    options = {"data_storage_version": "legacy", "max_rows_per_group": 100}
    dataset = lance.write_dataset(table, folder / "legacy.lance", **options)
    if columns:
        dataset.add_columns(columns)


def _blob_v2(folder: Path) -> None:
    import lance
    from lance.blob import blob_array, blob_field

    schema = pa.schema([blob_field("b")])
    table = pa.table([blob_array([b"hello", None, b"", b"x" * 70_000])], schema=schema)
    lance.write_dataset(table, folder / "blobs.lance", data_storage_version="2.2")


def _big_chunks(folder: Path) -> None:
    """Write where the number of values a chunk may hold is read from the environment."""
    code = (
        "import pyarrow as pa, sys\n"
        "from lance.file import LanceFileWriter\n"
        "field = pa.field('c', pa.uint8(), metadata={'lance-encoding:compression': 'none'})\n"
        "table = pa.table([pa.array(bytes(range(251)) * 100, pa.uint8())], pa.schema([field]))\n"
        "with LanceFileWriter(sys.argv[1], table.schema, version='2.2') as writer:\n"
        "    writer.write_batch(table)\n"
    )
    command = [sys.executable, "-c", code, str(folder / "file.lance")]
    subprocess.run(command, check=True, env={**os.environ, "LANCE_MINIBLOCK_MAX_VALUES": "32768"})


CODED = pa.table({"d": FEW.dictionary_encode()})
BATCHES = ("Metadata.batch_offsets", "Metadata.manifest_position")
ROWS = {
    **{name: Row(partial(_column, stored=one), *one.shows) for name, one in COLUMNS.items()},
    "global buffer and metadata": Row(
        partial(_table, table=NUMBERED.replace_schema_metadata({"k": "v"})), "Schema.metadata"
    ),
    "primary and clustering key": Row(
        partial(_table, table=NUMBERED.cast(KEYED)),
        "Field.unenforced_primary_key",
        "Field.unenforced_primary_key_position",
        "Field.unenforced_clustering_key_position",
    ),
    "blobs of the second kind": Row(_blob_v2, "VariablePackedStruct.fields"),
    "big chunks": Row(_big_chunks, "PageLayout.mini_block_layout"),
    "0.1": Row(partial(_legacy, table=NUMBERED), *BATCHES, "StatisticsMetadata.schema"),
    "0.1 with later field ids": Row(
        partial(_legacy, table=NUMBERED, columns={"d": "a + 1"}), *BATCHES
    ),
    "0.1 dictionary": Row(partial(_legacy, table=CODED), *BATCHES, "Dictionary.offset"),
}

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
    "encodings21.Flat.data": "decoders ignore it",
    "encodings21.Variable.values": "decoders ignore it",
    "InlineBitpacking.values": "decoders ignore it",
}
