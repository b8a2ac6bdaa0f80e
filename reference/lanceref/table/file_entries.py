"""Data files and overlay files of a fragment, as a manifest lists them.

The entry of a data file lists its fields, by id, and the column of each; the id -2 is a column that
another file replaced. Up to release 0.10 of the official library, two files of a fragment could
hold a field: the later one is right. Up to 0.16 fragment ids could be used twice, and a table could
have files of 0.1 and 2.0. The manifest names the release that wrote it.

An overlay file has new values for some rows of some fields: a data file with the values alone, and
a set of row offsets, one for all of its fields or one for each: the value of the n-th offset is
row n of the file. Overlays are listed oldest first; where several cover a row of a field, the last
one of the highest version counts. Offsets count deleted rows. A struct keeps its own nulls: the
fields below it are replaced.

Layout of lance.table.DataFile: 1 path, 2 fields, 3 column_indices, 4 and 5 file version,
6 file_size_bytes, 7 base_id. Of lance.table.DataOverlayFile: 1 data_file; 2 shared_offset_bitmap,
or 4 field_coverage: 1 offset_bitmaps, one for each of the fields the data file lists;
3 committed_version. The bitmaps are portable Roaring bitmaps.

Clauses: L.table.datafile.tombstone, L.table.datafile.field-id, L.table.datafile.once,
L.table.datafile.indices, L.table.datafile.version, L.table.datafile.path, L.table.base.resolves,
L.table.datafile.once-early, L.table.fragments.ids-early, L.table.overlay.coverage,
L.table.overlay.bitmap, L.table.overlay.order, L.table.overlay.version, L.table.overlay.range,
L.table.overlay.index, L.table.overlay.value, L.table.overlay.newest, L.table.overlay.values

Divergences: D.table.field-in-two-files
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, FormatError, OutOfRange, Place, UnknownVersion
from lanceref.core.file_versions import FROM_WORDS, V0_1, V2_0, FileVersion
from lanceref.data_file.data_file import DataFile, column_owners
from lanceref.file.column_io import ColumnReader
from lanceref.file.schema import HIDDEN_IDS, Field
from lanceref.proto import table_pb2
from lanceref.table.roaring import parse_embedded

TOMBSTONE = -2
"""Field id of a column that another file replaced."""

NO_COLUMN = -1
"""Column index of a listed field that has no column: a parent, from 2.1 on."""

LIBRARY = "lance"
"""The official library, as a manifest names its writer."""

_RELEASE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.|$)")
"""How the version of a release begins; one of another writer may be any text."""

FIELD_TWICE = (0, 11)
"""The first release that gave no field id twice."""

FRAGMENT_TWICE = (0, 17)
"""The first release that gave no fragment id twice."""

Based = table_pb2.DataFile | table_pb2.DeletionFile | table_pb2.IndexMetadata
"""An entry that may name a base."""


@dataclass(frozen=True, slots=True)
class FileOfFragment:
    """One data file: where it lies, and which column holds each field id."""

    path: str
    version: FileVersion
    columns: dict[int, int]
    size_bytes: int
    base_id: int | None


def version_of(entry: table_pb2.DataFile) -> FileVersion | None:
    """Return the version of a data file by its entry, None for an unknown one."""
    return FROM_WORDS.get((entry.file_major_version, entry.file_minor_version))


def parse_entry(
    entry: table_pb2.DataFile, known: Mapping[int, Field], ctx: Context, place: Place
) -> FileOfFragment:
    """Check and return a data file's entry, given the fields by id. Raises FormatError."""
    version = version_of(entry)
    if version is None:
        words = (entry.file_major_version, entry.file_minor_version)
        raise UnknownVersion("L.table.datafile.version", place, f"version {words}", "0.1 to 2.3")
    check_path(entry.path, ctx, place)
    fields, indices = list(entry.fields), list(entry.column_indices)
    for field_id in fields:
        if field_id < 0 and field_id not in (TOMBSTONE, *HIDDEN_IDS):
            found = f"field id {field_id} in {entry.path}"
            ctx.reject("L.table.datafile.field-id", place, found, "0 or more, -2, or -3 to -5")
    if version == V0_1:
        indices = list(range(len(fields)))
    if len(indices) != len(fields):
        found = f"{len(fields)} fields and {len(indices)} column indices"
        raise FormatError("L.table.datafile.indices", place, found, "one index for each field")
    pairs = zip(fields, indices, strict=True)
    live = [(f, i) for f, i in pairs if f != TOMBSTONE]  # L.table.datafile.tombstone
    if len({f for f, _ in live}) != len(live):
        ctx.refuse(duplicate_field([f for f, _ in live], f"{entry.path}, in one file", place))
    parents = {f for f, _ in live if _is_parent(f, version, known)}
    columns = {f: i for f, i in live if i != NO_COLUMN or f not in parents}
    used = list(columns.values())
    if any(index < 0 for index in used) or len(set(used)) != len(used):
        found = f"column indices {used[:8]} in {entry.path}"
        wanted = "indices of 0 or more, each used once"
        ctx.refuse(OutOfRange("L.table.datafile.indices", place, found, wanted))
    if owning := parents & columns.keys() & known.keys():
        found = f"a column of field {min(owning)} in {entry.path}"
        wanted = f"{NO_COLUMN}, as its children have the columns"
        ctx.refuse(FormatError("L.table.datafile.indices", place, found, wanted))
    size = int(entry.file_size_bytes)
    return FileOfFragment(entry.path, version, columns, size, base_of(entry))


