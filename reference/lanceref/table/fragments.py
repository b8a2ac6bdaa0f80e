"""Fragments: the rows of a table, and the files that hold their columns.

A fragment lists data files; each file says which fields it holds (by id) and in which of its
columns. A field in no file of the fragment is null in all of its rows.

Layout (message lance.table.DataFragment): 1 id, 2 files, 3 deletion_file, 4 physical_rows, and the
row id and version sequences; DataFile: 1 path, 2 fields, 3 column_indices, 4 and 5 file version,
6 file_size_bytes, 7 base_id.

Clauses: L.table.fragments.ids, L.table.fragments.order, L.table.fragments.max-id,
L.table.fragments.address, L.table.deletions.count, L.table.datafile.lookup,
L.table.datafile.missing-field, L.table.datafile.tombstone, L.table.datafile.field-id,
L.table.datafile.once, L.table.datafile.indices, L.table.datafile.version,
L.table.datafile.no-field, L.table.datafile.all-replaced, L.table.datafile.path,
L.table.base.resolves

Divergences: D.table.data-file-fields-leaves
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.context import Context
from lanceref.errors import FormatError, OutOfRange, Place, UnknownVersion
from lanceref.file.layout import column_owners
from lanceref.file.schema import HIDDEN_IDS, Field, LanceSchema
from lanceref.file.versions import FROM_WORDS, V0_1, V2_0, FileVersion
from lanceref.proto import table_pb2
from lanceref.table.flags import MIXED_DATA_FILE_VERSIONS

TOMBSTONE = -2
"""Field id of a column that another file replaced."""

NO_COLUMN = -1
"""Column index of a listed field that has no column: a parent, from 2.1 on."""

ADDRESS_LIMIT = 2**32
"""A row address holds the fragment id and the row offset in 32 bits each."""


@dataclass(frozen=True, slots=True)
class FileOfFragment:
    """One data file: where it lies, and which column holds each field id."""

    path: str
    version: FileVersion
    columns: dict[int, int]
    size_bytes: int
    base_id: int | None


@dataclass(frozen=True, slots=True)
class Fragment:
    """One fragment: `message` is the stored form, `files` what readers look columns up in.

    `place` is where the manifest that lists it lies; `physical_rows` is 0 when the files say.
    """

    id: int
    files: tuple[FileOfFragment, ...]
    physical_rows: int
    message: table_pb2.DataFragment
    place: Place

    @property
    def deletion_file(self) -> table_pb2.DeletionFile | None:
        """The deletion file, if rows are deleted."""
        return self.message.deletion_file if self.message.HasField("deletion_file") else None

    @property
    def num_deleted(self) -> int:
        """Rows that are deleted, as the manifest says."""
        deleted = self.deletion_file
        return 0 if deleted is None else int(deleted.num_deleted_rows)


def parse_fragments(
    manifest: table_pb2.Manifest, schema: LanceSchema, ctx: Context, place: Place
) -> tuple[Fragment, ...]:
    """Check the fragments of a manifest and return them in their order."""
    known = {field.id: field for field in schema.flat()}
    bases = {base.id for base in manifest.base_paths}
    fragments = []
    for message in manifest.fragments:
        files = []
        for entry in message.files:
            files.append(_file(entry, known, ctx, place))
            if entry.HasField("base_id"):
                _check_base(entry.base_id, bases, ctx, place)
            if files[-1].version != V0_1 and not known.keys() & files[-1].columns.keys():
                _lint_useless(entry, message.id, ctx, place)
        if message.HasField("deletion_file") and message.deletion_file.HasField("base_id"):
            _check_base(message.deletion_file.base_id, bases, ctx, place)
        _check_once(files, message.id, ctx, place)
        _check_numbers(message, ctx, place)
        # Releases that did not name themselves left out deleted rows: the files say.
        left = message.HasField("deletion_file") and not manifest.HasField("writer_version")
        rows = 0 if left else int(message.physical_rows)
        fragments.append(Fragment(message.id, tuple(files), rows, message, place))
    _check_ids(manifest, ctx, place)
    _check_versions(fragments, manifest, ctx, place)
    return tuple(fragments)


def _file(
    entry: table_pb2.DataFile, known: dict[int, Field], ctx: Context, place: Place
) -> FileOfFragment:
    words = (entry.file_major_version, entry.file_minor_version)
    version = FROM_WORDS.get(words)
    if version is None:
        raise UnknownVersion(
            "L.table.datafile.version",
            place,
            found=f"file version {words[0]}, {words[1]}",
            wanted="0.1 to 2.3",
        )
    _check_path(entry.path, ctx, place)
    fields, indices = list(entry.fields), list(entry.column_indices)
    for field_id in fields:
        if field_id < 0 and field_id not in (TOMBSTONE, *HIDDEN_IDS):
            ctx.refuse(
                FormatError(
                    "L.table.datafile.field-id",
                    place,
                    found=f"field id {field_id} in {entry.path}",
                    wanted="an id of 0 or more, -2, or -3 to -5",
                )
            )
    if version == V0_1:
        indices = list(range(len(fields)))
    if len(indices) != len(fields):
        raise FormatError(
            "L.table.datafile.indices",
            place,
            found=f"{len(fields)} fields and {len(indices)} column indices",
            wanted="one index for each field",
        )
    pairs = zip(fields, indices, strict=True)
    live = [(f, i) for f, i in pairs if f != TOMBSTONE]  # L.table.datafile.tombstone
    if len({f for f, _ in live}) != len(live):
        ctx.refuse(_twice([f for f, _ in live], f"{entry.path}, in one file", place))
    stored = {f: i for f, i in live if not (i == NO_COLUMN and _is_parent(f, version, known))}
    _check_indices(list(stored.values()), entry.path, ctx, place)
    base = entry.base_id if entry.HasField("base_id") else None
    return FileOfFragment(entry.path, version, stored, int(entry.file_size_bytes), base)


def _check_path(path: str, ctx: Context, place: Place) -> None:
    """Refuse a path that leads out of its folder: a manifest could name any file otherwise."""
    parts = path.replace("\\", "/").split("/")
    if "" in parts or ".." in parts:
        ctx.refuse(
            FormatError(
                "L.table.datafile.path",
                place,
                found=f"path {path!r}",
                wanted="a relative path inside its folder",
            )
        )


def _is_parent(field_id: int, version: FileVersion, known: dict[int, Field]) -> bool:
    """Whether a field has no column of its own: from 2.1 on only leaves have one."""
    field = known.get(field_id)
    if version in (V0_1, V2_0) or field_id < 0:
        return False
    return field is None or next(column_owners(field, version)) is not field


def _check_indices(used: list[int], path: str, ctx: Context, place: Place) -> None:
    if any(index < 0 for index in used) or len(set(used)) != len(used):
        ctx.refuse(
            OutOfRange(
                "L.table.datafile.indices",
                place,
                found=f"column indices {used[:8]} in {path}",
                wanted="indices of 0 or more, each used once",
            )
        )


def _check_numbers(message: table_pb2.DataFragment, ctx: Context, place: Place) -> None:
    """Hold the numbers of a fragment against what a row address holds, and each other."""
    for name, number in (("id", message.id), ("physical_rows", message.physical_rows)):
        if number >= ADDRESS_LIMIT:
            raise OutOfRange(
                "L.table.fragments.address",
                place,
                found=f"a fragment with {name} {number}",
                wanted=f"a number below {ADDRESS_LIMIT}",
            )
    deleted = message.deletion_file.num_deleted_rows
    if message.HasField("deletion_file") and deleted > (message.physical_rows or ADDRESS_LIMIT):
        raise OutOfRange(
            "L.table.deletions.count",
            place,
            found=f"{deleted} deleted rows in fragment {message.id}",
            wanted=f"at most its {message.physical_rows} rows",
        )


def _check_base(base_id: int, bases: set[int], ctx: Context, place: Place) -> None:
    if base_id not in bases:
        ctx.refuse(
            FormatError(
                "L.table.base.resolves",
                place,
                found=f"base {base_id}",
                wanted=f"one of {sorted(bases)}",
            )
        )


def _lint_useless(entry: table_pb2.DataFile, number: int, ctx: Context, place: Place) -> None:
    replaced = set(entry.fields) == {TOMBSTONE}
    if not set(entry.fields) & set(HIDDEN_IDS):
        ctx.lint(
            "L.table.datafile.all-replaced" if replaced else "L.table.datafile.no-field",
            place,
            found=f"{entry.path} in fragment {number} with fields {list(entry.fields)[:8]}",
            wanted="a file with a field of the schema",
        )


def _check_once(files: list[FileOfFragment], number: int, ctx: Context, place: Place) -> None:
    seen: set[int] = set()
    for file in files:
        both = seen & file.columns.keys()
        if both:
            ctx.refuse(_twice(sorted(both), f"fragment {number}, in two files", place))
        seen |= file.columns.keys()


def _twice(fields: list[int], where: str, place: Place) -> FormatError:
    return FormatError(
        "L.table.datafile.once",
        place,
        found=f"a field twice among {fields[:8]} of {where}",
        wanted="a field in one file, once",
    )


def _check_ids(manifest: table_pb2.Manifest, ctx: Context, place: Place) -> None:
    ids = [fragment.id for fragment in manifest.fragments]
    if len(set(ids)) != len(ids):
        ctx.refuse(
            FormatError(
                "L.table.fragments.ids", place, found="an id used twice", wanted="unique ids"
            )
        )
    elif ids != sorted(ids):
        ctx.refuse(
            FormatError(
                "L.table.fragments.order", place, found=f"ids {ids[:8]}", wanted="ascending ids"
            )
        )
    has_max = manifest.HasField("max_fragment_id")
    if ids and has_max and max(ids) > manifest.max_fragment_id:
        ctx.refuse(
            FormatError(
                "L.table.fragments.max-id",
                place,
                found=f"fragment {max(ids)}",
                wanted=f"ids up to max_fragment_id {manifest.max_fragment_id}",
            )
        )


def _check_versions(
    fragments: list[Fragment], manifest: table_pb2.Manifest, ctx: Context, place: Place
) -> None:
    """Hold the versions of all files against the table's storage version."""
    versions = {file.version for fragment in fragments for file in fragment.files}
    stated = manifest.data_format.version
    names = sorted(str(version) for version in versions)
    mixed = manifest.reader_feature_flags & MIXED_DATA_FILE_VERSIONS
    legacy = V0_1 in versions and len(versions) > 1
    misnamed = stated == str(V0_1) and versions == {V2_0}  # release 0.16
    if legacy or (not mixed and not misnamed and stated and set(names) - {stated}):
        ctx.refuse(
            FormatError(
                "L.table.datafile.version",
                place,
                found=f"files of {', '.join(names)} in a table of {stated}",
                wanted="files of one version, or the flag for several of 2.x",
            )
        )
