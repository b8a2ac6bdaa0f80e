"""Answers part: queries of each type of index over each type of values.

For every subject the oracle writes two tables; the oracle builds the index of one, the reference
that of the other. The oracle evaluates random conditions without an index, and the reference must
find the same rows by both indices. The bytes that it reads from indices and data are counted: a
query must read the index that its plan has, and must not read data if the index is exact.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pyarrow as pa
import pylanceref
import pylanceref.indices
from lanceref.core.cursor import IOStats
from lanceref.storage import Source
from lanceref.storage.local_file import LocalSource
from lanceref_testing.columns import ORDERED, Column, documents, geometries, lists
from lanceref_testing.conditions import (
    Leaf,
    compare,
    compare_equal,
    compare_geometry,
    compare_list,
    compare_text,
    conditions,
    contains_part,
    contains_word_part,
)

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS, guarded
from lance_conformance.oracle import lance

QUERIES, FRAGMENTS = 200, 3
"""Conditions of each subject; fragments of a table."""

VERSIONS = ("2.0", "2.1", "2.2")
"""Versions of the data files of subjects, in turn."""

REFUSED = (*REFUSALS, TypeError)
"""Errors of both implementations for unsupported indices and conditions."""

DELETED = "_rowoffset in (3, 77, 78, 149, 150, 260)"
"""Rows that are deleted after the index was built."""


TEXTS = ("utf8", "large_utf8")

THEIRS, OURS = "theirs", "ours"
"""Names of the tables whose indices the oracle and the reference built."""

RUN = 100
"""Length of runs of equal values for inexact indices, so that zones differ."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An index over a column; an `exact` one determines the rows without data.

    `kind` and `parameters` are those of `IndexConfig`; `expression` is the column in SQL;
    `divergence` is the reason that the oracle loses rows by its own index.
    """

    name: str
    column: Column
    kind: str
    leaf: Leaf
    exact: bool = False
    parameters: Mapping[str, object] = field(default_factory=dict)
    expression: str = "c"
    divergence: str = ""

    @property
    def rows(self) -> int:
        """Rows of a table."""
        return 400 if self.exact else 6000

    def table(self, seed: int) -> pa.Table:
        """Return the rows: the column `c`, and row numbers `n`."""
        run, extension = 1 if self.exact else RUN, self.column.extension
        column = self.column.draw(Random(f"{self.name} {seed}"), self.rows, run)
        metadata = {"ARROW:extension:name": extension} if extension else None
        fields = [pa.field("c", column.type, metadata=metadata), pa.field("n", pa.int32())]
        return pa.table([column, pa.array(range(self.rows), pa.int32())], schema=pa.schema(fields))


def subjects() -> Iterator[Subject]:
    """Yield each type of index with each type of values that it supports."""
    for name, column in ORDERED.items():
        leaf = compare_text if name in TEXTS else compare
        floats, decimals = pa.types.is_floating(column.type), pa.types.is_decimal(column.type)
        yield Subject(f"btree-{name}", column, "btree", leaf, True)
        yield Subject(f"btree-pages-{name}", column, "btree", leaf, True, {"zone_size": 16})
        yield Subject(f"bitmap-{name}", column, "bitmap", compare, True)
        zones: dict[str, object] = {"rows_per_zone": 64}
        known = "D.index.zonemap-only-nan" if floats else ""
        zonemap = Subject(f"zonemap-{name}", column, "zonemap", leaf, parameters=zones)
        yield replace(zonemap, divergence=known)
        if not (decimals or pa.types.is_boolean(column.type)):
            zones, title = {"number_of_items": 64, "probability": 0.01}, f"bloomfilter-{name}"
            yield Subject(title, column, "bloomfilter", compare_equal, parameters=zones)
        if not (decimals or floats):
            for large in ("", "large-"):
                items = lists(column, large=bool(large))
                yield Subject(f"label-list-{large}{name}", items, "labellist", compare_list, True)
    for name in TEXTS:
        yield Subject(f"ngram-{name}", ORDERED[name], "ngram", contains_part)
        yield Subject(f"fm-{name}", ORDERED[name], "fm", contains_word_part, True)
    for name in ("int", "float", "string", "bool"):
        for kind, exact in {"btree": 1, "bitmap": 1, "zonemap": 0, "bloomfilter": 0}.items():
            leaf = compare_equal if kind == "bloomfilter" else compare
            target = {"target_index_type": kind.upper(), "path": "a"}
            member = f"json_get_{name}(c, 'a')"
            if (kind, name) != ("bloomfilter", "bool"):
                title, column = f"json-{kind}-{name}", documents(name)
                yield Subject(title, column, "json", leaf, bool(exact), target, member)
    for name in ("point", "linestring", "polygon", "box", "wkb", "wkt"):
        yield Subject(f"rtree-{name}", geometries(f"geoarrow.{name}"), "rtree", compare_geometry)


@dataclass(frozen=True, slots=True)
class Query:
    """A condition, the addresses of its rows, and whether the oracle uses its index.

    `oracle_errors` describe different rows that the oracle finds by an index.
    """

    condition: str
    rows: list[int]
    uses_index: bool
    oracle_errors: Sequence[str]


def write_tables(subject: Subject, folder: Path, seed: int) -> list[Query]:
    """Write both tables below a folder; return queries with the rows that the oracle finds."""
    shutil.rmtree(folder, ignore_errors=True)
    theirs, ours = (str(folder / name) for name in (THEIRS, OURS))
    oracle = lance()
    oracle.write_dataset(
        subject.table(seed),
        theirs,
        max_rows_per_file=subject.rows // FRAGMENTS + 1,
        data_storage_version=VERSIONS[sum(subject.name.encode()) % len(VERSIONS)],
    )
    shutil.copytree(theirs, ours)
    for module, path in ((oracle, theirs), (pylanceref, ours)):
        _build_index(module, path, subject)
    for path in (theirs, ours):
        oracle.dataset(path).delete(DELETED)
    datasets = {name: oracle.dataset(folder / name) for name in (THEIRS, OURS)}
    return list(islice(_draw_queries(subject, seed, datasets), QUERIES))


def _build_index(module: ModuleType, path: str, subject: Subject) -> None:
    config = module.indices.IndexConfig(subject.kind, dict(subject.parameters))
    module.dataset(path).create_scalar_index("c", config)


def _draw_queries(subject: Subject, seed: int, datasets: dict[str, Any]) -> Iterator[Query]:
    """Yield queries, except conditions that the oracle refuses."""
    negated, name = subject.exact and subject.kind != "fm", f"{subject.name} {seed}"
    drawn = conditions(subject.leaf, subject.expression, subject.column, name, negated=negated)
    for condition in islice(drawn, 100_000):
        theirs = datasets[THEIRS]
        try:
            rows = addresses(theirs, condition, use_index=False)
        except REFUSED:
            continue
        uses_index = "ScalarIndexQuery" in theirs.scanner(filter=condition).explain_plan()
        results = {name: addresses(one, condition) for name, one in datasets.items()}
        errors = [
            f"{'fewer' if {*result} < {*rows} else 'other'} rows in {name}"
            for name, result in results.items()
            if result != rows
        ]
        yield Query(condition, rows, uses_index, errors)


def addresses(dataset: Any, condition: str, *, use_index: bool = True) -> list[int]:
    """Return the addresses of the rows of a filter, ascending."""
    scan = {"columns": [], "with_row_address": True, "use_scalar_index": use_index}
    rows = dataset.to_table(filter=condition, **scan)
    return sorted(rows["_rowaddr"].to_pylist())


def run_queries(subject: Subject, path: Path, queries: Sequence[Query]) -> tuple[int, list[str]]:
    """Run queries by the reference; return the number that use the index, and errors.

    Bytes are summed over queries that use the index; for an inexact index, all of them together
    must read less data than full scans.
    """
    sums, errors = Counter[str](), list[str]()
    for query in queries:
        condition, rows = query.condition, query.rows
        dataset = pylanceref.dataset(path)
        stats = count_bytes(dataset)
        result = addresses(dataset, condition)
        index, data = stats["_indices"].read_bytes, stats["data"].read_bytes
        uses_index = "ScalarIndexQuery" in dataset.scanner(filter=condition).explain_plan()
        if result != rows:
            errors.append(f"{condition}: {len(result)} rows, not {len(rows)}")
        if query.uses_index and not uses_index:
            errors.append(f"{condition}: the index is not used")
        if not uses_index:
            continue
        sums.update(queries=1, index=index, data=data)
        if subject.exact:
            errors += [] if index else [f"{condition}: the index is not read"]
            errors += [f"{condition}: {data} bytes of data are read"] if data else []
        else:
            scanned = pylanceref.dataset(path)
            scan_stats = count_bytes(scanned)
            addresses(scanned, condition, use_index=False)
            sums["scan"] += scan_stats["data"].read_bytes
    if sums["queries"] and not sums["index"]:
        errors.append("the index is not read")
    if sums["data"] >= sums["scan"] > 0:
        errors.append(f"all data is read: {sums['data']} of {sums['scan']} bytes")
    return sums["queries"], errors


def count_bytes(dataset: pylanceref.LanceDataset) -> dict[str, IOStats]:
    """Return statistics that count the bytes that a dataset reads, by folder."""
    stats = {"_indices": IOStats(), "data": IOStats()}
    store: Any = dataset._snapshot.store
    open_source = store.open

    def open_counted(path: str) -> Source:
        source: Source = open_source(path)
        folder = path.partition("/")[0]
        if folder in stats:
            assert isinstance(source, LocalSource)
            source.stats = stats[folder]
        return source

    store.open = open_counted
    return stats


def answers(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of subjects, drawn by the seed."""
    by_name = {one.name: one for one in subjects()}
    names = [*by_name]
    Random(plan.seed).shuffle(names)

    def run(name: str) -> Outcome:
        return run_subject(by_name[name], plan.folder / name, plan.seed)

    yield Session(names[: plan.count], run)


