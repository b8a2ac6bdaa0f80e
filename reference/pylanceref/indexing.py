"""Indexing: the indices of a dataset, made, listed and dropped (face).

Has the names of pylance's `LanceDataset`. A segment is built first and committed then; several
processes may build segments over fragments of their own and one of them commit all.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

from lanceref import operations
from lanceref.core.errors import IndexRefused, OperationRefused, QueryRefused
from lanceref.index.indices import declared_kind, indexed_column, indexed_path, type_name
from lanceref.proto import table_pb2
from lanceref.transactions.index_entries import covered, set_covered
from lanceref.transactions.manifest_builder import Staged
from pyroaring import BitMap

from pylanceref.errors import IndexMixed, IndexNotFound
from pylanceref.index_listing import IndexConfig, SupportedDistributedIndices
from pylanceref.index_request import BY_KEYWORD, IndexRequest, index_request, vector_request
from pylanceref.operation import Index
from pylanceref.table_handle import OpenTable, T
from pylanceref.transactions import index_message, index_of

Entries = Sequence[table_pb2.IndexMetadata]

WITH_UUID = ("INVERTED", "BITMAP", "ZONEMAP", "BLOOMFILTER", "MINHASHLSH")
"""Types whose uncommitted segments may be given an id."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a segment is built: of rows or empty, and of which fragments; no progress is reported."""

    replace: bool = False
    train: bool = True
    fragment_ids: list[int] | None = None
    index_uuid: str | None = None
    progress_callback: object = None

    @classmethod
    def split(cls, arguments: Mapping[str, object]) -> tuple[Self, dict[str, object]]:
        """Return the options that arguments have, and the others."""
        own = {name: arguments[name] for name in cls.__match_args__ if name in arguments}
        others = {name: value for name, value in arguments.items() if name not in own}
        return cls(**own), others  # type: ignore[arg-type]


def create_scalar_index(
    table: OpenTable,
    column: str,
    index_type: str | IndexConfig,
    name: str | None = None,
    **arguments: object,
) -> None:
    """Build an index over a column and commit it; `arguments` has parameters of the type too.

    With `fragment_ids` a full-text segment is built and not committed. Raises IndexRefused,
    KeyError, TypeError, ValueError, CommitConflict.
    """
    options, given = BuildOptions.split({"replace": True, **arguments})
    request = index_request(table._snapshot.manifest.schema, column, index_type, given)
    staged = options.fragment_ids is not None
    if staged and not request.kind.stages:
        raise ValueError(f"{request.kind.name} segments need create_index_uncommitted(...)")
    _create(table, request, name, options, staged=staged, is_committed=not staged)


def _create(
    table: OpenTable,
    request: IndexRequest,
    name: str | None,
    options: BuildOptions,
    *,
    staged: bool = False,
    is_committed: bool = False,
) -> table_pb2.IndexMetadata:
    """Build a segment, commit it if so asked, and return its entry; a staged one is not finished.

    Raises IndexRefused for a name that is taken.
    """
    name = _free_name(table, request) if name is None else name
    before = _replaceable(table, name, request.column, replace=options.replace)
    chosen = options.fragment_ids if options.train else []
    fragments = table.fragment_rows(None if chosen is None else sorted(set(chosen)))
    indexed = indexed_column(table._snapshot.manifest.schema, request.column, lists=True)
    given = request.kind, indexed, request.parameters, fragments, name
    own, build = segment_uuid(options.index_uuid), operations.index_build.build_segment
    entry = build(table._snapshot, *given, own, staged=staged)
    if is_committed:
        commit_segments(table, [entry], before)
    return entry


def _free_name(table: OpenTable, request: IndexRequest) -> str:
    """Return the name of a new index that has not been given one.

    It is that of an index of the same type; very old entries do not say theirs, which is any.
    """
    entries = table._snapshot.manifest.indices
    taken = {one.name: declared_kind(one) for one in entries if type_name(one)}
    base = name = f"{request.named}_idx"
    number = 1
    while name in taken and taken[name] != request.kind:
        number += 1
        name = f"{base}_{number}"
    return name


def _replaceable(table: OpenTable, name: str, column: str, *, replace: bool) -> Entries:
    """Return the segments that a new index takes the place of. Raises IndexRefused."""
    before = segments_of(table, name)
    _, own = indexed_path(table._snapshot.manifest.schema, column, lists=True)
    if any(list(entry.fields) != [own] for entry in before):
        raise IndexRefused(f"Index name '{name}' already exists with different fields")
    if before and not replace:
        raise IndexRefused(f"Index name '{name}' already exists: use replace=True")
    return before


def segments_of(table: OpenTable, name: str) -> Entries:
    """Return the entries that the manifest has of an index, by its name."""
    return [one.current for one in table._snapshot.indices.segments if one.entry.name == name]


def commit_segments(table: OpenTable, new: Entries, removed: Entries) -> None:
    """Commit segments in the place of others. Raises CommitConflict."""
    transaction = table._new_transaction()
    transaction.create_index.new_indices.extend(new)
    transaction.create_index.removed_indices.extend(removed)
    table._commit(Staged(transaction, read=table._snapshot.manifest))


def create_index(
    table: T,
    column: str | list[str],
    index_type: str,
    name: str | None = None,
    metric: str = "L2",
    **arguments: object,
) -> T:
    """Build an index over a column of vectors and commit it; `arguments` has its parameters.

    With `fragment_ids` a segment is built and not committed. Raises IndexRefused, KeyError,
    TypeError, ValueError, NotImplementedError, CommitConflict.
    """
    options, given = BuildOptions.split(arguments)
    request = vector_request(table._snapshot.manifest.schema, column, index_type, metric, given)
    _create(table, request, name, options, is_committed=options.fragment_ids is None)
    return table


