"""Files of 0.1: how cases make them, and where their faults lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa

from lance_conformance.recipes.edits import DATA_FILES, byte
from lance_conformance.recipes.model import Made, SpanPatch
from lance_conformance.recipes.oracle_made import dataset, write


def span(
    *path: str, new: int | bytes | Callable[[bytes], bytes], nth: int = 0, at: int = 0
) -> SpanPatch:
    return SpanPatch(path, new, nth, at, DATA_FILES)


byte_of = partial(byte, target=DATA_FILES)


def i64(*values: int) -> bytes:
    """Return numbers as in the page table."""
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def pages(field_id: int, *, position: int | None = None, length: int | None = None) -> SpanPatch:
    """Change position or length of a field's page in batch 0."""
    value, at = (position, 0) if position is not None else (length, 8)
    assert value is not None
    return span("page table", f"pages of id {field_id}", new=i64(value), at=at)


LEGACY = {"data_storage_version": "legacy"}
INT32 = pa.int32()


def early_table(
    arrays: Mapping[str, pa.Array],
    reads: Mapping[str, list[object]] | None = None,
    **options: object,
) -> Callable[[], Made]:
    """Return a maker of a table; `reads` says what columns read as that come back otherwise."""

    def steps(uri: str) -> pa.Table:
        table = pa.table(dict(arrays))
        write(table, uri, **LEGACY, **options)
        for name, values in (reads or {}).items():
            at = table.schema.get_field_index(name)
            table = table.set_column(at, table.field(at), pa.array(values, table.field(at).type))
        return table

    return dataset(steps)


POINT = pa.struct([("x", pa.int32()), ("name", pa.string())])