def _is_parent(field_id: int, version: FileVersion, known: Mapping[int, Field]) -> bool:
    """Whether a field has no column of its own: from 2.1 on only leaves have one."""
    field = known.get(field_id)
    if version in (V0_1, V2_0) or field_id < 0:
        return False
    return field is None or next(column_owners(field, version)) is not field


def check_path(path: str, ctx: Context, place: Place) -> None:
    """Refuse a path that leads out of its folder: a manifest could name any file otherwise."""
    parts = path.replace("\\", "/").split("/")
    if "" in parts or ".." in parts:
        ctx.reject("L.table.datafile.path", place, repr(path), "a relative path in its folder")


def base_of(entry: Based) -> int | None:
    """Return the id of the base that an entry names, None for the table's root."""
    return entry.base_id if entry.HasField("base_id") else None


def check_base(base: int | None, bases: Collection[int], ctx: Context, place: Place) -> None:
    """Refuse a base that the table does not have."""
    if base is not None and base not in bases:
        ctx.reject("L.table.base.resolves", place, f"base {base}", f"one of {sorted(bases)}")


def data_files_of(message: table_pb2.DataFragment) -> list[table_pb2.DataFile]:
    """Return the entries of all data files of a fragment, those of overlays too."""
    return [*message.files, *(overlay.data_file for overlay in message.overlays)]


def duplicate_field(fields: list[int], where: str, place: Place) -> FormatError:
    """Return the error of a field that two columns hold."""
    found = f"a field twice among {fields[:8]} of {where}"
    return FormatError("L.table.datafile.once", place, found, "a field in one file, once")


def is_before(manifest: table_pb2.Manifest, release: tuple[int, int]) -> bool:
    """Whether a release of the official library before another one wrote the manifest."""
    writer = manifest.writer_version
    numbers = _RELEASE.match(writer.version)
    if writer.library != LIBRARY or numbers is None:
        return False
    major, minor = numbers.groups()
    return (int(major), int(minor)) < release


def last_holders(files: Sequence[FileOfFragment]) -> list[FileOfFragment]:
    """Return the files with each field in the last of those that hold it."""
    last = {field_id: number for number, file in enumerate(files) for field_id in file.columns}
    return [
        replace(file, columns={f: at for f, at in file.columns.items() if last[f] == number})
        for number, file in enumerate(files)
    ]