def create_index_uncommitted(
    table: OpenTable,
    column: str | list[str],
    index_type: str | IndexConfig,
    name: str | None = None,
    metric: str = "L2",
    **arguments: object,
) -> Index:
    """Build a segment over fragments and return it. Raises ValueError, IndexRefused."""
    options, given = BuildOptions.split(arguments)
    if options.fragment_ids is None:
        raise ValueError("create_index_uncommitted requires fragment_ids")
    schema = table._snapshot.manifest.schema
    if isinstance(index_type, str) and index_type.upper() not in BY_KEYWORD:
        vectors = vector_request(schema, column, index_type, metric, given)
        return index_of(_create(table, vectors, name, replace(options, replace=True)))
    request = index_request(schema, column, index_type, given)
    if options.index_uuid is not None and request.kind.name not in WITH_UUID:
        raise QueryRefused(f"index_uuid is no longer accepted for {request.kind.shown}")
    trained = options.train and bool(table._snapshot.fragments)
    return index_of(_create(table, request, name, replace(options, train=trained), staged=True))


def merge_index_metadata(
    table: OpenTable,
    index_uuid: str,
    index_type: str,
    batch_readhead: int | None = None,
    progress_callback: object = None,
) -> None:
    """Write the segment of parts. Raises NotImplementedError, ValueError, OperationRefused."""
    if index_type.upper() not in SupportedDistributedIndices.__members__:
        raise NotImplementedError(f"{index_type} has no metadata to merge")
    segment_uuid(index_uuid)
    from lanceref.index.registry import BY_NAME  # who builds in one go needs no other types

    kind = BY_NAME.get(index_type.upper())
    if kind is None or not kind.stages:
        raise ValueError(f"{index_type} no longer supports merge_index_metadata: merge segments")
    operations.index_build.finish_folder(table._snapshot, kind, index_uuid)


def merge_existing_index_segments(table: OpenTable, segments: list[Index]) -> Index:
    """Write segments as one. Raises IndexRefused for several types, shared fragments."""
    entries = [index_message(one) for one in segments]
    _check_disjoint(entries)
    for entry in entries:
        entry.name = entries[0].name
    known = table._snapshot.indices.of(entries).known
    if len(known) != 1:
        raise IndexRefused("the segments are not of one known index type")
    try:
        rewrite = operations.index_build.rewrite_segments
        return index_of(rewrite(table._snapshot, known[0], known[0].segments, ()))
    except OperationRefused as error:
        raise IndexRefused(f"{error}") from error


def commit_existing_index_segments(
    table: T, index_name: str, column: str, segments: list[Index]
) -> T:
    """Commit segments as one index, over the fragments that are left of those they were built of.

    Segments that they cover again are replaced. Raises IndexMixed, IndexRefused, CommitConflict.
    """
    finished = operations.index_build.finish_entry
    entries = [finished(table._snapshot, index_message(one)) for one in segments]
    _check_disjoint(entries)
    live = BitMap([rows.fragment.id for rows in table._snapshot.fragments])
    for entry in entries:
        entry.name = index_name
        set_covered(entry, (covered(entry) or BitMap()) & live, runs=True)
    from pylanceref.index_statistics import describe  # imports every type of index

    if len({type_name(entry) for entry in entries}) > 1:
        raise IndexMixed(f"segment set for index '{index_name}' mixes incompatible types")
    before = _replaceable(table, index_name, column, replace=True)
    removed = _replaced(live, before, entries)
    kept = [one for one in before if one not in removed]
    for index in table._snapshot.indices.of([*kept, *entries]).known:
        shown = [describe(index.kind, one) for one in index.segments]
        found = {(name, details.get("metric_type")) for name, details in shown}
        if len(found) > 1:
            raise IndexRefused(f"segments of {index.name!r} differ in type or metric: {found}")
    commit_segments(table, entries, removed)
    with suppress(OSError):  # the commit stands; what is left over is for a cleanup
        for one in segments:
            operations.index_build.remove_staged(table._snapshot, index_message(one))
    return table


def _replaced(live: BitMap, before: Entries, new: Entries) -> Entries:
    """Return the segments in whose place new ones stand. Raises IndexRefused, IndexMixed."""
    name = new[0].name
    given = BitMap().union(*(covered(entry) or BitMap() for entry in new))
    if any(type_name(one) != type_name(new[0]) for one in before):
        if live - given:
            raise IndexMixed(f"type of '{name}': missing current fragments {[*live - given]}")
        return before
    removed = []
    for one in before:
        held = (covered(one) or BitMap()) & live
        if held & given and held - given:
            raise IndexMixed(f"segments for '{name}' would orphan fragments {[*held - given]}")
        if held <= given:
            removed.append(one)
    return removed


def drop_index(table: OpenTable, name: str) -> None:
    """Take an index out of the table; its files stay until a cleanup. Raises IndexNotFound."""
    if not (removed := segments_of(table, name)):
        raise IndexNotFound(f"Lance index not found: name={name}")
    commit_segments(table, [], removed)


def _check_disjoint(entries: Entries) -> None:
    """Raise IndexRefused for segments that cover a fragment twice."""
    bitmaps = [covered(entry) or BitMap() for entry in entries]
    if not entries:
        raise IndexRefused("at least one segment is needed")
    if sum(map(len, bitmaps)) != len(BitMap().union(*bitmaps)):
        raise IndexRefused("overlapping fragment coverage in segment set")


def segment_uuid(text: str | None) -> uuid.UUID | None:
    """Return the uuid that a segment is to have. Raises ValueError."""
    try:
        return None if text is None else uuid.UUID(text)
    except ValueError as error:
        raise ValueError(f"Invalid UUID {text!r}: {error}") from error
