"""Optimization: small fragments joined, deleted rows left out (face).

Has the names of pylance's `DatasetOptimizer` and `lance.optimize`. A compaction is planned by one
process, its tasks are run by any number, and one commits what they wrote: a plan, a task and a
result are values that can be pickled, or sent as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from itertools import chain
from typing import Self, TypedDict, Unpack, cast

from lanceref.core.errors import DataRefused, OperationRefused
from lanceref.core.file_versions import version_named
from lanceref.core.integers import unsigned
from lanceref.operations import compaction
from lanceref.operations.cleanup import AGE_KEY, INTERVAL_KEY, AutoCleanupConfig
from lanceref.operations.index_build import update_indices
from lanceref.search.snapshot import Snapshot
from lanceref.storage.protocol import Draft
from lanceref.transactions.commit import CommitPolicy, commit
from lanceref.transactions.manifest_builder import Staged
from lanceref.transactions.transaction import new_transaction

from pylanceref.history import delete_config_keys, update_config
from pylanceref.indexing import commit_segments
from pylanceref.metadata import FragmentMetadata
from pylanceref.table_handle import OpenTable

MODES = ("reencode", "try_binary_copy", "force_binary_copy")
"""How another implementation may copy; this one always encodes anew."""


class CompactionOptions(TypedDict, total=False):
    """What is written anew, and how; the others say how another implementation goes about it."""

    target_rows_per_fragment: int
    max_bytes_per_file: int
    materialize_deletions: bool
    materialize_deletions_threshold: float
    batch_size: int
    max_source_fragments: int
    max_source_rows: int
    max_source_bytes: int
    excluded_fragment_ids: Sequence[int]
    data_storage_version: str
    max_rows_per_group: int
    num_threads: int
    io_buffer_size: int
    compaction_mode: str
    binary_copy_read_batch_bytes: int
    defer_index_remap: bool


@dataclass(frozen=True, slots=True)
class CompactionMetrics:
    """What a compaction did; deletion files are files too."""

    fragments_removed: int = 0
    fragments_added: int = 0
    files_removed: int = 0
    files_added: int = 0


@dataclass(frozen=True, slots=True)
class Sendable:
    """A value of one version that is sent to other processes as JSON, an object of its fields."""

    read_version: int

    def json(self) -> str:
        """Return the object as JSON text for another process."""
        return json.dumps(self, default=_object)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the object of a JSON text."""
        fields = {name: _read(name, held) for name, held in json.loads(text).items()}
        return cls(**fields)  # type: ignore[arg-type]


def _object(value: object) -> object:
    """Return what `json.dumps` takes for a value."""
    if isinstance(value, FragmentMetadata):
        return value.to_json()
    names: tuple[str, ...] = getattr(value, "__match_args__")  # noqa: B009
    return {name: getattr(value, name) for name in names}


def _read(name: str, held: object) -> object:
    """Return the value of a field of an object out of what `json.loads` gives for it."""
    if not isinstance(held, list):
        return held
    kind = CompactionTask if name == "tasks" else FragmentMetadata
    return [kind.from_json(json.dumps(one)) for one in held]


@dataclass(frozen=True, slots=True)
class RewriteResult(Sendable):
    """What a task wrote: new fragments, without ids, that hold the rows of the original ones."""

    new_fragments: list[FragmentMetadata]
    original_fragments: list[FragmentMetadata]

    @property
    def metrics(self) -> CompactionMetrics:
        """Counts of the fragments and files that the task rewrote."""
        old = self.original_fragments
        return CompactionMetrics(
            len(old),
            len(self.new_fragments),
            sum(len(one.files) + (one.deletion_file is not None) for one in old),
            sum(len(one.files) for one in self.new_fragments),
        )

    def __repr__(self) -> str:
        fragments = f"new_fragments={self.new_fragments}, old_fragments={self.original_fragments}"
        return f"RewriteResult(read_version={self.read_version}, {fragments})"


