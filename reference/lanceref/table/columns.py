"""Columns of a fragment: the table's fields, looked up in the fragment's files by id.

Clauses: L.table.datafile.lookup, L.table.datafile.missing-field, L.table.fragments.rows,
L.table.datafile.size
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.context import Context
from lanceref.errors import FormatError, UnknownVersion
from lanceref.file.batches import Recutter
from lanceref.file.column_reader import RUN_BYTES, ColumnReader
from lanceref.file.data_file import DataFile, open_file
from lanceref.file.layout import column_owners
from lanceref.file.schema import Field
from lanceref.file.versions import V0_1
from lanceref.table.bases import Bases
from lanceref.table.fragments import FileOfFragment, Fragment


class NullColumn:
    """A field that no file of the fragment holds."""

    def __init__(self, type_: pa.DataType, num_rows: int) -> None:
        self.type = type_
        self.num_rows = num_rows

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield nulls, a run at a time."""
        for at in range(start, end, RUN_BYTES):
            yield pa.nulls(min(RUN_BYTES, end - at), self.type)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return as many nulls as rows are asked for."""
        return pa.nulls(len(rows), self.type)

    def check(self) -> None:
        """There is nothing to check."""


class SplitStruct:
    """A struct whose fields lie in several files, or in none."""

    def __init__(self, type_: pa.DataType, parts: list[ColumnReader], num_rows: int) -> None:
        self.type = type_
        self.num_rows = num_rows
        self._parts = parts

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield structs put together from the parts, cut where the first part is."""
        first, *others = self._parts
        rest = [Recutter(part.scan(start, end)) for part in others]
        for array in first.scan(start, end):
            yield self._join([array, *(part.next(len(array)) for part in rest)])

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows of every part, put together."""
        return self._join([part.take(rows) for part in self._parts])

    def check(self) -> None:
        """Check every part."""
        for part in self._parts:
            part.check()

    def _join(self, parts: list[pa.Array]) -> pa.Array:
        """Each part is a struct of some of the fields; the first says which rows are null."""
        found = {
            part.type.field(i).name: part.field(i)
            for part in parts
            for i in range(part.type.num_fields)
        }
        children = [found.get(f.name, pa.nulls(len(parts[0]), f.type)) for f in self.type]
        return pa.StructArray.from_arrays(children, fields=list(self.type), mask=parts[0].is_null())


class FragmentReader:
    """Opens the files of one fragment when they are needed, each once."""

    def __init__(self, fragment: Fragment, bases: Bases, ctx: Context) -> None:
        self.fragment = fragment
        self._bases = bases
        self._ctx = ctx
        self._opened: dict[str, DataFile] = {}

    @property
    def physical_rows(self) -> int:
        """Rows of the fragment, deleted ones included; old manifests leave it to the files."""
        if self.fragment.physical_rows or not self.fragment.files:
            return self.fragment.physical_rows
        return self.open(self.fragment.files[0]).num_rows

    def open(self, file: FileOfFragment) -> DataFile:
        """Open one data file and hold it against what the manifest says of it."""
        if file.path not in self._opened:
            self._opened[file.path] = self._open(file)
        return self._opened[file.path]

    def _open(self, file: FileOfFragment) -> DataFile:
        source = self._bases.open_data_file(file.path, file.base_id)
        ctx = replace(self._ctx, file=PurePosixPath(file.path).name)
        place = ctx.at(0, source.size)
        if file.version == V0_1:
            raise UnknownVersion(
                "L.table.datafile.version", place, found="a 0.1 file", wanted="2.0 or later"
            )
        if file.size_bytes and file.size_bytes != source.size:
            ctx.refuse(
                FormatError(
                    "L.table.datafile.size",
                    place,
                    found=f"{source.size} bytes",
                    wanted=f"{file.size_bytes}, as the manifest says",
                )
            )
        opened = open_file(source, ctx)
        if opened.footer.version != file.version:
            ctx.refuse(
                FormatError(
                    "L.table.datafile.version",
                    place,
                    found=f"a file of {opened.footer.version}",
                    wanted=f"{file.version}, as the manifest says",
                )
            )
        stated = self.fragment.physical_rows
        if stated and opened.num_rows != stated:
            ctx.refuse(
                FormatError(
                    "L.table.fragments.rows",
                    place,
                    found=f"a file of {opened.num_rows} rows",
                    wanted=f"{stated}, the rows of fragment {self.fragment.id}",
                )
            )
        return opened

    def column(self, field: Field) -> ColumnReader:
        """Return the reader of a field of the table's schema in this fragment."""
        holders = [file for file in self.fragment.files if self._holds(file, field)]
        if not holders:
            return NullColumn(field.arrow.type, self.physical_rows)
        if len(holders) == 1 and self._holds_all(holders[0], field):
            return self.open(holders[0]).open_field(field, holders[0].columns)
        parts: list[ColumnReader] = []
        for file in holders:
            part = self._prune(field, file)
            parts.append(self.open(file).open_field(part, file.columns))
        return SplitStruct(field.arrow.type, parts, self.physical_rows)

    def _holds(self, file: FileOfFragment, field: Field) -> bool:
        leaves = [owner for owner in column_owners(field, file.version) if _is_leaf(owner)]
        return any(owner.id in file.columns for owner in leaves)

    def _holds_all(self, file: FileOfFragment, field: Field) -> bool:
        return all(owner.id in file.columns for owner in column_owners(field, file.version))

    def _prune(self, field: Field, file: FileOfFragment) -> Field:
        """Keep of a struct the fields that `file` holds."""
        kept = tuple(
            child if self._holds_all(file, child) else self._prune(child, file)
            for child in field.children
            if self._holds(file, child)
        )
        arrow = pa.field(
            field.name,
            pa.struct([child.arrow for child in kept]),
            field.nullable,
            field.arrow.metadata,
        )
        return replace(field, children=kept, arrow=arrow)


def _is_leaf(owner: Field) -> bool:
    """Whether a field owns values, not only a header or offsets for its children."""
    return owner.is_packed or owner.is_blob or not owner.children
