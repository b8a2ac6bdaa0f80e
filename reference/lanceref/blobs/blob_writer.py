"""Blobs of the second kind, written: rows become the descriptors that the data file holds.

Small blobs go into the data file at once, larger ones into sidecars: files beside it, each of one
blob or shared by several. Thresholds, the field's own or the usual ones, say which blobs are small.

Layout of a sidecar: the bytes of the blobs, one after the other. Both kinds are numbered together,
from 1 for each data file. See `descriptors` for descriptors.

Each row that is written is bytes, or the URI of an object with an optional range of it. A URI
remains a reference when the table may hold it, or its bytes are taken into the table. From 2.2 on a
table has blobs of the second kind only, so that a field of the first kind, or one whose rows are
descriptors already, is declared as one.

Layout of a row: a struct of `data` large_binary and `uri` utf8, of which a row sets exactly one;
optionally `position` and `size` uint64, both or neither, beside a URI only. Or just the bytes.

Layout of a declared field: a struct under the extension name `lance.blob.v2` of `data` and `uri`,
with `position` and `size` where the rows may have them.

Clauses: L.blob.kind, L.blob.range, L.blob.sidecar
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lanceref.blobs import descriptors
from lanceref.core.errors import DataRefused, NotFound, NotStorable, SchemaRefused
from lanceref.core.file_versions import V2_2, FileVersion
from lanceref.file.column_io import DataArea
from lanceref.file.schema import BLOB_EXTENSION, EXTENSION_KEY, Field, LanceSchema
from lanceref.file.schema_view import storage_of, type_over
from lanceref.proto import table_pb2
from lanceref.storage import Sink, Source, Store, StoreOptions, open_store, whole
from lanceref.storage.protocol import NO_OPTIONS

PART_BYTES = 8 << 20
"""Bytes of an object that are held at a time while it is copied."""


@dataclass(frozen=True, slots=True)
class Payload:
    """Bytes that go into the table: `data`, or a range of an object."""

    size: int
    data: memoryview | None = None
    source: Source | None = None
    position: int = 0

    def parts(self) -> Iterator[memoryview]:
        """Yield the bytes. Raises DataRefused when the object ends too early."""
        if self.data is not None:
            yield self.data
        if self.source is None:
            return
        for start in range(0, self.size, PART_BYTES):
            wanted = min(PART_BYTES, self.size - start)
            part = self.source.read(self.position + start, wanted)
            if len(part) < wanted:
                raise DataRefused(f"{self.source.path}: failed to fill whole buffer")
            yield part


@dataclass(frozen=True, slots=True)
class BlobPolicy:
    """How blobs are stored, and what becomes of URIs.

    `shared_bytes` is the limit of shared files instead of each field's. What URIs name is taken
    into the table (`ingest`, reached by `options`), or they are kept, below `bases` or `anywhere`.
    """

    shared_bytes: int | None = None
    ingest: bool = False
    anywhere: bool = False
    bases: tuple[table_pb2.BasePath, ...] = ()
    options: StoreOptions = NO_OPTIONS


IN_PLACE = BlobPolicy()
"""Each field's own limits, and no URIs."""


def blob_rows(
    array: pa.Array, name: str, policy: BlobPolicy
) -> Iterator[Payload | descriptors.Descriptor | None]:
    """Yield the rows of a blob column, None for a null. Raises DataRefused for a row that is none.

    `name` is that of the field, for errors.
    """
    if not pa.types.is_struct(array.type):
        yield from _payloads(array)
        return
    columns = {child.name: array.field(n) for n, child in enumerate(array.type)}
    if not {"data", "uri"} <= columns.keys():
        raise DataRefused(
            f"Blob v2 field '{name}' has {', '.join(columns)} but not `data` and `uri`: what is "
            "read as descriptions holds no bytes; read it with blob_handling='all_binary'"
        )
    data = _payloads(columns["data"].cast(pa.large_binary()))
    names = ("uri", "position", "size", "kind", "blob_id")
    others = (columns.get(name, pa.nulls(len(array))) for name in names)
    rows = zip(array.is_valid().to_pylist(), data, *(one.to_pylist() for one in others))
    for row, (valid, payload, uri, position, size, kind, base) in enumerate(rows):
        if kind is not None:
            yield descriptors.Descriptor(kind, position, size, base, uri)
            continue
        problem = _problem(payload, uri, position, size) if valid else ""
        if problem:
            raise DataRefused(f"Blob v2 field '{name}' row {row} {problem}")
        if not valid:
            yield None
        else:
            yield payload if uri is None else _external(uri, position, size, policy)


def _problem(
    payload: Payload | None, uri: str | None, position: int | None, size: int | None
) -> str:
    """Say what is wrong with a row, nothing when it is a blob."""
    if (position is None) != (size is None):
        return "must set both `position` and `size`, or neither"
    if position is not None and uri is None:
        return "sets `position` and `size` but `uri` is null"
    if (payload is None) == (uri is None):
        return "must set exactly one of `data` and `uri`"
    return "external range `size` must be greater than zero" if size == 0 else ""


def _payloads(array: pa.Array) -> Iterator[Payload | None]:
    for value in array:
        data = value.as_buffer()
        yield None if data is None else Payload(data.size, memoryview(data))