def duplicated_fields(fragments: Sequence[table_pb2.DataFragment]) -> list[int]:
    """Return the field ids that two files of a fragment hold, ascending."""
    repeated: set[int] = set()
    for fragment in fragments:
        seen: set[int] = set()
        for file in fragment.files:
            repeated |= {number for number in file.fields if number >= 0 and number in seen}
            seen.update(file.fields)
    return sorted(repeated)


Offsets = NDArray[np.int64]
"""Row offsets in a fragment, ascending."""

ANCESTOR = -100
"""Id of the first of the structs around a field of an overlay file; the next ones go down."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """One overlay file; `coverage` has the row offsets of each field id.

    An offset may lie beyond the rows of the fragment, thousands of millions of them in few bytes:
    `offsets_below` returns those of existing rows.
    """

    file: FileOfFragment
    coverage: Mapping[int, bitmaps.BitMap]
    committed_version: int


def parse_overlays(
    message: table_pb2.DataFragment,
    known: Mapping[int, Field],
    bases: set[int],
    ctx: Context,
    place: Place,
) -> tuple[Overlay, ...]:
    """Check the overlays of a fragment and return them, oldest first."""
    overlays = []
    where = f"in overlays of fragment {message.id}"
    for entry in message.overlays:
        file = parse_entry(entry.data_file, known, ctx, place)
        check_base(file.base_id, bases, ctx, place)
        if file.version == V0_1:
            ctx.reject("L.table.overlay.version", place, f"a file of 0.1 {where}", "2.x")
        coverage = parse_coverage(entry, ctx, place)
        last = max((offsets.max() for offsets in coverage.values() if offsets), default=-1)
        if message.physical_rows and last >= message.physical_rows:
            wanted = f"an offset below {message.physical_rows}"
            ctx.lint("L.table.overlay.range", place, f"offset {last} {where}", wanted)
        overlays.append(Overlay(file, coverage, int(entry.committed_version)))
    versions = [overlay.committed_version for overlay in overlays]
    if versions != sorted(versions):
        ctx.lint("L.table.overlay.order", place, f"{versions[:8]} {where}", "ascending versions")
    overlays.sort(key=lambda overlay: overlay.committed_version)  # L.table.overlay.newest
    return tuple(overlays)


def parse_coverage(
    entry: table_pb2.DataOverlayFile, ctx: Context, place: Place
) -> dict[int, bitmaps.BitMap]:
    """Return the offsets that each field of an overlay covers. Raises FormatError."""
    fields = list(entry.data_file.fields)
    if entry.HasField("shared_offset_bitmap"):
        offset_sets = [parse_offsets(entry.shared_offset_bitmap, ctx, place)] * len(fields)
    else:
        stored = entry.field_coverage.offset_bitmaps
        offset_sets = [parse_offsets(one, ctx, place) for one in stored]
        if len(offset_sets) != len(fields):
            found = f"{len(offset_sets)} sets of offsets for {len(fields)} fields"
            if len(offset_sets) < len(fields):
                raise BadSchema("L.table.overlay.coverage", place, found, "one for all, or each")
            ctx.lint("L.table.overlay.coverage", place, found, "one for all, or each")
    pairs = zip(fields, offset_sets, strict=False)
    return {field_id: offsets for field_id, offsets in pairs if field_id != TOMBSTONE}


def offsets_below(rows: int, covered: bitmaps.BitMap) -> Offsets:
    """Return the offsets of a set that are below `rows`, int64 (offsets,), ascending."""
    inside = covered
    if covered and covered.max() >= rows:
        inside = covered & bitmaps.BitMap(range(rows))
    return np.asarray(inside.to_array(), np.int64)


def parse_offsets(data: bytes, ctx: Context, place: Place) -> bitmaps.BitMap:
    """Return the offsets of a bitmap in a message. Raises FormatError."""
    try:
        return parse_embedded(data, ctx, place)
    except FormatError as error:
        raise FormatError("L.table.overlay.bitmap", place, error.found, error.wanted) from error


def overlaid_since(
    fragments: Iterable[table_pb2.DataFragment], index: table_pb2.IndexMetadata
) -> frozenset[int]:
    """Return the ids of fragments with overlays of an index's fields that it does not know."""
    return frozenset(
        fragment.id
        for fragment in fragments
        for one in fragment.overlays
        if one.committed_version > index.dataset_version
        and not set(index.fields).isdisjoint(one.data_file.fields)
    )


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
        """Return the values of the offsets with ranks (n,), ascending."""
        values = self.values.take(ranks)
        for _ in range(self.depth):
            (values,) = values.flatten()  # null where the struct is
        return values


