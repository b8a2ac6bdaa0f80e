"""Blobs of the second kind, written: rows become the descriptors that the data file holds.

The counterpart of `blobs`. Small blobs go into the data file at once, larger ones into files
beside it; which is small, thresholds say, the field's own or the usual ones.

Layout: see `blobs`.

Clauses: L.blob.kind, L.blob.range, L.blob.sidecar
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lanceref.errors import DataRefused
from lanceref.file.column_writer import DataArea
from lanceref.file.schema import Field, LanceSchema
from lanceref.nesting import children_of, from_start, mapped, type_over
from lanceref.storage import Store
from lanceref.table.blob_rows import NOWHERE, ExternalBlobs, Payload, Reference, blob_rows
from lanceref.table.blobs import BLOB_DESCRIPTOR, DEDICATED, EXTERNAL, INLINE, PACKED
from lanceref.table.logical import stored_field
from lanceref.table.sidecars import Sidecars

INLINE_BYTES = 1 << 16
DEDICATED_BYTES = 4 << 20
SHARED_BYTES = 1 << 30

THRESHOLD_KEY = "lance-encoding:blob-{}-threshold"
"""Field metadata that holds a threshold in bytes."""

Descriptor = tuple[int, int, int, int, str]
"""Kind, position, size, blob id and URI."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Sizes in bytes: the largest blob inline, the largest in a shared file, the largest such."""

    inline: int
    dedicated: int
    shared: int

    @staticmethod
    def of(field: Field, shared: int | None) -> Thresholds:
        """Return those of a field; `shared` takes precedence. Raises DataRefused."""
        own = _threshold(field, "pack-file-size", SHARED_BYTES, 1)
        return Thresholds(
            _threshold(field, "inline-size", INLINE_BYTES, 0),
            _threshold(field, "dedicated-size", DEDICATED_BYTES, 1),
            own if shared is None else shared,
        )


def _threshold(field: Field, what: str, default: int, least: int) -> int:
    key = THRESHOLD_KEY.format(what)
    text = field.metadata.get(key, str(default))
    if not (text.isascii() and text.isdigit() and least <= int(text) < 2**64):
        wanted = "positive" if least else "non-negative"
        raise DataRefused(
            f"Invalid blob threshold metadata {key}=\"{text}\" for field '{field.name}'; "
            f"expected a {wanted} integer that fits in usize"
        )
    return int(text)


@dataclass(frozen=True, slots=True)
class BlobPolicy:
    """How blobs are stored: the limit of shared files instead of each field's, and URIs."""

    shared_bytes: int | None = None
    external: ExternalBlobs = NOWHERE


IN_PLACE = BlobPolicy()
"""Each field's own limits, and no URIs."""


def holds_blobs(schema: LanceSchema) -> bool:
    """Whether a field of a table is a blob of the second kind."""
    return any(field.is_blob_v2 for field in schema.flat())


def stored_schema(schema: LanceSchema) -> LanceSchema:
    """Return the schema of a data file: descriptors in place of blobs."""
    return replace(schema, fields=tuple(map(stored_field, schema.fields)))


class BlobWriter:
    """Puts the blobs of one data file where they belong. On any error the caller aborts."""

    def __init__(
        self, store: Store, data_file: str, schema: LanceSchema, policy: BlobPolicy
    ) -> None:
        self._schema, self._policy = schema, policy
        self._thresholds = {
            field.id: Thresholds.of(field, policy.shared_bytes)
            for field in schema.flat()
            if field.is_blob_v2
        }
        self._files = Sidecars(store, data_file)

    @property
    def paths(self) -> list[str]:
        """The files beside the data file."""
        return self._files.paths

    def described(self, batch: pa.RecordBatch, data: DataArea) -> pa.RecordBatch:
        """Write the blobs of a batch and return it with descriptors in their place.

        Raises DataRefused for a row that is no blob.
        """
        arrays, fields = [], []
        for field in self._schema.fields:
            index = batch.schema.get_field_index(field.name)
            if index >= 0:  # a missing one is found by the file writer
                arrays.append(self._described(batch.column(index), field, data))
                fields.append(_described_field(batch.schema.field(index), field, arrays[-1]))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def close(self) -> None:
        """Make every file visible."""
        self._files.close()

    def abort(self) -> None:
        """Leave no file behind."""
        self._files.abort()

    def _described(self, array: pa.Array, field: Field, data: DataArea) -> pa.Array:
        if field.is_blob_v2:
            rows = blob_rows(array, field.name, self._policy.external)
            thresholds = self._thresholds[field.id]
            return _array([row and self._store(row, thresholds, data) for row in rows])
        if not any(below.is_blob_v2 for below in field.flat()):
            return array
        array = _unmasked(array.storage if isinstance(array, pa.ExtensionArray) else array)
        below = [
            self._described(child, own, data)
            for child, own in zip(children_of(array), field.children, strict=True)
        ]
        fields = [
            _described_field(array.type.field(number), own, below[number])
            for number, own in enumerate(field.children)
        ]
        return mapped(array, type_over(array.type, fields), lambda number, _: below[number])

    def _store(
        self, row: Payload | Reference, thresholds: Thresholds, data: DataArea
    ) -> Descriptor:
        """Put the bytes of a blob where they belong and return where that is."""
        if isinstance(row, Reference):
            return EXTERNAL, row.position, row.size, row.base, row.uri
        if row.size > thresholds.dedicated:
            return DEDICATED, 0, row.size, self._files.write_alone(row.parts()), ""
        if row.size > thresholds.inline:
            number, at = self._files.write_shared(row.parts(), row.size, thresholds.shared)
            return PACKED, at, row.size, number, ""
        return INLINE, data.write(b"".join(row.parts())).offset, row.size, 0, ""


def _described_field(given: pa.Field, field: Field, array: pa.Array) -> pa.Field:
    return stored_field(field).arrow if field.is_blob_v2 else given.with_type(array.type)


def _unmasked(array: pa.Array) -> pa.Array:
    """Return the array with offset 0, below null structs null, so that nothing there is stored."""
    if not pa.types.is_struct(array.type):
        return from_start(array)
    return pa.StructArray.from_arrays(
        array.flatten(), fields=list(array.type), mask=array.is_null()
    )


_NOTHING: Descriptor = (0, 0, 0, 0, "")


def _array(rows: list[Descriptor | None]) -> pa.Array:
    columns = zip(*[row or _NOTHING for row in rows], strict=True) if rows else [()] * 5
    children = [
        pa.array(list(column), child.type)
        for column, child in zip(columns, BLOB_DESCRIPTOR, strict=True)
    ]
    missing = pa.array(np.array([row is None for row in rows], bool))
    return pa.StructArray.from_arrays(children, fields=list(BLOB_DESCRIPTOR), mask=missing)
