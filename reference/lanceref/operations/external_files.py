"""Adopted files: data files that somebody else wrote, described for a table.

The columns of such a file are fields of the table by their names; where the file lies, a base
decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from lanceref.core.context import Context
from lanceref.core.errors import AppendRefused, FormatError, NotFound
from lanceref.data_file.data_file import open_file
from lanceref.data_file.descriptors import BLOB_DESCRIPTOR
from lanceref.file.schema import Field, LanceSchema
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot
from lanceref.table.bases import Bases
from lanceref.table.data_files import appended_schema, file_entry


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
    own, stored = snapshot.manifest.schema, opened.descriptor.schema
    declared = replace(stored, fields=_declared(stored.fields, own.fields))
    schema = appended_schema(own, declared, opened.version)
    entry = file_entry(path, schema, opened.version, source.size)
    if base_id is not None:
        entry.base_id = base_id
    return Adopted(entry, schema, opened.num_rows)


def _declared(stored: Sequence[Field], own: Sequence[Field]) -> tuple[Field, ...]:
    """Return stored fields, those of blob descriptors as the table declares them."""
    by_name = {field.name: field for field in own}
    found = []
    for field in stored:
        wanted = by_name.get(field.name)
        if wanted is not None and wanted.is_blob_v2 and field.arrow.type == BLOB_DESCRIPTOR:
            found.append(wanted)
        elif wanted is not None and field.children and not wanted.is_blob_v2:
            children = _declared(field.children, wanted.children)
            found.append(replace(field, children=children))
        else:
            found.append(field)
    return tuple(found)


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
