"""Scanner: the rows of a table or of some of its fragments, as a stream (face).

Has the names of pylance's `LanceScanner` and `ScanStatistics`. Without a filter the columns are
read as they lie. With one its columns are read first, and the others only where rows pass. An order
needs its columns first too: they are read with the positions of the rows, which are then taken in
that order. Rows with the same values keep their order; nulls come last unless asked otherwise,
whatever the direction. Floats have their total order.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa
from lanceref.blobs.blob_writer import BLOB_KEY
from lanceref.core.comparison import sort_order
from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.file.schema import Field
from lanceref.file.schema_view import joined_path
from lanceref.search.blob_rows import locate_blobs
from lanceref.search.rows import Condition, passing_rows, read_passed
from lanceref.search.snapshot import Projection, Snapshot, scan_projection
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import POSITION, ROW_ADDRESS, ROW_OFFSET, FragmentRows

from pylanceref.blob import BlobFile
from pylanceref.sql.columns import Computed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ScanStatistics:
    """Requests and bytes of one scan, and what segments of indices and their parts did for it."""

    iops: int
    requests: int
    bytes_read: int
    indices_loaded: int = 0
    parts_loaded: int = 0
    index_comparisons: int = 0
    index_cache_hits: int = 0
    index_cache_misses: int = 0
    all_counts: dict[str, int] = field(default_factory=dict)
    all_times: dict[str, int] = field(default_factory=dict)


Counts = list[int]
"""Requests and bytes of a store, and what indices have done, since these were opened."""


def counts(snapshot: Snapshot) -> Counts:
    """Return what the store and the indices of a version have done so far."""
    io, uses = snapshot.store.stats, snapshot.indices.uses
    index_work = [uses.indices_loaded, uses.loaded, uses.comparisons, uses.hits]
    return [io.read_iops, io.read_bytes, *index_work]


def statistics(snapshot: Snapshot, before: Counts) -> ScanStatistics:
    """Return what has been done since there were other counts."""
    now = zip(counts(snapshot), before, strict=True)
    iops, size, indices, parts, comparisons, hits = (count - held for count, held in now)
    named = {"iops": iops, "bytes_read": size}
    named |= {"index_cache_hits": hits, "index_cache_misses": parts}
    return ScanStatistics(iops, iops, size, indices, parts, comparisons, hits, parts, named)


@dataclass(frozen=True, slots=True)
class ColumnOrdering:
    """A column to order by, its direction, and where nulls go."""

    column_name: str
    ascending: bool = True
    nulls_first: bool = False


def resize_batches(
    batches: Iterable[pa.RecordBatch], rows: int, size_bytes: int | None, *, strict: bool
) -> Iterator[pa.RecordBatch]:
    """Yield batches of about `size_bytes`, or when `strict` of exactly `rows` but for the last."""
    if not strict:
        if not size_bytes:
            yield from batches
            return
        for batch in batches:
            step = max(1, batch.num_rows)
            if batch.nbytes > size_bytes:
                step = max(1, batch.num_rows * size_bytes // batch.nbytes)
            for start in range(0, max(1, batch.num_rows), step):
                yield batch.slice(start, step)
        return
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) < rows:
            continue
        joined = pa.concat_batches(held)
        whole = joined.num_rows - joined.num_rows % rows
        yield from (joined.slice(start, rows) for start in range(0, whole, rows))
        held = [joined.slice(whole)]
    if any(one.num_rows for one in held):
        yield pa.concat_batches(held)


DEFAULT_BATCH_SIZE = 8192
"""Rows of a batch when neither the caller nor the environment says."""

SIZE_VARIABLE = "LANCE_DEFAULT_BATCH_SIZE"
"""Variable of the environment that says how many rows a batch has."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan returns besides its columns, by the names of arguments: None for the default.

    `early` are columns that are read with those of the filter, passed or not; `again` describes
    the scan with other arguments; the callback gets at the end what was read.
    """

    condition: Condition | None
    early: tuple[Field, ...]
    order_by: tuple[ColumnOrdering, ...]
    computed: Computed | None
    again: Callable[[Mapping[str, object]], LanceScanner]
    batch_size: int | None = None
    batch_size_bytes: int | None = None
    strict_batch_size: bool | None = None
    limit: int | None = None
    offset: int | None = None
    scan_stats_callback: Callable[[ScanStatistics], object] | None = None


BLOB_MODES = ("lazy", "bytes", "descriptions")
"""What blobs are in a data frame."""


def _blob_paths(fields: Iterable[pa.Field], *above: str) -> Iterator[tuple[str, ...]]:
    """Yield the names that lead to each blob column, outermost first."""
    for one in fields:
        if (one.metadata or {}).get(BLOB_KEY.encode()) == b"true":
            yield (*above, one.name)
        elif pa.types.is_struct(one.type):
            yield from _blob_paths(one.type, *above, one.name)


def _placed(value: object, file: BlobFile | None, below: Sequence[str]) -> object:
    """Return a value with a file where names lead; a null struct stays null."""
    if not below or not isinstance(value, dict):
        return value if below else file
    return {**value, below[0]: _placed(value[below[0]], file, below[1:])}


@dataclass(eq=False, repr=False)
class LanceScanner:
    """A scan that has been described but not run."""

    _snapshot: Snapshot
    _fragments: Sequence[FragmentRows]
    _projection: Projection
    _options: ScanOptions

    def __reduce__(self) -> NoReturn:
        """Raise TypeError, as pylance does: what a scan reads belongs to the process."""
        raise TypeError("a scanner cannot be pickled: pickle the dataset")

    @property
    def projected_schema(self) -> pa.Schema:
        """The Arrow schema of the rows that the scan returns."""
        computed = self._options.computed
        return self._projection.schema if computed is None else computed.schema

    @property
    def dataset_schema(self) -> pa.Schema:
        """The Arrow schema of the table that is scanned."""
        return self._snapshot.arrow_schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the order of the table, or in the one asked for.

        No batch crosses a fragment unless batches are to have exactly the size asked for.
        """
        before, options = counts(self._snapshot), self._options
        size, strict = options.batch_size_bytes, bool(options.strict_batch_size)
        yield from resize_batches(self._batches(), self._size, size, strict=strict)
        if options.scan_stats_callback is not None:
            options.scan_stats_callback(statistics(self._snapshot, before))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order, in batches of any size."""
        options = self._options
        batches = self._sorted() if options.order_by else self._in_order(self._projection)
        return batches if options.computed is None else map(options.computed.batch, batches)

    @property
    def _size(self) -> int:
        return self._options.batch_size or int(os.environ.get(SIZE_VARIABLE, DEFAULT_BATCH_SIZE))

    def _in_order(self, projection: Projection, *, whole: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the rows asked for; `whole` is before limit and offset."""
        options = self._options
        offset, limit = (0, None) if whole else (options.offset or 0, options.limit)
        if options.condition is None:
            rows = max(0, self._live_rows() - offset)
            end = offset + (rows if limit is None else min(rows, limit))
            return self._snapshot.scan(self._fragments, projection, self._size, offset, end)
        chosen = passing_rows(self._fragments, options.condition, offset, limit, options.early)
        return (batch for passed in chosen for batch in read_passed(passed, projection, self._size))

    def _sorted(self) -> Iterator[pa.RecordBatch]:
        """Read the keys of the order with the positions of the rows, then take these."""
        options, offset = self._options, self._options.offset or 0
        names = [one.column_name for one in options.order_by]
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        projection = scan_projection(schema, list(dict.fromkeys(names)), [ROW_OFFSET])
        projection = replace(projection, system=(*projection.system[:-1], POSITION))
        held = self._snapshot.bounded(self._in_order(projection, whole=True), self._fragments)
        keys = pa.Table.from_batches(held, schema=projection.schema)
        if not keys.num_rows:
            return
        orders = [(one.ascending, one.nulls_first) for one in options.order_by]
        order = sort_order([keys[name].combine_chunks() for name in names], orders)
        end = None if options.limit is None else offset + options.limit
        rows = pc.take(keys[ROW_OFFSET], pa.array(order[offset:end]))
        positions = rows.to_numpy().astype(np.int64)
        for start in range(0, len(positions), self._size):
            part = positions[start : start + self._size]
            yield from self._snapshot.take(part, self._projection).combine_chunks().to_batches()

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a reader of record batches."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to another library, by Arrow's protocol of streams."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def to_table(self) -> pa.Table:
        """Return all rows that the scan finds as a table."""
        return pa.Table.from_batches(
            self._snapshot.bounded(self.to_batches(), self._fragments), schema=self.projected_schema
        )

    def to_pandas(self, *, blob_mode: str = "lazy", **kwargs: object) -> pd.DataFrame:
        """Return all rows as a pandas DataFrame; `kwargs` are those of pyarrow.

        `blob_mode` says what blobs are: "lazy" files, "bytes" or "descriptions". Raises ValueError.
        """
        if blob_mode not in BLOB_MODES:
            raise ValueError(f"blob_mode must be one of: {', '.join(map(repr, BLOB_MODES))}")
        shown, again = self.projected_schema, self._options.again
        paths = list(_blob_paths(shown))
        if not paths or blob_mode == "descriptions":
            return self.to_table().to_pandas(**kwargs)
        if blob_mode == "bytes":
            return again({"blob_handling": "all_binary"}).to_table().to_pandas(**kwargs)
        table = again({"blob_handling": None, "with_row_address": True}).to_table()
        addresses = table[ROW_ADDRESS].to_pylist()
        frame = table.select(shown.names).to_pandas(**kwargs)
        for path in paths:
            located = locate_blobs(self._snapshot, self._source(path), None, addresses, None)
            files = [None if blob is None else BlobFile(blob) for _, blob in located]
            name, *below = path
            frame[name] = [_placed(*row, below) for row in zip(frame[name], files, strict=True)]
        return frame

    def _source(self, path: Sequence[str]) -> str:
        """Return the column of the table that a column of the result, or a part of it, shows."""
        computed, (name, *below) = self._options.computed, path
        if computed is not None:
            return joined_path([*computed.bound[computed.schema.names.index(name)].names, *below])
        return joined_path(path) if name in self.dataset_schema.names else ".".join(path)

    def count_rows(self) -> int:
        """Count rows; none is read without a filter. Raises QueryRefused with a limit or offset."""
        if self._options.limit is not None or self._options.offset is not None:
            raise QueryRefused("Cannot use limit/offset with aggregate: apply limit to the result")
        return self._count()

    def _count(self) -> int:
        if self._options.condition is None:
            return self._live_rows()
        chosen = passing_rows(self._fragments, self._options.condition, 0, None)
        return sum(len(passed.positions) for passed in chosen)

    def explain_plan(self, verbose: bool = False) -> str:
        """Return the steps of a scan, the last one first; `verbose` names columns read late."""
        projection = f"Projection: [{', '.join(self.projected_schema.names)}]"
        steps = [projection, *self._steps(verbose=verbose)]
        return "\n".join(f"{'  ' * depth}{step}" for depth, step in enumerate(steps)) + "\n"

    def _steps(self, *, verbose: bool) -> list[str]:
        """Return the steps before the projection, the last one first."""
        condition, steps = self._options.condition, [self._read_step()]
        if condition is not None:
            steps.insert(0, f"Filter: columns=[{', '.join(condition.filter.paths)}]")
            early = {field.name for field in self._early()}
            late = [one.name for one in self._projection.fields if one.name not in early]
            if verbose and late:
                names = ", ".join(late)
                steps.insert(0, f"Take: columns=({names}), projection=[{names}], source=stream")
            from pylanceref.plan_text import index_steps  # a scan needs no kind of search

            steps += index_steps(condition)
        return self._ordered_steps(steps)

    def _ordered_steps(self, steps: list[str]) -> list[str]:
        """Return steps after those of order, limit and offset."""
        options = self._options
        if options.order_by:
            keys = ", ".join(one.column_name for one in options.order_by)
            steps.insert(0, f"Sort: [{keys}]")
        if options.limit is not None or options.offset is not None:
            steps.insert(0, f"Limit: skip={options.offset or 0}, fetch={options.limit}")
        return steps

    def analyze_plan(self) -> str:
        """Run the scan and return the plan with what was read for it."""
        before, start = counts(self._snapshot), time.perf_counter()
        rows = sum(batch.num_rows for batch in self.to_batches())
        read, condition = statistics(self._snapshot, before), self._options.condition
        scanned = self._live_rows()
        if condition is not None:  # rows that are compared with it
            scanned = sum(map(condition.num_candidates, self._fragments))
        told = ("bytes_read", "iops", "requests", "indices_loaded", "parts_loaded")
        counted = {name: getattr(read, name) for name in (*told, "index_comparisons")}
        counted = {"output_rows": rows, "rows_scanned": scanned, **counted}
        metrics = f"metrics=[{', '.join(f'{name}={count}' for name, count in counted.items())}]"
        plan, reading = self.explain_plan(), self._read_step()
        step = reading if reading in plan else plan.split("\n", 1)[0]
        plan = plan.replace(step, f"{step}, {metrics}", 1)
        elapsed = f"{(time.perf_counter() - start) * 1e3:.3f}ms"
        return f"AnalyzeExec verbose=true, elapsed={elapsed}\n{plan}"

    def _early(self) -> Sequence[Field]:
        """Return the columns that are read for every row."""
        condition = self._options.condition
        if condition is None:
            return self._projection.fields
        return (*condition.projection.fields, *self._options.early)

    def _read_step(self) -> str:
        """Describe what is read of every fragment."""
        names = ", ".join(dict.fromkeys(field.name for field in self._early()))
        return f"LanceRead: projection=[{names}], num_fragments={len(self._fragments)}"

    def _live_rows(self) -> int:
        return sum(fragment.num_rows for fragment in self._fragments)