@dataclass(frozen=True, slots=True)
class CompactionTask(Sendable):
    """Neighbouring fragments of one version that are written anew, by any process."""

    fragments: list[FragmentMetadata]
    options: CompactionOptions = field(repr=False)

    def execute(self, dataset: OpenTable) -> RewriteResult:
        """Write new files. Raises VersionNotFound when the version is gone."""
        with Draft() as draft:
            return self._run(dataset, draft)

    def _run(self, dataset: OpenTable, draft: Draft) -> RewriteResult:
        snapshot = _at(dataset, self.read_version)
        ids = {one.id for one in self.fragments}
        group = [rows for rows in snapshot.fragments if rows.fragment.id in ids]
        written = compaction.write_group(snapshot, group, _rules(self.options), draft)
        new = [FragmentMetadata.from_message(one) for one in written]
        return RewriteResult(self.read_version, new, self.fragments)


@dataclass(frozen=True, slots=True)
class CompactionPlan(Sendable):
    """The tasks of a compaction, which may run in different processes."""

    tasks: list[CompactionTask]

    def num_tasks(self) -> int:
        """Return how many tasks the plan divides the compaction into."""
        return len(self.tasks)

    def __repr__(self) -> str:
        tasks = f"<{len(self.tasks)} compaction tasks>"
        return f"CompactionPlan(read_version={self.read_version}, tasks={tasks})"


class Compaction:
    """The steps of a compaction: plan, execute each task, commit."""

    @staticmethod
    def plan(dataset: OpenTable, options: CompactionOptions) -> CompactionPlan:
        """Return what is to be done. Raises ValueError for an option that cannot be."""
        for name in options:
            if name not in CompactionOptions.__annotations__:
                raise DataRefused(f"Invalid compaction option: {name}")
        held = {name: value for name, value in options.items() if value is not None}
        options, snapshot = cast("CompactionOptions", held), dataset._snapshot
        _is_deferred(snapshot, options)
        tasks = []
        for group in compaction.plan_compaction(snapshot, _rules(options)):
            fragments = [FragmentMetadata.from_message(rows.fragment.message) for rows in group]
            tasks.append(CompactionTask(dataset.version, fragments, options))
        return CompactionPlan(dataset.version, tasks)

    @staticmethod
    def execute(dataset: OpenTable, options: CompactionOptions) -> CompactionMetrics:
        """Plan, run every task, commit. Raises CommitConflict."""
        plan = Compaction.plan(dataset, options)
        with Draft() as draft:
            rewrites = [task._run(dataset, draft) for task in plan.tasks]
            return _committed(dataset, rewrites, draft, options)

    @staticmethod
    def commit(
        dataset: OpenTable,
        rewrites: Sequence[RewriteResult],
        options: CompactionOptions | None = None,
    ) -> CompactionMetrics:
        """Reserve ids for the new fragments by a version of its own, then put them in place."""
        return _committed(dataset, rewrites, Draft(), {} if options is None else options)