def run_subject(subject: Subject, folder: Path, seed: int) -> Outcome:
    """Write the tables of a subject, query them, and remove them unless something differs.

    The case is refused if neither implementation supports the index.
    """
    try:
        queries = write_tables(subject, folder, seed)
    except REFUSED as refusal:
        if guarded(lambda: _build_index(pylanceref, str(folder / OURS), subject), REFUSED).error:
            shutil.rmtree(folder)
            return Outcome("refused", ("no index of these values by either",))
        detail = f"the reference makes an index that the oracle refuses: {refusal}"[:300]
        return Outcome("differed", (detail,))
    results = {name: run_queries(subject, folder / name, queries) for name in (THEIRS, OURS)}
    errors = list(_oracle_errors(subject, queries))
    errors += [f"index of {name}: {text}" for name, (_, own) in results.items() for text in own]
    by_index = sum(count for count, _ in results.values())
    counts = {"queries": 2 * len(queries), "queries by the index": by_index}
    if errors:
        return Outcome("differed", errors, counts)
    shutil.rmtree(folder)
    if any(one.oracle_errors for one in queries):
        return Outcome("known", (subject.divergence,), counts)
    return Outcome("agreed", (), counts)


def _oracle_errors(subject: Subject, queries: Sequence[Query]) -> Iterator[str]:
    """Yield errors of the oracle that are no known divergence."""
    if len(queries) < QUERIES:
        yield f"{len(queries)} queries of {QUERIES}"
    errors = [(one.condition, text) for one in queries for text in one.oracle_errors]
    if errors and not (subject.divergence and all("fewer" in text for _, text in errors)):
        yield f"the oracle finds other rows by an index in {len(errors)} queries: {errors[0]}"


PARTS = (Part("answers", 400, answers),)
