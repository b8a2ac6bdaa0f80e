"""Saving: tables with an index by either implementation, and what the oracle finds in both."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pyarrow as pa
import pylanceref
import pylanceref.indices

from lance_conformance.campaigns.queries.answers.asking import conditions
from lance_conformance.campaigns.queries.answers.subjects import OURS, THEIRS, Subject, named
from lance_conformance.oracle import lance

FRAGMENTS = 3
"""Fragments of a table."""

VERSIONS = ("2.0", "2.1", "2.2")
"""Versions of data files; subjects take turns."""

REFUSALS = (ValueError, TypeError, OSError, NotImplementedError)
"""How either refuses what it cannot do."""

DELETED = "_rowoffset in (3, 77, 78, 149, 150, 260)"
"""Rows that go once there is an index."""


@dataclass(slots=True)
class Question:
    """A condition, the addresses of the rows it holds for, and whether the oracle asked its index.

    `astray` names the tables in which the oracle's own index gave it other rows, `loses` says that
    it only gave fewer.
    """

    condition: str
    rows: list[int]
    asked: bool
    astray: list[str] = field(default_factory=list)
    loses: bool = False


def save_once(name: str, folder: Path, seed: int, count: int) -> list[str]:
    """Save a subject, unless it is there; return what is wrong with the oracle's own answers.

    Nothing is saved, and nothing is wrong, where neither side makes an index of such values.
    """
    subject, place = named(name), folder / name
    if not (place / "questions.json").exists():
        version = VERSIONS[sum(name.encode()) % len(VERSIONS)]
        try:
            save(subject, place, version, seed, count)
        except REFUSALS as error:
            if not _is_made_by_reference(subject, place):
                return []
            return [f"the reference makes an index that the oracle refuses: {error}"[:300]]
    questions = json.loads((place / "questions.json").read_text())
    wrong = []
    if len(questions) < count:
        wrong.append(f"{len(questions)} questions of {count}")
    astray = [one for one in questions if one["astray"]]
    if astray and not (subject.divergence and all(one["loses"] for one in astray)):
        first = astray[0]
        wrong.append(
            f"the oracle's index gives other rows to {len(astray)} questions, "
            f"in {first['astray']}: {first['condition']}"
        )
    return wrong


def _is_made_by_reference(subject: Subject, place: Path) -> bool:
    """Try to make the index by the reference; remove the tables where it refuses."""
    try:
        _index(pylanceref, str(place / OURS), subject)
    except REFUSALS:
        shutil.rmtree(place)
        return False
    return True


def save(subject: Subject, folder: Path, version: str, seed: int, count: int) -> list[Question]:
    """Write both tables below a folder, with `questions.json` beside them; return the questions.

    What a condition holds for is what the oracle finds without an index.
    """
    shutil.rmtree(folder, ignore_errors=True)
    theirs, ours = (str(folder / name) for name in (THEIRS, OURS))
    oracle = lance()
    oracle.write_dataset(
        table(subject, seed),
        theirs,
        max_rows_per_file=subject.rows // FRAGMENTS + 1,
        data_storage_version=version,
    )
    shutil.copytree(theirs, ours)
    for module, path in ((oracle, theirs), (pylanceref, ours)):
        _index(module, path, subject)
    for path in (theirs, ours):
        oracle.dataset(path).delete(DELETED)
    opened = {name: oracle.dataset(folder / name) for name in (THEIRS, OURS)}
    found = list(islice(_questions(subject, seed, opened), count))
    (folder / "questions.json").write_text(json.dumps([asdict(one) for one in found]))
    return found


def table(subject: Subject, seed: int) -> pa.Table:
    """Return the rows of a subject: its column, and a number."""
    column = subject.column.drawn(Random(f"{subject.name} {seed}"), subject.rows, subject.run)
    named = {"ARROW:extension:name": subject.column.extension}
    metadata = named if subject.column.extension else None
    schema = pa.schema([pa.field("c", column.type, metadata=metadata), pa.field("n", pa.int32())])
    return pa.table([column, pa.array(range(subject.rows), pa.int32())], schema=schema)


def _index(module: ModuleType, path: str, subject: Subject) -> None:
    config = module.indices.IndexConfig(subject.kind, dict(subject.parameters))
    module.dataset(path).create_scalar_index("c", config)


def _questions(subject: Subject, seed: int, opened: dict[str, Any]) -> Iterator[Question]:
    """Yield what is asked; conditions that the oracle refuses are left out."""
    drawn = conditions(
        subject.leaf, subject.asked, subject.column, f"{subject.name} {seed}", denied=subject.denied
    )
    for condition in islice(drawn, 100_000):
        theirs = opened[THEIRS]
        try:
            rows = addresses(theirs, condition, use_index=False)
        except REFUSALS:
            continue
        asked = "ScalarIndexQuery" in theirs.scanner(filter=condition).explain_plan()
        found = {name: addresses(one, condition, use_index=True) for name, one in opened.items()}
        astray = [name for name, own in found.items() if own != rows]
        loses = all(set(own) <= set(rows) for own in found.values())
        yield Question(condition, rows, asked, astray, loses)


def addresses(dataset: Any, condition: str, *, use_index: bool) -> list[int]:
    """Return the addresses of the rows that a filter finds, ascending."""
    found = dataset.to_table(
        filter=condition, columns=[], with_row_address=True, use_scalar_index=use_index
    )
    return sorted(found["_rowaddr"].to_pylist())
