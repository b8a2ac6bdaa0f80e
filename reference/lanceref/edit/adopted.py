"""Adopted files: data files that somebody else wrote, described for a table.

The columns of such a file are fields of the table by their names; where the file lies, a base
decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from lanceref.context import Context
from lanceref.errors import AppendRefused, FormatError, NotFound
from lanceref.file.data_file import open_file
from lanceref.file.schema import LanceSchema
from lanceref.proto import table_pb2
from lanceref.snapshot import Snapshot
from lanceref.table.appended import appended_schema
from lanceref.table.bases import Bases
from lanceref.table.data_files import file_entry


@dataclass(frozen=True, slots=True)
class Adopted:
    """A data file as a manifest would list it, which fields it holds and how many rows."""

    entry: table_pb2.DataFile
    schema: LanceSchema
    num_rows: int


def adopt(snapshot: Snapshot, path: str, base_id: int | None = None) -> Adopted:
    """Open a data file below the data folder and match its columns with the table's fields.

    Raises NotFound, AppendRefused for a column that is none of the table, FormatError.
    """
    bases = Bases(snapshot.store, snapshot.manifest)
    try:
        source = bases.open_data_file(path, base_id)
    except FormatError as error:
        raise NotFound(f"Not found: {path}") from error
    opened = open_file(source, Context(PurePosixPath(path).name, limits=snapshot.ctx.limits))
    stored = opened.descriptor.schema
    schema = appended_schema(snapshot.manifest.schema, stored, opened.version)
    entry = file_entry(path, schema, opened.version, source.size)
    if base_id is not None:
        entry.base_id = base_id
    return Adopted(entry, schema, opened.num_rows)


def adopt_whole(snapshot: Snapshot, path: str) -> Adopted:
    """Open a data file that has every field of a table. Raises AppendRefused, as above too."""
    found = adopt(snapshot, path)
    held = {field.id for field in found.schema.flat()}
    missing = [field.name for field in snapshot.manifest.schema.flat() if field.id not in held]
    if missing:
        raise AppendRefused(
            f"Append with different schema: fields did not match, missing=[{', '.join(missing)}]"
        )
    return found