def overlaid(array: pa.Array, rows: Offsets, patches: Sequence[Patch]) -> pa.Array:
    """Return the values of `rows` (n,), ascending, with those of patches, oldest first."""
    for patch in patches:  # L.table.overlay.newest
        if not len(patch.offsets):
            continue
        ranks = np.searchsorted(patch.offsets, rows)
        inside = np.minimum(ranks, len(patch.offsets) - 1)
        hits = np.flatnonzero(patch.offsets[inside] == rows)
        if len(hits):  # L.table.overlay.value
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
    children = [array.field(number) for number in range(array.type.num_fields)]
    number = array.type.get_field_index(path[0])
    children[number] = _put(children[number], path[1:], at, values)
    return pa.StructArray.from_arrays(children, fields=list(array.type), mask=array.is_null())


def units(
    field: Field, columns: Container[int], version: FileVersion, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Field]]:
    """Yield what a file holds of a field, whole: the field, or where it is a struct those below."""
    if not any(owner.id in columns for owner in column_owners(field, version) if owner.is_leaf):
        return
    if field.logical_type != "struct" or field.is_leaf:
        yield path, field
        return
    for child in field.children:
        yield from units(child, columns, version, (*path, child.name))


def checked_offsets(overlay: Overlay, unit: Field, opened: DataFile, rows: int) -> Offsets:
    """Return the offsets below `rows`, those of the fragment, that cover a unit: (offsets,).

    Raises FormatError for a file with fewer values, and for one that covers parts of a list.
    """
    place = opened.descriptor.place
    sets = [overlay.coverage.get(one.id) for one in column_owners(unit, opened.version)]
    offsets = sets[0]
    if offsets is None or any(one != offsets for one in sets[1:]):
        found = f"some of the fields below field {unit.id}"
        raise FormatError("L.table.overlay.coverage", place, found, "the same rows of all of them")
    if len(offsets) > opened.num_rows:
        wanted = f"{len(offsets)}, one for each offset that is covered"
        raise FormatError("L.table.overlay.values", place, f"{opened.num_rows} values", wanted)
    return offsets_below(rows, offsets)


def with_ancestors(
    opened: DataFile, unit: Field, columns: dict[int, int]
) -> tuple[Field, int, dict[int, int]]:
    """Return a unit in the structs that its column lies in, how many, and the columns of all."""
    wanted = next(columns[owner.id] for owner in column_owners(unit, opened.version))
    trails = (_structs(opened, top, wanted) for top in opened.descriptor.schema.fields)
    structs = next((one for one in trails if one is not None), [])
    field, columns = unit, dict(columns)
    for number, struct in enumerate(structs):
        ancestor = replace(struct, id=ANCESTOR - number, children=(field,))
        type_ = pa.struct([field.arrow])
        if struct.id in opened.assigned:
            columns[ancestor.id] = opened.assigned[struct.id]
        field = replace(ancestor, arrow=struct.arrow.with_type(type_))
    return field, len(structs), columns


def _structs(opened: DataFile, field: Field, column: int) -> list[Field] | None:
    """Return the structs down to what owns a column, the innermost first; None: not below it."""
    owners = column_owners(field, opened.version)
    if column not in [opened.assigned[owner.id] for owner in owners]:
        return None
    if field.logical_type != "struct" or field.is_leaf:
        return []
    trails = (_structs(opened, child, column) for child in field.children)
    return next(([*trail, field] for trail in trails if trail is not None), [field])
