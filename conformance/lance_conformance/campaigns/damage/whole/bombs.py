"""Bombs: what no single field makes: a few bytes for very many rows, pages, fields or files."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from lanceref.proto import file_pb2, table_pb2

from lance_conformance.campaigns.damage.whole.fields import edited, full_bitmap, latest, size_of
from lance_conformance.campaigns.damage.whole.sources import data_file, pages_of, tell_size

MOST_PAGES = 10_000
MOST_FIELDS = 10_000


def deletions(root: Path, rng: Random) -> str:
    """Name a deletion file that stands for far more rows than there are."""
    count = size_of(rng, 1, 65536)
    with edited(latest(root)) as message:
        fragment = rng.choice(message.fragments)
        entry = fragment.deletion_file
        kind = rng.choice((entry.BITMAP, entry.ARROW_ARRAY))
        entry.file_type, entry.read_version, entry.id = kind, 1, 7
        entry.num_deleted_rows = rng.choice((1, 5, count * 65536, 2**63))
        if rng.random() < 0.3:
            fragment.physical_rows = rng.choice((count * 65536 + 1, 2**32, 2**63))
        message.reader_feature_flags |= 1
        message.writer_feature_flags |= 1
    end = "bin" if kind == table_pb2.DeletionFile.BITMAP else "arrow"
    path = root / "_deletions" / f"{fragment.id}-1-7.{end}"
    path.parent.mkdir(exist_ok=True)
    if end == "bin":
        path.write_bytes(full_bitmap(count))
    else:
        _arrow_bomb(path, count * 500, rng.choice(("zstd", "lz4")))
    return f"{count} {end}"


def _arrow_bomb(path: Path, count: int, codec: str) -> None:
    zeros = pa.array(np.zeros(count, np.uint32))
    schema = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, schema, options=options) as ipc:
        ipc.write_batch(pa.record_batch([zeros], schema=schema))


def repeated_pages(root: Path, rng: Random) -> str:
    """Name a page of a data file again and again, in one column or in all."""
    path, count = data_file(root, rng), size_of(rng, 2, MOST_PAGES)
    columns = range(len(pages_of(path)))
    chosen = columns if rng.random() < 0.7 else [rng.choice(columns)]
    rows = 0
    for number in columns:
        with edited(path, f"column {number}") as column:
            if number in chosen and column.pages:
                column.pages.extend([column.pages[0]] * (count - 1))
            priority = 0
            for page in column.pages:
                page.priority, priority = priority, priority + page.length
        rows = max(rows, priority)
    with edited(path, "descriptor") as descriptor:
        descriptor.length = rows
    tell_size(root, path, rows)
    return f"{count} in {len(chosen)} of {len(columns)} columns"


def strange_schema(root: Path, rng: Random) -> str:
    """Nest fields deeply, in a circle, or add very many of them."""
    kind = rng.choice(("structs", "lists", "circle", "wide", "same id", "same name"))
    count = size_of(rng, 2, 50 if kind == "circle" else MOST_FIELDS)
    types = {"structs": "struct", "lists": "list", "circle": "struct"}
    with edited(latest(root)) as message:
        fields = message.fields
        first = 1 + max(field.id for field in fields)
        deep = kind in types
        for number in range(count):
            one = fields.add(id=first + number, name=f"f{number}", nullable=True)
            one.parent_id = first + number - 1 if deep and number else -1
            one.logical_type = types.get(kind, "int64")
            one.type = file_pb2.Field.PARENT if deep else file_pb2.Field.LEAF
            one.name = "id" if kind == "same name" else one.name
            one.id = first if kind == "same id" else one.id
        fields[-1].logical_type = "int64"
        if kind == "circle":
            fields[-count].parent_id = fields[-1].id
        message.max_allocated_field_id = first + count
    return f"{count} {kind}"


def strange_bases(root: Path, rng: Random) -> str:
    """Add base paths that lead to devices, in circles or nowhere, and let files lie there."""
    places = ("/dev", "/proc/self", ".", "..", "", "\0", "x" * 5000, str(root), f"{root}/data/..")
    count = size_of(rng, 1, 5000)
    with edited(latest(root)) as message:
        for number in range(count):
            one = message.base_paths.add(id=rng.choice((number, 1)), path=rng.choice(places))
            one.is_dataset_root = rng.random() < 0.5
        for fragment in message.fragments:
            for one in fragment.files:
                one.base_id = rng.choice((0, 1, count, 2**32 - 1))
        message.reader_feature_flags |= 16
        message.writer_feature_flags |= 16
    return f"{count}"
