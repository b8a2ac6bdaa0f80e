"""Data files, written: a stream of rows becomes the files of new fragments.

Each fragment gets one file. From 2.0 on the stream is cut after every `max_rows` rows; a file ends
at a cut, or after a batch, when it has enough rows or bytes. In 0.1 it is cut into groups, and a
file ends after a group. Columns of rows that join a table are matched by name and may come in
another order; a nullable field may be missing anywhere in the tree. The rows take the ids,
nullability and metadata of the table's fields.

Layout (message lance.table.DataFile): see `fragments`. A file is named by a random UUID: three
bytes as binary digits, the others as hexadecimal ones.

Clauses: L.table.datafile.version, L.table.datafile.indices, L.table.datafile.size,
L.table.datafile.no-field, L.table.fragments.rows, L.table.datafile.lookup,
L.table.datafile.missing-field

Divergences: D.table.data-file-fields-leaves
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Protocol

import pyarrow as pa

from lanceref.blobs.blob_writer import IN_PLACE, BlobPolicy, BlobWriter
from lanceref.blobs.descriptors import described_schema, holds_blobs
from lanceref.core.errors import DataRefused, SchemaRefused
from lanceref.core.file_versions import FOOTER_WORDS, V0_1, V2_0, FileVersion
from lanceref.data_file.data_file import column_owners
from lanceref.file.column_io import PagePolicy
from lanceref.file.schema import Field, LanceSchema
from lanceref.proto import table_pb2
from lanceref.storage import Store
from lanceref.storage.protocol import Draft
from lanceref.table.bases import DATA_FOLDER, open_base
from lanceref.table.logical import with_children

MAX_ROWS_PER_FILE = 1 << 20
MAX_BYTES_PER_FILE = 90 << 30
GROUP_ROWS = 1024


@dataclass(frozen=True, slots=True)
class FileLimits:
    """When a file is full: rows, bytes written; `group_rows` are those of a 0.1 batch."""

    max_rows: int = MAX_ROWS_PER_FILE
    max_bytes: int = MAX_BYTES_PER_FILE
    group_rows: int = GROUP_ROWS
    policy: PagePolicy = field(default_factory=PagePolicy)
    blobs: BlobPolicy = IN_PLACE


@dataclass(frozen=True, slots=True)
class Home:
    """Where data files go: a folder of a store, and the id of its base (None: the table's root)."""

    store: Store
    folder: str = DATA_FOLDER
    base_id: int | None = None

    def path(self, name: str) -> str:
        """Return the path of a file below the store's root."""
        return f"{self.folder}/{name}" if self.folder else name


def homes(
    store: Store, uri: str, branch: str, bases: Iterable[table_pb2.BasePath], chosen: Iterable[str]
) -> list[Home]:
    """Return where files go in turn: bases by name or path, the table by its URI; else the table.

    Raises DataRefused for a base that there is not.
    """
    known, found = list(bases), list[Home]()
    for name in chosen:
        named = [base for base in known if base.HasField("name") and base.name == name]
        named += [base for base in known if base.path == name]
        if named:
            folder = DATA_FOLDER if named[0].is_dataset_root else ""
            found.append(Home(open_base(store, named[0], branch), folder, named[0].id))
        elif name == uri:
            found.append(Home(store))
        else:
            raise DataRefused(f"Base reference '{name}' not found in available bases")
    return found or [Home(store)]


class Watcher(Protocol):
    """Receives every new fragment, which has no id yet."""

    def begin(self, fragment: table_pb2.DataFragment) -> None:
        """A data file is about to be written; its size is not known."""

    def complete(self, fragment: table_pb2.DataFragment) -> None:
        """Note that a data file of the fragment is complete."""


@dataclass(slots=True)
class NewFiles:
    """Fragments without ids, and the values of their dictionaries by field id (0.1).

    `paths` are all files, those beside data files too.
    """

    fragments: list[table_pb2.DataFragment] = field(default_factory=list)
    paths: list[tuple[Store, str]] = field(default_factory=list)
    dictionaries: dict[int, pa.Array] = field(default_factory=dict)


def write_files(
    homes: Sequence[Home],
    schema: LanceSchema,
    version: FileVersion,
    batches: Iterable[pa.RecordBatch],
    limits: FileLimits,
    known: Mapping[int, pa.Array],
    watcher: Watcher | None = None,
) -> NewFiles:
    """Write the rows; on any error no file is left. `known` are the table's dictionaries (0.1).

    Files go into the homes in turn. Raises DataRefused and NotStorable for rows that do not fit,
    SchemaRefused for dictionaries of 0.1 that are not those of the files before.
    """
    new = NewFiles(dictionaries=dict(known))
    parts = iter(_parts(batches, limits, version))
    with ExitStack() as undo:
        undo.callback(lambda: Draft(new.paths).discard())
        for home, part in zip(cycle(homes), parts):
            if not schema.fields:
                raise DataRefused("a data file does not contain any fields")
            name = new_name()
            if watcher is not None:
                entry = file_entry(name, schema, version, 0)
                watcher.begin(table_pb2.DataFragment(files=[entry]))
            _write_file(home, name, schema, version, part, parts, limits, new)
            if watcher is not None:
                watcher.complete(new.fragments[-1])
        undo.pop_all()
    return new


def _parts(
    batches: Iterable[pa.RecordBatch], limits: FileLimits, version: FileVersion
) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches that do not cross the end of a file; in 0.1, of a group."""
    rows = min(limits.group_rows, limits.max_rows) if version == V0_1 else limits.max_rows
    room = rows
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, room)
            start, room = start + part.num_rows, (room - part.num_rows) or rows
            yield part


def _write_file(
    home: Home,
    name: str,
    schema: LanceSchema,
    version: FileVersion,
    first: pa.RecordBatch,
    more: Iterator[pa.RecordBatch],
    limits: FileLimits,
    new: NewFiles,
) -> None:
    """Write one file of `first` and what follows until it is full, and add its fragment."""
    from lanceref.data_file.file_writer import FileWriter  # who only reads needs no writer
    from lanceref.file_0_1.writer import LegacyWriter

    path = home.path(name)
    blobs = None
    if any(map(holds_blobs, schema.fields)):
        blobs = BlobWriter(home.store, path, schema, limits.blobs)
    with ExitStack() as undo:
        if blobs is not None:
            undo.callback(blobs.abort)
        sink = home.store.create(path)
        undo.callback(sink.abort)
        writer: FileWriter | LegacyWriter
        if version == V0_1:
            writer = LegacyWriter(sink, schema, limits.group_rows)
        else:
            writer = FileWriter(sink, described_schema(schema), version, limits.policy)
        part: pa.RecordBatch | None = first
        while part is not None:
            if blobs is not None and isinstance(writer, FileWriter):
                part = blobs.described(part, writer)
            writer.write_batch(part)
            full = writer.num_rows >= limits.max_rows or sink.position >= limits.max_bytes
            part = None if full else next(more, None)
        num_rows = writer.finish()
        if isinstance(writer, LegacyWriter):
            _merge(new.dictionaries, writer.dictionaries)
        if blobs is not None:
            blobs.close()
            new.paths += [(home.store, beside) for beside in blobs.paths]
        new.paths.append((home.store, path))
        sink.close()
        undo.pop_all()
    entry = file_entry(name, schema, version, sink.position)
    if home.base_id is not None:
        entry.base_id = home.base_id
    new.fragments.append(table_pb2.DataFragment(files=[entry], physical_rows=num_rows))


def _merge(known: dict[int, pa.Array], more: Mapping[int, pa.Array]) -> None:
    for field_id, values in more.items():
        if not len(known.get(field_id, ())):
            known[field_id] = values
        elif not known[field_id].equals(values):
            what = f"dictionary of field {field_id} did not match"
            raise SchemaRefused(f"Append with different schema: {what}")


def with_dictionaries(schema: LanceSchema) -> LanceSchema:
    """Return the schema with an empty place for the values of each dictionary that is in no map."""

    def placed(field: Field) -> Field:
        where = (0, 0) if field.logical_type.startswith("dict:") else None
        below = field.children if field.logical_type == "map" else map(placed, field.children)
        return replace(field, children=tuple(below), dictionary=where)

    return replace(schema, fields=tuple(map(placed, schema.fields)))


def new_name() -> str:
    """Return a name that no file has."""
    digits = uuid.uuid4().bytes
    return f"{int.from_bytes(digits[:3], 'big'):024b}{digits[3:].hex()}.lance"


def file_entry(
    name: str, schema: LanceSchema, version: FileVersion, size_bytes: int
) -> table_pb2.DataFile:
    """Return how a manifest lists a data file; one of 0.1 begins with the least id.

    Clauses: L.table.datafile.legacy-order
    """
    ids = [owner.id for top in schema.fields for owner in column_owners(top, version)]
    indices = list(range(len(ids)))
    if version == V0_1:  # L.table.datafile.legacy-order
        ids, indices = sorted(one.id for one in schema.flat()), []
    major, minor = version if version == V2_0 else FOOTER_WORDS[version]
    entry = table_pb2.DataFile(path=name, fields=ids, column_indices=indices)
    entry.file_major_version, entry.file_minor_version = major, minor
    entry.file_size_bytes = size_bytes
    return entry


def appended_schema(table: LanceSchema, rows: LanceSchema, version: FileVersion) -> LanceSchema:
    """Return the table's fields that `rows` has, in the order of `rows`. Raises SchemaRefused."""
    fields, problems = _match(table.fields, rows.fields, "")
    if problems:
        raise SchemaRefused(f"Append with different schema: {', '.join(problems)}")
    stored = LanceSchema(fields, table.metadata)
    if version != V0_1:
        return stored
    check_whole({field.id for field in table.flat()}, {field.id for field in stored.flat()})
    order = [field.id for field in table.fields]  # that of the manifest counts
    return replace(stored, fields=tuple(sorted(fields, key=lambda one: order.index(one.id))))


def check_whole(fields: Set[int], stored: Set[int]) -> None:
    """Raise SchemaRefused where files of 0.1 hold not every field of a table."""
    missing = fields - stored
    if missing:
        raise SchemaRefused(f"a 0.1 file holds every field, but {sorted(missing)} are missing")


def _match(
    wanted: Sequence[Field], rows: Sequence[Field], above: str
) -> tuple[tuple[Field, ...], list[str]]:
    """Return the matched fields of `wanted` and what is wrong; `above` is their parent's path."""
    by_name = {field.name: field for field in wanted}
    names = {one.name for one in rows}
    missing = [f"{above}{f.name}" for f in wanted if f.name not in names and not f.nullable]
    unexpected = [f"{above}{f.name}" for f in rows if f.name not in by_name]
    if missing or unexpected:
        listed = f"missing=[{', '.join(missing)}], unexpected=[{', '.join(unexpected)}]"
        return (), [f"fields did not match, {listed}"]
    matched, problems = [], []
    for one in rows:
        own, path = by_name[one.name], f"{above}{one.name}"
        types = own.logical_type, one.logical_type
        if types[0] != types[1]:
            problems.append(f"`{path}` should have type {types[0]} but type was {types[1]}")
            continue
        if own.is_blob_v2 and one.is_blob_v2:  # its rows may lack ranges
            matched.append(own)
            continue
        children, below = _match(own.children, one.children, f"{path}.")
        if below:
            problems.append(f"`{path}` had mismatched children: {', '.join(below)}")
        else:
            matched.append(with_children(own, children))
    return tuple(matched), problems
