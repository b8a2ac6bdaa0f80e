"""Data file entries: how a manifest lists a data file of a fragment.

Each entry lists the fields of the file, by id, and the column of each. The id -2 is a column that
another file replaced. Manifests of early releases of the official library, which name the release
that wrote them, may have what no later one may: up to 0.10 a column added after a drop could get
the id of the dropped one, so that two files of a fragment hold a field: the later one is right. Up
to 0.16 fragment ids could be used twice, and a table could have files of 0.1 and 2.0.

Layout (message lance.table.DataFile): 1 path, 2 fields, 3 column_indices, 4 and 5 file version,
6 file_size_bytes, 7 base_id.

Clauses: L.table.datafile.tombstone, L.table.datafile.field-id, L.table.datafile.once,
L.table.datafile.indices, L.table.datafile.version, L.table.datafile.path, L.table.base.resolves,
L.table.datafile.once-early, L.table.fragments.ids-early

Divergences: D.table.field-in-two-files
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, OutOfRange, Place, UnknownVersion
from lanceref.core.file_versions import FROM_WORDS, V0_1, V2_0, FileVersion
from lanceref.data_file.data_file import column_owners
from lanceref.file.schema import HIDDEN_IDS, Field
from lanceref.proto import table_pb2

TOMBSTONE = -2
"""Field id of a column that another file replaced."""

NO_COLUMN = -1
"""Column index of a listed field that has no column: a parent, from 2.1 on."""

LIBRARY = "lance"
"""The official library, as a manifest names its writer."""

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


def parse_entry(
    entry: table_pb2.DataFile, known: Mapping[int, Field], ctx: Context, place: Place
) -> FileOfFragment:
    """Check the entry of a data file and return it; `known` are the fields of the schema by id."""
    words = (entry.file_major_version, entry.file_minor_version)
    version = FROM_WORDS.get(words)
    if version is None:
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
        ctx.refuse(twice([f for f, _ in live], f"{entry.path}, in one file", place))
    columns = {f: i for f, i in live if not (i == NO_COLUMN and _is_parent(f, version, known))}
    used = list(columns.values())
    if any(index < 0 for index in used) or len(set(used)) != len(used):
        found = f"column indices {used[:8]} in {entry.path}"
        wanted = "indices of 0 or more, each used once"
        ctx.refuse(OutOfRange("L.table.datafile.indices", place, found, wanted))
    size = int(entry.file_size_bytes)
    return FileOfFragment(entry.path, version, columns, size, base_of(entry))


def check_path(path: str, ctx: Context, place: Place) -> None:
    """Refuse a path that leads out of its folder: a manifest could name any file otherwise."""
    parts = path.replace("\\", "/").split("/")
    if "" in parts or ".." in parts:
        ctx.reject("L.table.datafile.path", place, repr(path), "a relative path in its folder")


def _is_parent(field_id: int, version: FileVersion, known: Mapping[int, Field]) -> bool:
    """Whether a field has no column of its own: from 2.1 on only leaves have one."""
    field = known.get(field_id)
    if version in (V0_1, V2_0) or field_id < 0:
        return False
    return field is None or next(column_owners(field, version)) is not field


def base_of(entry: Based) -> int | None:
    """Return the id of the base that an entry names, None for the table's root."""
    return entry.base_id if entry.HasField("base_id") else None


def check_base(entry: Based, bases: Collection[int], ctx: Context, place: Place) -> None:
    """Refuse an entry of a base that the table does not have."""
    base = base_of(entry)
    if base is not None and base not in bases:
        ctx.reject("L.table.base.resolves", place, f"base {base}", f"one of {sorted(bases)}")


def data_files_of(message: table_pb2.DataFragment) -> list[table_pb2.DataFile]:
    """Return the entries of all data files of a fragment, those of overlays too."""
    return [*message.files, *(overlay.data_file for overlay in message.overlays)]


def twice(fields: list[int], where: str, place: Place) -> FormatError:
    """Return the error of a field that two columns hold."""
    found = f"a field twice among {fields[:8]} of {where}"
    return FormatError("L.table.datafile.once", place, found, "a field in one file, once")


def is_before(manifest: table_pb2.Manifest, release: tuple[int, int]) -> bool:
    """Whether a release of the official library before another one wrote the manifest."""
    writer = manifest.writer_version
    parts = writer.version.split(".")[:2]
    if writer.library != LIBRARY or len(parts) < 2 or not all(map(str.isdigit, parts)):
        return False
    return (int(parts[0]), int(parts[1])) < release


def last_holders(files: Sequence[FileOfFragment]) -> list[FileOfFragment]:
    """Return the files with each field in the last of those that hold it."""
    kept: list[FileOfFragment] = []
    later: set[int] = set()
    for file in reversed(files):
        columns = {number: at for number, at in file.columns.items() if number not in later}
        kept.append(replace(file, columns=columns))
        later |= columns.keys()
    return kept[::-1]


def fields_held_twice(fragments: Sequence[table_pb2.DataFragment]) -> list[int]:
    """Return the field ids that two files of a fragment hold, ascending."""
    repeated: set[int] = set()
    for fragment in fragments:
        seen: set[int] = set()
        for file in fragment.files:
            repeated |= {number for number in file.fields if number >= 0 and number in seen}
            seen.update(file.fields)
    return sorted(repeated)
