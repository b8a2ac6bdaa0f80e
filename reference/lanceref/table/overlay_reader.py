"""Overlaid columns: a field whose values newer files tell for some of its rows.

The base values are read as ever; then each overlay, from the oldest on, puts its values in the
place of those that it covers. A struct keeps its own nulls: what is put in place are the fields
below it.

Clauses: L.table.overlay.value, L.table.overlay.newest, L.table.overlay.values
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError
from lanceref.core.file_versions import FileVersion
from lanceref.data_file.data_file import DataFile
from lanceref.data_file.layout import column_owners
from lanceref.file.column_reader import ColumnReader
from lanceref.file.schema import Field
from lanceref.table.overlays import Offsets, Overlay, offsets_below

ANCESTOR = -100
"""Id of the first of the structs around a field of an overlay file; the next ones go down."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Values for the rows at `offsets`, ascending, of the field at `path` below a column.

    The n-th offset has row n of `values`, which lie `depth` structs deep.
    """

    path: tuple[str, ...]
    offsets: Offsets
    values: ColumnReader
    depth: int

    def take(self, ranks: Offsets) -> pa.Array:
        """Return the values of the offsets of the given ranks."""
        found = self.values.take(ranks)
        for _ in range(self.depth):
            (found,) = found.flatten()  # null where the struct is
        return found


class OverlaidColumn:
    """A column and its patches, oldest first."""

    def __init__(self, base: ColumnReader, patches: Sequence[Patch]) -> None:
        self.type = base.type
        self.num_rows = base.num_rows
        self._base, self._patches = base, patches

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the rows, cut where the base is."""
        for array in self._base.scan(start, end):
            yield self._patched(array, np.arange(start, start + len(array)))
            start += len(array)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows."""
        return self._patched(self._base.take(rows), rows)

    def check(self) -> None:
        """Check the base and the values of every patch."""
        self._base.check()
        for patch in self._patches:
            patch.values.check()

    def _patched(self, array: pa.Array, rows: Offsets) -> pa.Array:
        for patch in self._patches:  # L.table.overlay.newest
            ranks = np.searchsorted(patch.offsets, rows)
            inside = np.minimum(ranks, max(len(patch.offsets) - 1, 0))
            hits = np.flatnonzero(patch.offsets[inside] == rows) if len(patch.offsets) else inside
            if len(patch.offsets) and len(hits):  # L.table.overlay.value
                array = _put(array, patch.path, hits, patch.take(ranks[hits]))
        return array


def _put(array: pa.Array, path: tuple[str, ...], at: Offsets, values: pa.Array) -> pa.Array:
    """Return the array with `values` at the places `at` of the field at `path`."""
    if not path:
        chosen = np.arange(len(array))
        chosen[at] = len(array) + np.arange(len(at))
        whole = array.storage if isinstance(array, pa.ExtensionArray) else array
        joined = pa.concat_arrays([whole, values.cast(whole.type)]).take(pa.array(chosen))
        return pa.ExtensionArray.from_storage(array.type, joined) if whole is not array else joined
    name, below = path[0], path[1:]
    fields = list(array.type)
    children = [array.field(number) for number in range(len(fields))]
    number = array.type.get_field_index(name)
    children[number] = _put(children[number], below, at, values)
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())


def units(
    field: Field, held: Container[int], version: FileVersion, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Field]]:
    """Yield what a file holds of a field, whole: the field, or where it is a struct those below."""
    if not any(owner.id in held for owner in column_owners(field, version) if owner.is_leaf):
        return
    if field.logical_type != "struct" or field.is_leaf:
        yield path, field
        return
    for child in field.children:
        yield from units(child, held, version, (*path, child.name))


def checked_offsets(overlay: Overlay, unit: Field, opened: DataFile, rows: int) -> Offsets:
    """Return the offsets below `rows`, those of the fragment, that cover a unit.

    Raises FormatError for a file with fewer values, and for one that covers parts of a list.
    """
    sets = [overlay.coverage.get(one.id) for one in column_owners(unit, opened.version)]
    offsets = sets[0]
    if offsets is None or any(one != offsets for one in sets[1:]):
        raise FormatError(
            "L.table.overlay.coverage",
            opened.descriptor.place,
            found=f"some of the fields below field {unit.id}",
            wanted="the same rows of all of them",
        )
    if len(offsets) > opened.num_rows:
        raise FormatError(
            "L.table.overlay.values",
            opened.descriptor.place,
            found=f"{opened.num_rows} values",
            wanted=f"{len(offsets)}, one for each offset that is covered",
        )
    return offsets_below(rows, offsets)


def around(
    opened: DataFile, unit: Field, columns: dict[int, int]
) -> tuple[Field, int, dict[int, int]]:
    """Return a unit in the structs that its column lies in, how many, and the columns of all."""
    wanted = next(columns[owner.id] for owner in column_owners(unit, opened.version))
    trails = (_structs(opened, top, wanted) for top in opened.descriptor.schema.fields)
    structs = next((one for one in trails if one is not None), [])
    found, columns = unit, dict(columns)
    for number, struct in enumerate(structs):
        held = replace(struct, id=ANCESTOR - number, children=(found,))
        type_ = pa.struct([found.arrow])
        if struct.id in opened.assigned:
            columns[held.id] = opened.assigned[struct.id]
        found = replace(held, arrow=struct.arrow.with_type(type_))
    return found, len(structs), columns


def _structs(opened: DataFile, field: Field, column: int) -> list[Field] | None:
    """Return the structs down to what owns a column, the innermost first; None: not below it."""
    owners = column_owners(field, opened.version)
    if column not in [opened.assigned[owner.id] for owner in owners]:
        return None
    if field.logical_type != "struct" or field.is_leaf:
        return []
    found = (_structs(opened, child, column) for child in field.children)
    return next(([*trail, field] for trail in found if trail is not None), [field])
