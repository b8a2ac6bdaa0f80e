"""Answers part: each type of index over each type of values, asked the same by both.

Of every subject the oracle writes two tables; one gets its index by the oracle and the other by the
reference. The oracle answers random conditions without an index, and the reference has to find the
same rows by both indices, reading no more than it needs: of every question the bytes read of
indices and of data are counted. An index that is asked is read; one that says alone which rows are
wanted leaves the data unread.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    begun,
    compared,
    conditions,
    contained,
    equalled,
    labelled,
    placed,
    spelled,
)

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS, guarded
from lance_conformance.oracle import lance

QUESTIONS = 200
"""Conditions on each subject."""

FRAGMENTS = 3
"""Fragments of a table."""

VERSIONS = ("2.0", "2.1", "2.2")
"""Versions of data files; subjects take turns."""

REFUSED = (*REFUSALS, TypeError)
"""How either refuses what it cannot do."""

DELETED = "_rowoffset in (3, 77, 78, 149, 150, 260)"
"""Rows that go once there is an index."""


TEXTS = ("utf8", "large_utf8")

THEIRS, OURS = "theirs", "ours"
"""Names of the table that the oracle gave its index, and of the other."""

RUN = 100
"""Equal values side by side where an index only tells where to look: not every zone has all."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An index over a column; `exact` where it alone says which rows are wanted.

    `kind` and `parameters` are those of `IndexConfig`; `asked` is what SQL calls the column;
    `divergence` names what makes the oracle lose rows by its own index.
    """

    name: str
    column: Column
    kind: str
    leaf: Leaf
    exact: bool = False
    parameters: Mapping[str, object] = field(default_factory=dict)
    asked: str = "c"
    divergence: str = ""

    @property
    def rows(self) -> int:
        """Rows of a table."""
        return 400 if self.exact else 6000

    def table(self, seed: int) -> pa.Table:
        """Return the rows: the column, and a number."""
        run, named = 1 if self.exact else RUN, {"ARROW:extension:name": self.column.extension}
        column = self.column.drawn(Random(f"{self.name} {seed}"), self.rows, run)
        metadata = named if self.column.extension else None
        fields = [pa.field("c", column.type, metadata=metadata), pa.field("n", pa.int32())]
        return pa.table([column, pa.array(range(self.rows), pa.int32())], schema=pa.schema(fields))


def subjects() -> Iterator[Subject]:
    """Yield each type of index with each type of values it is for."""
    for name, column in ORDERED.items():
        leaf = begun if name in TEXTS else compared
        floats, decimals = pa.types.is_floating(column.type), pa.types.is_decimal(column.type)
        yield Subject(f"btree-{name}", column, "btree", leaf, True)
        yield Subject(f"btree-pages-{name}", column, "btree", leaf, True, {"zone_size": 16})
        yield Subject(f"bitmap-{name}", column, "bitmap", compared, True)
        zones: dict[str, object] = {"rows_per_zone": 64}
        lost = "D.index.zonemap-only-nan" if floats else ""
        yield Subject(f"zonemap-{name}", column, "zonemap", leaf, parameters=zones, divergence=lost)
        if not (decimals or pa.types.is_boolean(column.type)):
            zones = {"number_of_items": 64, "probability": 0.01}
            yield Subject(f"bloomfilter-{name}", column, "bloomfilter", equalled, parameters=zones)
        if not (decimals or floats):
            for large in ("", "large-"):
                held = lists(column, large=bool(large))
                yield Subject(f"label-list-{large}{name}", held, "labellist", labelled, True)
    for name in TEXTS:
        yield Subject(f"ngram-{name}", ORDERED[name], "ngram", contained)
        yield Subject(f"fm-{name}", ORDERED[name], "fm", spelled, True)
    for name in ("int", "float", "string", "bool"):
        for kind, exact in {"btree": 1, "bitmap": 1, "zonemap": 0, "bloomfilter": 0}.items():
            leaf = equalled if kind == "bloomfilter" else compared
            given = {"target_index_type": kind.upper(), "path": "a"}
            named, asked = f"json-{kind}-{name}", f"json_get_{name}(c, 'a')"
            if (kind, name) != ("bloomfilter", "bool"):
                yield Subject(named, documents(name), "json", leaf, bool(exact), given, asked)
    for name in ("point", "linestring", "polygon", "box", "wkb", "wkt"):
        yield Subject(f"rtree-{name}", geometries(f"geoarrow.{name}"), "rtree", placed)


@dataclass(frozen=True, slots=True)
class Question:
    """A condition, the addresses of the rows it holds for, and whether the oracle asked its index.

    `astray` tells of the tables in which the oracle's own index gave it other rows than these.
    """

    condition: str
    rows: list[int]
    asked: bool
    astray: Sequence[str]


def save(subject: Subject, folder: Path, seed: int) -> list[Question]:
    """Write both tables below a folder; return the questions, by what the oracle then finds."""
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
        _index(module, path, subject)
    for path in (theirs, ours):
        oracle.dataset(path).delete(DELETED)
    opened = {name: oracle.dataset(folder / name) for name in (THEIRS, OURS)}
    return list(islice(_questions(subject, seed, opened), QUESTIONS))


def _index(module: ModuleType, path: str, subject: Subject) -> None:
    config = module.indices.IndexConfig(subject.kind, dict(subject.parameters))
    module.dataset(path).create_scalar_index("c", config)


def _questions(subject: Subject, seed: int, opened: dict[str, Any]) -> Iterator[Question]:
    """Yield what is asked; conditions that the oracle refuses are left out."""
    denied, name = subject.exact and subject.kind != "fm", f"{subject.name} {seed}"
    drawn = conditions(subject.leaf, subject.asked, subject.column, name, denied=denied)
    for condition in islice(drawn, 100_000):
        theirs = opened[THEIRS]
        try:
            rows = addresses(theirs, condition, use_index=False)
        except REFUSED:
            continue
        asked = "ScalarIndexQuery" in theirs.scanner(filter=condition).explain_plan()
        found = {name: addresses(one, condition, use_index=True) for name, one in opened.items()}
        how = {name: "fewer" if {*own} < {*rows} else "other" for name, own in found.items()}
        astray = [f"{how[name]} rows in {name}" for name, own in found.items() if own != rows]
        yield Question(condition, rows, asked, astray)


def addresses(dataset: Any, condition: str, *, use_index: bool = True) -> list[int]:
    """Return the addresses of the rows that a filter finds, ascending."""
    scan = {"columns": [], "with_row_address": True, "use_scalar_index": use_index}
    found = dataset.to_table(filter=condition, **scan)
    return sorted(found["_rowaddr"].to_pylist())


def find(subject: Subject, path: Path, questions: Sequence[Question]) -> tuple[int, list[str]]:
    """Ask a table questions, by the reference; return how many asked the index, and what is wrong.

    Bytes are summed over those that ask the index; `scan` is what a look at all rows reads of the
    data, counted where some has to be read.
    """
    sums, wrong = Counter[str](), list[str]()
    for question in questions:
        condition, rows = question.condition, question.rows
        dataset = pylanceref.dataset(path)
        counted = counting(dataset)
        found = addresses(dataset, condition, use_index=True)
        index, data = counted["_indices"].read_bytes, counted["data"].read_bytes
        asks = "ScalarIndexQuery" in dataset.scanner(filter=condition).explain_plan()
        if found != rows:
            wrong.append(f"{condition}: {len(found)} rows, not {len(rows)}")
        if question.asked and not asks:
            wrong.append(f"{condition}: the index is not asked")
        if not asks:
            continue
        sums.update(asking=1, index=index, data=data)
        if subject.exact:
            wrong += [] if index else [f"{condition}: the index is not read"]
            wrong += [f"{condition}: {data} bytes of data are read"] if data else []
        else:
            whole = pylanceref.dataset(path)
            scanned = counting(whole)
            addresses(whole, condition, use_index=False)
            sums["scan"] += scanned["data"].read_bytes
    if sums["asking"] and not sums["index"]:
        wrong.append("the index is not read")
    if sums["data"] >= sums["scan"] > 0:
        wrong.append(f"all data is read: {sums['data']} of {sums['scan']} bytes")
    return sums["asking"], wrong


def counting(dataset: pylanceref.LanceDataset) -> dict[str, IOStats]:
    """Let a dataset count the bytes that it reads of indices and of data, by their folders."""
    counted = {"_indices": IOStats(), "data": IOStats()}
    store: Any = dataset._snapshot.store
    opens = store.open

    def opened(path: str) -> Source:
        source: Source = opens(path)
        folder = path.partition("/")[0]
        if folder in counted:
            assert isinstance(source, LocalSource)
            source.stats = counted[folder]
        return source

    store.open = opened
    return counted


def answers(plan: Plan) -> Iterator[Session]:
    """Open the part: as many subjects as are planned, drawn by the seed."""
    named = {one.name: one for one in subjects()}
    names = [*named]
    Random(plan.seed).shuffle(names)
    yield Session(names[: plan.count], lambda name: ask(named[name], plan.folder / name, plan.seed))


def ask(subject: Subject, folder: Path, seed: int) -> Outcome:
    """Write the tables of a subject, ask them, and remove them unless something differs.

    Nothing is wrong where neither side makes an index of such values.
    """
    try:
        questions = save(subject, folder, seed)
    except REFUSED as refusal:
        if guarded(lambda: _index(pylanceref, str(folder / OURS), subject), REFUSED).error:
            shutil.rmtree(folder)
            return Outcome("refused", ("no index of these values by either",))
        told = f"the reference makes an index that the oracle refuses: {refusal}"[:300]
        return Outcome("differed", (told,))
    found = {maker: find(subject, folder / maker, questions) for maker in (THEIRS, OURS)}
    wrong = list(_own_faults(subject, questions))
    wrong += [f"index by {maker}: {one}" for maker, (_, told) in found.items() for one in told]
    asking = sum(count for count, _ in found.values())
    counts = {"questions": 2 * len(questions), "answered by the index": asking}
    if wrong:
        return Outcome("differed", wrong, counts)
    shutil.rmtree(folder)
    if any(one.astray for one in questions):
        return Outcome("known", (subject.divergence,), counts)
    return Outcome("agreed", (), counts)


def _own_faults(subject: Subject, questions: Sequence[Question]) -> Iterator[str]:
    """Yield what is wrong with the oracle's own answers."""
    if len(questions) < QUESTIONS:
        yield f"{len(questions)} questions of {QUESTIONS}"
    astray = [(one.condition, told) for one in questions for told in one.astray]
    if astray and not (subject.divergence and all("fewer" in told for _, told in astray)):
        yield f"the oracle's index gives other rows to {len(astray)} questions: {astray[0]}"


PARTS = (Part("answers", 400, answers),)
