"""Fragments: the rows of a table, and the files that hold their columns.

A fragment lists data files; each file lists its fields (by id) and the column of each. A field in
no file of the fragment is null in all of its rows. Fragment ids are never reused, nor field ids
where flag 32 768 is set, also after what they named was removed: the manifest keeps the highest of
each.

Layout (message lance.table.DataFragment): 1 id, 2 files, 3 deletion_file, 4 physical_rows, and the
row id and version sequences, 11 overlays. Of lance.table.Manifest: 11 max_fragment_id (absent: 0,
or no fragment yet), 24 max_allocated_field_id.

Clauses: L.table.fragments.ids, L.table.fragments.order, L.table.fragments.max-id,
L.table.fragments.address, L.table.deletions.count, L.table.datafile.lookup,
L.table.datafile.missing-field, L.table.datafile.once, L.table.datafile.version,
L.table.datafile.no-field, L.table.datafile.all-replaced, L.table.base.resolves,
L.table.fragments.max-id-present, L.table.schema.max-id

Divergences: D.table.data-file-fields-leaves, D.table.max-fragment-id-absent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, OutOfRange, Place
from lanceref.core.file_versions import V0_1, V2_0
from lanceref.file.schema import HIDDEN_IDS, Field, LanceSchema
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.table import file_entries
from lanceref.table.flags import MIXED_DATA_FILE_VERSIONS

ADDRESS_LIMIT = 2**32
"""A row address holds the fragment id and the row offset in 32 bits each."""

Layout = tuple[tuple[int, ...], tuple[int, ...], int, int]
"""Fields, column indices and version of a data file: most files of a table have the same."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """One fragment: `message` is the stored form, `files` what readers look columns up in.

    `place` is where the manifest that lists it lies; `physical_rows` 0: only the files have it.
    """

    id: int
    files: tuple[file_entries.FileOfFragment, ...]
    physical_rows: int
    message: table_pb2.DataFragment
    place: Place
    overlays: tuple[file_entries.Overlay, ...] = ()

    @property
    def deletion_file(self) -> table_pb2.DeletionFile | None:
        """The deletion file, if rows are deleted."""
        return self.message.deletion_file if self.message.HasField("deletion_file") else None

    @property
    def num_deleted(self) -> int:
        """Rows that are deleted, as in the manifest."""
        deleted = self.deletion_file
        return 0 if deleted is None else int(deleted.num_deleted_rows)


def addresses(fragment_id: int, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the addresses of the rows at `offsets` (n,) of a fragment: (n,)."""
    return offsets.astype(np.uint64) + np.uint64(fragment_id << 32)


def parse_fragments(
    manifest: table_pb2.Manifest, schema: LanceSchema, ctx: Context, place: Place
) -> tuple[Fragment, ...]:
    """Check the fragments of a manifest and return them in their order."""
    known = {field.id: field for field in schema.flat()}
    bases = {base.id for base in manifest.base_paths}
    fragments = []
    early = file_entries.is_before(manifest, file_entries.FIELD_TWICE)
    checked: dict[Layout, file_entries.FileOfFragment] = {}
    unnamed = not manifest.HasField("writer_version")
    for message in manifest.fragments:
        number, stored_rows = message.id, message.physical_rows
        files = [_file_of(entry, known, checked, ctx, place) for entry in message.files]
        for file in files:
            file_entries.check_base(file.base_id, bases, ctx, place)
        deletion = message.deletion_file if message.HasField("deletion_file") else None
        if deletion is not None:
            file_entries.check_base(file_entries.base_of(deletion), bases, ctx, place)
        if ctx.validating:
            _lint_useless(message, files, known, ctx, place)
        if len(files) > 1:
            files = _check_shared(files, number, ctx, place, early=early)
        _check_numbers(number, stored_rows, deletion, place)
        # Releases that did not name themselves left out deleted rows: only the files have them.
        rows = 0 if unnamed and deletion is not None else stored_rows
        overlays: tuple[file_entries.Overlay, ...] = ()
        if message.overlays:
            overlays = file_entries.parse_overlays(message, known, bases, ctx, place)
        fragments.append(Fragment(number, tuple(files), rows, message, place, overlays))
    _check_table(fragments, manifest, ctx, place)
    return tuple(fragments)


def _file_of(
    entry: table_pb2.DataFile,
    known: Mapping[int, Field],
    checked: dict[Layout, file_entries.FileOfFragment],
    ctx: Context,
    place: Place,
) -> file_entries.FileOfFragment:
    """Check the entry of a data file; a layout that was checked before is shared."""
    major, minor = entry.file_major_version, entry.file_minor_version
    layout = (tuple(entry.fields[:]), tuple(entry.column_indices[:]), major, minor)
    like = checked.get(layout)
    if like is None or ctx.validating:
        checked[layout] = file_entries.parse_entry(entry, known, ctx, place)
        return checked[layout]
    file_entries.check_path(entry.path, ctx, place)
    size, base = int(entry.file_size_bytes), file_entries.base_of(entry)
    return file_entries.FileOfFragment(entry.path, like.version, like.columns, size, base)


def _check_shared(
    files: list[file_entries.FileOfFragment],
    number: int,
    ctx: Context,
    place: Place,
    *,
    early: bool,
) -> list[file_entries.FileOfFragment]:
    """Refuse a field in two files of a fragment; return the files that readers look it up in."""
    seen: set[int] = set()
    for file in files:
        if not seen.isdisjoint(file.columns):
            both, where = seen & file.columns.keys(), f"fragment {number}, in two files"
            _refuse(file_entries.duplicate_field(sorted(both), where, place), ctx, early=early)
        seen |= file.columns.keys()
    return file_entries.last_holders(files) if early else files


