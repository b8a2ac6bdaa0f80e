"""Columns of a fragment: the table's fields, looked up in the fragment's files by id.

Adding, casting or replacing a nested field writes a file for that part alone. What a file holds of
a field reads as the field without the other parts; here the parts are joined, and what no file
holds is null.

Clauses: L.table.datafile.lookup, L.table.datafile.lists, L.table.datafile.missing-field,
L.table.fragments.rows, L.table.datafile.size, L.table.datafile.version, L.table.limits.no-file
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.descriptors import BlobFiles
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LimitExceeded, Place
from lanceref.core.file_versions import V0_1
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.data_file.data_file import DataFile, column_owners, open_file
from lanceref.file.column_io import ColumnReader
from lanceref.file.schema import Field, arrow_type
from lanceref.table import file_entries
from lanceref.table.bases import Bases
from lanceref.table.fragments import Fragment
from lanceref.table.logical import DerivedColumn, logical_column, stored_field

if TYPE_CHECKING:
    from lanceref.file_0_1.data_file import LegacyFile

OpenFile: TypeAlias = "DataFile | LegacyFile"
"""An opened data file of any version."""

HIDDEN = Field("", -1, -1, "uint64", True, {}, (), pa.field("", pa.uint64()))
"""What a hidden column is a column of: nullable, so that its reader can refuse nulls."""


class NullColumn:
    """A field that no file of the fragment holds. Raises LimitExceeded for too wide rows."""

    def __init__(self, type_: pa.DataType, num_rows: int, ctx: Context, place: Place) -> None:
        self.type = type_
        self.num_rows = num_rows
        row_bytes, limit = _row_bytes(type_), ctx.limits.expanded(0)
        if row_bytes > limit:
            found = f"rows of {row_bytes} bytes"
            raise LimitExceeded("L.table.limits.no-file", place, found, limit)
        self._run_rows = max(1, RUN_BYTES // row_bytes)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield nulls, a run at a time."""
        for at in range(start, end, self._run_rows):
            yield pa.nulls(min(self._run_rows, end - at), self.type)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return as many nulls as rows are asked for. `rows` (n,), ascending."""
        return pa.nulls(len(rows), self.type)

    def check(self) -> None:
        """Do nothing: a column without a file has nothing to check."""


def _row_bytes(type_: pa.DataType) -> int:
    """Return about how many bytes a null of this type takes."""
    if pa.types.is_fixed_size_list(type_):
        return 1 + int(type_.list_size) * _row_bytes(type_.value_type)
    if pa.types.is_fixed_size_binary(type_):
        return 1 + int(type_.byte_width)
    if pa.types.is_struct(type_):
        return 1 + sum(_row_bytes(field.type) for field in type_)
    return 9


def split_column(type_: pa.DataType, parts: Sequence[ColumnReader], place: Place) -> DerivedColumn:
    """Return a field of which each of `parts` reads some of the nested fields."""
    return DerivedColumn(type_, parts, lambda arrays, _: _join(type_, arrays, place))


def overlaid_column(base: ColumnReader, patches: Sequence[file_entries.Patch]) -> DerivedColumn:
    """Return a column under its patches, oldest first."""

    def patched(arrays: list[pa.Array], rows: file_entries.Offsets) -> pa.Array:
        return file_entries.overlaid(arrays[0], rows, patches)

    return DerivedColumn(base.type, [base], patched, [patch.values for patch in patches])


def _join(type_: pa.DataType, parts: list[pa.Array], place: Place) -> pa.Array:
    """Join arrays that each hold some nested fields of `type_`; nulls are those of the first."""
    first = parts[0]
    if first.type == type_:
        return first
    if pa.types.is_struct(type_):
        children = []
        for field in type_:
            own = [part for part in parts if part.type.get_field_index(field.name) >= 0]
            below = [part.field(field.name) for part in own]
            nulls = pa.nulls(len(first), field.type)
            children.append(_join(field.type, below, place) if below else nulls)
        return pa.StructArray.from_arrays(children, fields=list(type_), mask=first.is_null())
    if pa.types.is_fixed_size_list(type_):
        size = type_.list_size
        items = [part.values.slice(part.offset * size, len(part) * size) for part in parts]
        joined = _join(type_.value_type, items, place)
        return pa.FixedSizeListArray.from_arrays(joined, type=type_, mask=first.is_null())
    offsets = [_offsets(part) for part in parts]
    if not all(np.array_equal(offsets[0], other) for other in offsets[1:]):
        found = "lists of different lengths in the files of one field"
        raise FormatError("L.table.datafile.lists", place, found, "the same lists in each file")
    joined = _join(type_.value_type, [part.flatten() for part in parts], place)
    large = pa.types.is_large_list(type_)
    ends = pa.array(offsets[0], pa.int64() if large else pa.int32())
    cls = pa.LargeListArray if large else pa.ListArray
    return cls.from_arrays(ends, joined, type=type_, mask=first.is_null())


def _offsets(lists: pa.Array) -> NDArray[np.int64]:
    """Return where each list starts in `lists.flatten()`, which leaves out the items of nulls."""
    stored = np.asarray(lists.offsets).astype(np.int64)
    lengths = np.where(np.asarray(lists.is_null()), 0, np.diff(stored))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


class FragmentReader:
    """Opens the files of one fragment when they are needed, each once."""

    def __init__(self, fragment: Fragment, bases: Bases, ctx: Context) -> None:
        self.fragment = fragment
        self._bases = bases
        self._ctx = ctx
        self._opened: dict[str, OpenFile] = {}
        self._kept: dict[int, tuple[Field, ColumnReader]] = {}
        self.sizes: dict[str, int] = {}
        """Bytes of each file that was opened, blobs among them, by its path."""

    @property
    def retained_bytes(self) -> int:
        """Bytes of the column metadata of the files that are open."""
        opened = [one for one in self._opened.values() if isinstance(one, DataFile)]
        return sum(extent.size for one in opened for extent in one.column_extents)

    def end_call(self) -> None:
        """Let go of the files that are open, where nothing is kept for the next call."""
        if not self._ctx.keeps:
            self._opened.clear()
            self._kept.clear()

    @property
    def stated_rows(self) -> int:
        """Rows of the fragment, deleted ones included; old manifests leave it to the files."""
        if self.fragment.physical_rows or not self.fragment.files:
            return self.fragment.physical_rows
        return self.open(self.fragment.files[0]).num_rows

    @cached_property
    def physical_rows(self) -> int:
        """The same as a file has them: what may size anything. Raises LimitExceeded."""
        if self.fragment.files:
            return self.open(self.fragment.files[0]).num_rows
        rows, place = self.fragment.physical_rows, self.fragment.place
        if rows > self._unfiled_rows:
            found = f"{rows} rows in no file"
            raise LimitExceeded("L.table.limits.no-file", place, found, self._unfiled_rows)
        return rows

    @property
    def bounded_rows(self) -> int:
        """Rows as the manifest states them; as a file has them only where they are very many.

        May size things, and opens no file for most fragments. Raises LimitExceeded.
        """
        stated = self.stated_rows
        return stated if stated <= self._unfiled_rows else self.physical_rows

    @property
    def _unfiled_rows(self) -> int:
        """How many rows no file has to show."""
        return self._ctx.limits.expansion_bytes // 8

    def open(self, file: file_entries.FileOfFragment, *, whole: bool = True) -> OpenFile:
        """Open one data file and compare it with the manifest's entry.

        An overlay is not `whole`: it has values of some rows alone.
        """
        if file.path not in self._opened:
            self._opened[file.path] = self._open(file, whole)
        return self._opened[file.path]

    def _open(self, file: file_entries.FileOfFragment, whole: bool) -> OpenFile:
        source = self._bases.open_data_file(file.path, file.base_id)
        discarded = self.fragment.deletion_file is not None
        ctx = replace(self._ctx, file=PurePosixPath(file.path).name, discarded=discarded)
        self.sizes[source.path] = source.size
        place = ctx.at(0, source.size)
        if file.size_bytes and file.size_bytes != source.size and file.version != V0_1:
            wanted = f"{file.size_bytes} bytes, as in the manifest"
            ctx.reject("L.table.datafile.size", place, source.size, wanted)
        opened: OpenFile
        if file.version == V0_1:
            from lanceref.file_0_1.data_file import open_legacy  # most tables have none

            opened = open_legacy(source, ctx, file.columns, self._bases.dictionaries)
        else:
            opened = open_file(source, ctx)
        if opened.version != file.version:
            wanted = f"{file.version}, as in the manifest"
            ctx.reject("L.table.datafile.version", place, f"a file of {opened.version}", wanted)
        stated = self.fragment.physical_rows if whole else 0
        if stated and opened.num_rows != stated:
            wanted = f"{stated}, the rows of fragment {self.fragment.id}"
            ctx.reject("L.table.fragments.rows", place, f"a file of {opened.num_rows} rows", wanted)
        return opened

    def column(self, field: Field) -> ColumnReader:
        """Return the reader of a field of the table's schema in this fragment."""
        holders = self._holders(field)  # L.table.datafile.lookup
        rows, place = self.physical_rows, self.fragment.place
        base: ColumnReader
        if not holders:  # L.table.datafile.missing-field
            base = NullColumn(field.arrow.type, rows, self._ctx, place)
        elif len(holders) == 1 and _holds_all(holders[0], field):
            base = self._part(field, holders[0])
        else:
            parts = [self._part(self._prune(field, file), file) for file in holders]
            base = split_column(field.arrow.type, parts, place)
        overlays = self.fragment.overlays
        patches = [one for overlay in overlays for one in self._patches(field, overlay)]
        return overlaid_column(base, patches) if patches else base

    def cached_column(self, field: Field) -> ColumnReader:
        """Return the same reader each time, with what it has read of its page tables."""
        whole, reader = self._kept.get(field.id, (None, None))
        if whole is not field or reader is None:
            reader = self.column(field)
            if self._ctx.spans is None and self._ctx.findings is None:
                self._kept[field.id] = field, reader
        return reader

    def _patches(self, field: Field, overlay: file_entries.Overlay) -> Iterator[file_entries.Patch]:
        """Yield the values that an overlay has for a field or for fields below it."""
        for path, unit in file_entries.units(field, overlay.coverage, overlay.file.version):
            opened, place = self.open(overlay.file, whole=False), self.fragment.place
            if not isinstance(opened, DataFile):
                found = f"a file of {opened.version}"
                raise FormatError("L.table.overlay.version", place, found, "2.x")
            offsets = file_entries.checked_offsets(overlay, unit, opened, self.physical_rows)
            chain, depth, columns = file_entries.with_ancestors(opened, unit, overlay.file.columns)
            values = self._part(chain, replace(overlay.file, columns=columns))
            yield file_entries.Patch(path, offsets, values, depth)

    def _part(self, field: Field, file: file_entries.FileOfFragment) -> ColumnReader:
        """Return the reader of what one file holds, converted from its stored type."""
        stored = stored_field(field)
        reader = self.open(file).open_field(stored, file.columns)
        if stored is field:
            return reader
        return logical_column(reader, field, self._blobs_of(file), self._decoding(file))

    def blob_files(self, field: Field, rows: file_entries.Offsets) -> list[BlobFiles]:
        """Return for each row where the blob lies that its descriptor of a field points to.

        In the newest overlay that covers the row, else in the file that holds the others. `rows`
        (n,), ascending.
        """
        nowhere = file_entries.FileOfFragment("", V0_1, {}, 0, None)
        files = [self._blobs_of(next(iter(self._holders(field)), nowhere))]
        chosen = np.zeros(len(rows), np.int64)
        for overlay in self.fragment.overlays:  # L.table.overlay.newest
            for patch in self._patches(field, overlay):
                chosen[np.isin(rows, patch.offsets)] = len(files)
                files.append(self._blobs_of(overlay.file))
        return [files[number] for number in chosen.tolist()]

    def _blobs_of(self, file: file_entries.FileOfFragment) -> BlobFiles:
        return BlobFiles(self._bases, file.path, file.base_id, self._decoding(file), self.sizes)

    def _decoding(self, file: file_entries.FileOfFragment) -> Context:
        return replace(self._ctx, file=PurePosixPath(file.path).name, stage="decode")

    def hidden(self, field_id: int) -> ColumnReader | None:
        """Return the reader of a hidden column (-3 to -5), uint64; None when no file holds it."""
        for file in self.fragment.files:
            if field_id in file.columns:
                return self.open(file).open_field(replace(HIDDEN, id=field_id), file.columns)
        return None

    def _holders(self, field: Field) -> list[file_entries.FileOfFragment]:
        return [file for file in self.fragment.files if _holds(file, field)]

    def _prune(self, field: Field, file: file_entries.FileOfFragment) -> Field:
        """Keep of a nested field what `file` holds. Raises BadSchema where that makes no type."""
        children = tuple(
            child if _holds_all(file, child) else self._prune(child, file)
            for child in field.children
            if _holds(file, child)
        )
        below = [child.arrow for child in children]
        type_ = arrow_type(field.logical_type, below, self.fragment.place)
        return replace(field, children=children, arrow=field.arrow.with_type(type_))


def _holds(file: file_entries.FileOfFragment, field: Field) -> bool:
    leaves = (owner for owner in column_owners(field, file.version) if owner.is_leaf)
    return any(owner.id in file.columns for owner in leaves)


def _holds_all(file: file_entries.FileOfFragment, field: Field) -> bool:
    return all(owner.id in file.columns for owner in column_owners(field, file.version))