class DatasetOptimizer:
    """What makes a dataset faster without changing what it holds."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def compact_files(self, **options: Unpack[CompactionOptions]) -> CompactionMetrics:
        """Write anew what is small or has many deleted rows. Raises ValueError, CommitConflict."""
        return Compaction.execute(self._table, options)

    def optimize_indices(
        self,
        index_names: Sequence[str] | None = None,
        num_indices_to_merge: int | None = None,
        retrain: bool = False,
        **kwargs: object,
    ) -> None:
        """Bring indices up to date: rows that no segment covers are taken in.

        With 0 for `num_indices_to_merge` they get a segment of their own, for vectors also without
        a number unless partitions have become too large or too small. Raises CommitConflict.
        """
        table, given = self._table, (index_names, num_indices_to_merge)
        updates = list(update_indices(table._snapshot, *given, retrain=retrain))
        if updates:
            new, removed = zip(*updates, strict=True)
            commit_segments(table, new, list(chain.from_iterable(removed)))

    def enable_auto_cleanup(self, auto_cleanup_config: AutoCleanupConfig, **kwargs: object) -> None:
        """Let old versions go as the table grows."""
        age = f"{auto_cleanup_config['older_than_seconds']}s"
        interval = str(auto_cleanup_config["interval"])
        update_config(self._table, {INTERVAL_KEY: interval, AGE_KEY: age})

    def disable_auto_cleanup(self, **kwargs: object) -> None:
        """Take the automatic cleanup of old versions out of the config."""
        delete_config_keys(self._table, [INTERVAL_KEY, AGE_KEY])


def _at(dataset: OpenTable, version: int) -> Snapshot:
    """Return a version, the open one even where a cleanup has taken its manifest."""
    return dataset._snapshot if version == dataset.version else dataset.at_version(version)


def _is_deferred(snapshot: Snapshot, options: CompactionOptions) -> bool:
    """Return whether indices stay as they are, to be remapped later. Raises OperationRefused."""
    deferred = bool(options.get("defer_index_remap"))
    if deferred and snapshot.stable_row_ids:
        raise OperationRefused("defer_index_remap: the dataset uses stable row IDs")
    return deferred


def _committed(
    dataset: OpenTable, rewrites: Sequence[RewriteResult], draft: Draft, options: CompactionOptions
) -> CompactionMetrics:
    """Commit the rewrites of a compaction; the files of `draft` go when it is refused."""
    deferred = _is_deferred(dataset._snapshot, options)
    if not rewrites:
        return CompactionMetrics()
    read = rewrites[0].read_version
    messages = [[one.to_message() for one in result.new_fragments] for result in rewrites]
    new = [fragment for held in messages for fragment in held]
    reservation = new_transaction(dataset.version)
    reservation.reserve_fragments.num_fragments = len(new)
    version = commit(dataset._snapshot.store, Staged(reservation), CommitPolicy(), dataset._ctx)
    reserved = dataset.at_version(version).manifest.message
    for number, fragment in enumerate(new):
        fragment.id = reserved.max_fragment_id - len(new) + 1 + number
    transaction = new_transaction(read)
    snapshot = _at(dataset, read)
    by_id = {rows.fragment.id: rows for rows in snapshot.fragments}
    groups = []
    for result, held in zip(rewrites, messages, strict=True):
        old = [one.to_message() for one in result.original_fragments]
        transaction.rewrite.groups.add(old_fragments=old, new_fragments=held)
        groups.append(([by_id[one.id] for one in old], held))
    reuse, known = None, dataset._snapshot if dataset.version > read else snapshot
    if deferred:
        reuse = compaction.reuse_entry(known, groups, version, draft)
    else:
        transaction.rewrite.rewritten_indices.extend(compaction.rewrite_moved(known, groups, draft))
    dataset._commit(Staged(transaction, reuse_index=reuse, read=known.manifest, draft=draft))
    each = zip(*(astuple(result.metrics) for result in rewrites), strict=True)
    return CompactionMetrics(*map(sum, each))


def _rules(options: CompactionOptions) -> compaction.CompactionRules:
    """Return the options as values. Raises ValueError."""
    mode, version = options.get("compaction_mode"), options.get("data_storage_version")
    if mode is not None and mode not in MODES:
        raise DataRefused(f'Invalid compaction mode "{mode}". Valid values: {", ".join(MODES)}')
    for name in ("max_source_fragments", "max_source_rows", "max_source_bytes"):
        if name in options and unsigned(options[name]) == 0:
            raise DataRefused(f"{name} must be greater than 0 (use None for no limit)")
    given = {name: options.get(name) for name in compaction.CompactionRules.__match_args__}
    given["data_storage_version"] = None if version is None else version_named(version)
    given = {name: value for name, value in given.items() if value is not None}
    return compaction.CompactionRules(**given)  # type: ignore[arg-type]
