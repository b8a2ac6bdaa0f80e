"""Blobs of the second kind, written: rows become the descriptors that the data file holds.

Small blobs go into the data file at once, larger ones into sidecars: files beside it, each of one
blob or shared by several. Thresholds, the field's own or the usual ones, say which blobs are small.

Layout of a sidecar: the bytes of the blobs, one after the other. Both kinds are numbered together,
from 1 for each data file. See `blob_reader` for descriptors.

Clauses: L.blob.kind, L.blob.range, L.blob.sidecar
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lanceref.blobs.blob_rows import NOWHERE, ExternalBlobs, Payload, blob_rows
from lanceref.core.errors import AppendRefused, DataRefused
from lanceref.data_file.descriptors import (
    DEDICATED,
    INLINE,
    PACKED,
    PREPARED,
    Descriptor,
    described,
    prepared,
    sidecar_path,
)
from lanceref.file.column_io import DataArea
from lanceref.file.schema import Field, LanceSchema
from lanceref.storage import Sink, Store, whole

INLINE_BYTES, DEDICATED_BYTES, SHARED_BYTES = 1 << 16, 4 << 20, 1 << 30
"""Sizes of the largest blob inline, of the largest in a shared file, and of the largest such."""

THRESHOLD_KEY = "lance-encoding:blob-{}-threshold"
"""Field metadata that holds a threshold in bytes."""

THRESHOLDS = (
    ("inline-size", INLINE_BYTES, 0),
    ("dedicated-size", DEDICATED_BYTES, 1),
    ("pack-file-size", SHARED_BYTES, 1),
)
"""What a threshold is of, its usual value, and its least."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Sizes in bytes: the largest blob inline, the largest in a shared file, the largest such."""

    inline: int
    dedicated: int
    shared: int

    @staticmethod
    def of(field: Field, shared: int | None) -> Thresholds:
        """Return those of a field; `shared` takes precedence. Raises DataRefused."""
        inline, dedicated, own = (_threshold(field, *one) for one in THRESHOLDS)
        return Thresholds(inline, dedicated, own if shared is None else shared)


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


def check_thresholds(own: Sequence[Field], given: Sequence[Field]) -> None:
    """Raise AppendRefused for rows that name other thresholds than the fields of a table have."""
    by_name = {field.name: field for field in own}
    for field in given:
        held = by_name.get(field.name)
        if held is None:
            continue
        if not held.is_blob_v2:
            check_thresholds(held.children, field.children)
            continue
        for what, default, least in THRESHOLDS:
            key, effective = THRESHOLD_KEY.format(what), _threshold(held, what, default, least)
            if key in field.metadata and _threshold(field, what, default, least) != effective:
                raise AppendRefused(
                    f"Cannot append data with blob threshold metadata {key}={field.metadata[key]} "
                    f"for field '{field.name}'; the dataset schema has effective value {effective}"
                )


@dataclass(frozen=True, slots=True)
class BlobPolicy:
    """How blobs are stored: the limit of shared files instead of each field's, and URIs."""

    shared_bytes: int | None = None
    external: ExternalBlobs = NOWHERE


IN_PLACE = BlobPolicy()
"""Each field's own limits, and no URIs."""


class Sidecars:
    """Writes the files beside one data file; `paths` lists them. On any error the caller aborts."""

    def __init__(self, store: Store, data_file: str) -> None:
        self._store, self._data_file = store, data_file
        self._shared: Sink | None = None
        self._number = self._most = 0
        self.paths: list[str] = []

    def write_alone(self, payload: Iterable[memoryview]) -> int:
        """Write a file of one blob; return its number."""
        sink = self._create()
        number = len(self.paths)
        with whole(sink):
            for part in payload:
                sink.write(part)
        return number

    def write_shared(
        self, payload: Iterable[memoryview], size: int, most_bytes: int
    ) -> tuple[int, int]:
        """Write `size` bytes after other blobs; return the number of the file and the position.

        A new file begins before the current one would become larger than `most_bytes`, or where
        blobs have another limit than those before.
        """
        sink = self._shared
        if sink is None or most_bytes != self._most or sink.position + size > most_bytes:
            self.close()
            self._shared = sink = self._create()
            self._number, self._most = len(self.paths), most_bytes
        position = sink.position
        for part in payload:
            sink.write(part)
        return self._number, position

    def close(self) -> None:
        """Finish the shared file that is being written, which makes it visible."""
        if self._shared is not None:
            self._shared.close()
        self._shared = None

    def abort(self) -> None:
        """Remove every file that was written so far."""
        if self._shared is not None:
            self._shared.abort()
        for path in self.paths:
            self._store.delete(path)

    def _create(self) -> Sink:
        path = sidecar_path(self._data_file, len(self.paths) + 1)
        sink = self._store.create(path)
        self.paths.append(path)
        return sink


class BlobWriter(Sidecars):
    """Writes the blobs of one data file into it or its sidecars. On any error the caller aborts."""

    def __init__(
        self, store: Store, data_file: str, schema: LanceSchema, policy: BlobPolicy
    ) -> None:
        super().__init__(store, data_file)
        self._schema, self._policy = schema, policy
        self._thresholds = {
            field.id: Thresholds.of(field, policy.shared_bytes)
            for field in schema.flat()
            if field.is_blob_v2
        }

    def described(self, batch: pa.RecordBatch, data: DataArea) -> pa.RecordBatch:
        """Write the blobs of a batch and return it with descriptors in their place.

        Raises DataRefused for a row that is no blob.
        """
        return described(
            batch, self._schema, lambda array, field: self._describe(array, field, data)
        )

    def _describe(
        self, array: pa.Array, field: Field, data: DataArea
    ) -> Iterator[Descriptor | None]:
        if array.type == PREPARED:
            yield from prepared(array, field, data)
            return
        limits = self._thresholds[field.id]
        for row in blob_rows(array, field.name, self._policy.external):
            if not isinstance(row, Payload):
                yield row
            elif row.size > limits.dedicated:
                yield Descriptor(DEDICATED, 0, row.size, self.write_alone(row.parts()))
            elif row.size > limits.inline:
                number, at = self.write_shared(row.parts(), row.size, limits.shared)
                yield Descriptor(PACKED, at, row.size, number)
            else:
                yield Descriptor(INLINE, data.write(b"".join(row.parts())).offset, row.size)