def _external(
    uri: str, position: int | None, size: int | None, policy: BlobPolicy
) -> Payload | descriptors.Descriptor:
    if policy.ingest:
        try:
            source = open_store(uri, policy.options).open("")
        except (NotFound, OSError) as error:
            raise DataRefused(f"Not found: {uri}") from error
        return Payload(source.size if size is None else size, None, source, position or 0)
    for base in policy.bases:
        below = _below(uri, base)
        if below is not None:
            return descriptors.Descriptor(
                descriptors.EXTERNAL, position or 0, size or 0, base.id, below
            )
    if not policy.anywhere:
        raise DataRefused(
            f"External blob URI '{uri}' is outside registered external bases (dataset root is not "
            "allowed). Set allow_external_blob_outside_bases=true to store it as absolute external "
            "URI."
        )
    if ":" not in uri:
        raise DataRefused(
            f"External URI '{uri}' is outside registered external bases and is not a valid "
            "absolute URI"
        )
    return descriptors.Descriptor(descriptors.EXTERNAL, position or 0, size or 0, 0, uri)


def _below(uri: str, base: table_pb2.BasePath) -> str | None:
    """Return a URI relative to a base that is no root of a table; None when it lies elsewhere."""
    root, path = (one.removeprefix("file://") for one in (base.path.rstrip("/") + "/", uri))
    if base.is_dataset_root or not path.startswith(root) or path == root:
        return None
    return path.removeprefix(root)


BLOB_KEY = "lance-encoding:blob"
"""Metadata of a field of the first kind."""

SHORT = pa.struct([("data", pa.large_binary()), ("uri", pa.utf8())])
LONG = pa.struct([*SHORT, pa.field("position", pa.uint64()), pa.field("size", pa.uint64())])


def declared_schema(schema: pa.Schema, version: FileVersion) -> pa.Schema:
    """Return the schema of a table for incoming rows. Raises NotStorable and DataRefused."""
    return pa.schema([_declared(field, version) for field in schema], schema.metadata)


def _declared(field: pa.Field, version: FileVersion) -> pa.Field:
    type_, metadata = storage_of(field)
    nested = [] if pa.types.is_dictionary(type_) else _children(type_)
    if metadata.get(EXTENSION_KEY) == BLOB_EXTENSION:
        if version < V2_2:
            raise NotStorable(f"Blob v2 requires file version >= 2.2 (got {version})")
        if type_ not in (SHORT, LONG, descriptors.PREPARED):
            raise DataRefused(
                f"Blob v2 field '{field.name}' has unrecognized layout "
                f"{[child.name for child in nested]}; expected logical or prepared layout"
            )
        return pa.field(field.name, LONG if type_ == LONG else SHORT, field.nullable, metadata)
    if version >= V2_2 and metadata.get(BLOB_KEY, "").lower() == "true":
        del metadata[BLOB_KEY]
        metadata[EXTENSION_KEY] = BLOB_EXTENSION
        return pa.field(field.name, SHORT, field.nullable, metadata)
    below = [] if pa.types.is_dictionary(field.type) else _children(field.type)
    declared = [_declared(child, version) for child in below]
    return field if declared == below else field.with_type(type_over(field.type, declared))


def _children(type_: pa.DataType) -> list[pa.Field]:
    return [type_.field(n) for n in range(type_.num_fields)]


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
    """Raise SchemaRefused for rows that name other thresholds than the fields of a table have."""
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
                raise SchemaRefused(
                    f"Cannot append data with blob threshold metadata {key}={field.metadata[key]} "
                    f"for field '{field.name}'; the dataset schema has effective value {effective}"
                )


class BlobWriter:
    """Writes the blobs of one data file into it or files beside it, which `paths` lists.

    On any error the caller aborts.
    """

    def __init__(
        self, store: Store, data_file: str, schema: LanceSchema, policy: BlobPolicy
    ) -> None:
        self._store, self._data_file, self._schema = store, data_file, schema
        self._policy = policy
        blobs = [field for field in schema.flat() if field.is_blob_v2]
        self._thresholds = {
            one.id: [_threshold(one, *limit) for limit in THRESHOLDS] for one in blobs
        }
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
        path = descriptors.sidecar_path(self._data_file, len(self.paths) + 1)
        sink = self._store.create(path)
        self.paths.append(path)
        return sink

    def described(self, batch: pa.RecordBatch, data: DataArea) -> pa.RecordBatch:
        """Write the blobs of a batch and return it with descriptors in their place.

        Raises DataRefused for a row that is no blob.
        """
        return descriptors.described(
            batch, self._schema, lambda array, field: self._describe(array, field, data)
        )

    def _describe(
        self, array: pa.Array, field: Field, data: DataArea
    ) -> Iterator[descriptors.Descriptor | None]:
        if array.type == descriptors.PREPARED:
            yield from descriptors.prepared(array, field, data)
            return
        inline, dedicated, shared = self._thresholds[field.id]
        shared = shared if self._policy.shared_bytes is None else self._policy.shared_bytes
        for row in blob_rows(array, field.name, self._policy):
            if not isinstance(row, Payload):
                yield row
            elif row.size > dedicated:
                number = self.write_alone(row.parts())
                yield descriptors.Descriptor(descriptors.DEDICATED, 0, row.size, number)
            elif row.size > inline:
                number, at = self.write_shared(row.parts(), row.size, shared)
                yield descriptors.Descriptor(descriptors.PACKED, at, row.size, number)
            else:
                at = data.write(b"".join(row.parts())).offset
                yield descriptors.Descriptor(descriptors.INLINE, at, row.size)