def _check_numbers(
    number: int, rows: int, deletion: table_pb2.DeletionFile | None, place: Place
) -> None:
    """Compare the numbers of a fragment with what a row address holds, and each other."""
    if max(number, rows) >= ADDRESS_LIMIT:
        name = "id" if number >= ADDRESS_LIMIT else "physical_rows"
        wanted = f"{name} below {ADDRESS_LIMIT}"
        raise OutOfRange("L.table.fragments.address", place, max(number, rows), wanted)
    if deletion is not None and deletion.num_deleted_rows > (rows or ADDRESS_LIMIT):
        found = f"{deletion.num_deleted_rows} deleted rows in fragment {number}"
        raise OutOfRange("L.table.deletions.count", place, found, f"{rows} rows")


def _lint_useless(
    message: table_pb2.DataFragment,
    files: list[file_entries.FileOfFragment],
    known: Mapping[int, Field],
    ctx: Context,
    place: Place,
) -> None:
    """Report files of 2.0 or later without a field of the schema."""
    for entry, file in zip(message.files, files, strict=True):
        used = file.version == V0_1 or not known.keys().isdisjoint(file.columns)
        if used or set(entry.fields) & set(HIDDEN_IDS):
            continue
        replaced = set(entry.fields) == {file_entries.TOMBSTONE}
        clause = "L.table.datafile.all-replaced" if replaced else "L.table.datafile.no-field"
        found = f"{entry.path} in fragment {message.id} with fields {list(entry.fields)[:8]}"
        ctx.lint(clause, place, found, "a file with a field of the schema")


def _check_table(
    fragments: list[Fragment], manifest: table_pb2.Manifest, ctx: Context, place: Place
) -> None:
    """Compare the ids of all fragments, and the versions of all files."""
    early = file_entries.is_before(manifest, file_entries.FRAGMENT_TWICE)
    ids = [fragment.id for fragment in fragments]
    if len(set(ids)) != len(ids):
        error = FormatError("L.table.fragments.ids", place, "an id used twice", "unique ids")
        _refuse(error, ctx, early=early)
    elif ids != sorted(ids):
        ctx.reject("L.table.fragments.order", place, f"ids {ids[:8]}", "ascending ids")
    if ids and manifest.HasField("max_fragment_id") and max(ids) > manifest.max_fragment_id:
        wanted = f"ids up to max_fragment_id {manifest.max_fragment_id}"
        ctx.reject("L.table.fragments.max-id", place, f"fragment {max(ids)}", wanted)
    versions = {file.version for fragment in fragments for file in fragment.files}
    versions |= {one.file.version for fragment in fragments for one in fragment.overlays}
    stated = manifest.data_format.version
    names = sorted(str(version) for version in versions)
    mixed = manifest.reader_feature_flags & MIXED_DATA_FILE_VERSIONS
    legacy = V0_1 in versions and len(versions) > 1
    misnamed = stated == str(V0_1) and versions == {V2_0}  # release 0.16
    if legacy or (not mixed and not misnamed and stated and set(names) - {stated}):
        found = f"files of {', '.join(names)} in a table of {stated}"
        wanted = "files of one version, or the flag for several of 2.x"
        error = FormatError("L.table.datafile.version", place, found, wanted)
        _refuse(error, ctx, early=early)


def _refuse(error: FormatError, ctx: Context, *, early: bool) -> None:
    """Refuse what later releases cannot have written; of an early one only report it."""
    if early:  # L.table.datafile.once-early, L.table.fragments.ids-early
        ctx.lint(error.clause, error.place, error.found, error.wanted)
    else:
        ctx.refuse(error)


def lint_marks(
    manifest: table_pb2.Manifest, schema: LanceSchema, ctx: Context, place: Place
) -> None:
    """Report high-water marks that are missing, or below an id in use."""
    fragment = max((fragment.id for fragment in manifest.fragments), default=0)
    named = manifest.HasField("writer_version")  # earlier ones had no such field
    if fragment and named and not manifest.HasField("max_fragment_id"):
        found = f"fragment {fragment} and no max_fragment_id"
        ctx.lint("L.table.fragments.max-id-present", place, found, f"{fragment} or more")
    if not manifest.HasField("max_allocated_field_id"):
        return
    stored = {i for f in manifest.fragments for file in f.files for i in file.fields}
    used, mark = stored | {field.id for field in schema.flat()}, manifest.max_allocated_field_id
    above = [field_id for field_id in used if field_id > mark]
    if above:
        wanted = f"ids up to max_allocated_field_id {mark}"
        ctx.lint("L.table.schema.max-id", place, f"field {max(above)}", wanted)


def check_moved(version: FragmentReuseIndexDetails.Version, place: Place) -> None:
    """Check ids and rows of the fragments that a version of moved rows names. Raises OutOfRange."""
    for group in version.groups:
        for one in (*group.old_fragments, *group.new_fragments):
            if max(one.id, one.physical_rows) >= ADDRESS_LIMIT:
                found = f"fragment {one.id} of {one.physical_rows} rows"
                raise OutOfRange("L.table.fragments.address", place, found, "numbers of 32 bits")
