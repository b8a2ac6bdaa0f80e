"""Victims: the files that the flip campaign damages, and the questions it asks about them.

A data file is read from memory. A file of a dataset is damaged in a copy of the dataset, and the
dataset is read.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.core.context import Context, Finding
from lanceref.core.errors import BytesError, LanceError
from lanceref.core.spans import Span
from lanceref.explain import Explanation, checker, explain_source
from lanceref.storage import BytesSource
from lanceref.validate import validate
from pylanceref.file import LanceFileReader

from lance_conformance import stored
from lance_conformance.campaigns.damage.undetectable import may_change, owners

FILES = (
    "file/2.0/binary/string",
    "file/2.0/dictionary/automatic",
    "file/2.0/flat/int32",
    "file/2.0/list/int32",
    "file/2.1/fullzip/nullable",
    "file/2.1/levels/list",
    "file/2.1/miniblock/int32",
    "file/2.1/variable/string",
    "file/2.2/bitpack/32",
    "file/2.2/dictionary/string",
)
"""Cases whose data files are damaged."""

DATASETS = {
    "file/0.1/container/batches": "data/*.lance",
    "file/0.1/dictionary/strings": "data/*.lance",
    "file/0.1/list/of-structs": "data/*.lance",
    "file/0.1/plain/vectors-of-bools": "data/*.lance",
    "file/0.1/statistics/strings": "data/*.lance",
    "table/any/manifest/plain": "_versions/*.manifest",
    "table/any/deletions/arrow": "_deletions/*.arrow",
    "table/any/deletions/bitmap": "_deletions/*.bin",
}
"""Fixtures of datasets, and the file of each that is damaged."""

GOOD = frozenset({"right", "refused", "changed value", "changed, reported", "inspected"})
"""Answers a reader may give to damaged bytes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a case came to: its class, and a line that says more."""

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Victim:
    """One file, alone or inside a dataset; `id` names it in reports."""

    id: str
    data: bytes
    name: str
    dataset: Path | None = None
    relative: str = field(default="", compare=False)

    @cached_property
    def wanted(self) -> pa.Table:
        """What the undamaged bytes read as."""
        return self.read(self.data)

    @cached_property
    def owners(self) -> dict[int, tuple[Span, bool]]:
        """The owner of every byte."""
        return owners(explain_source(BytesSource(self.data, self.name)).root)

    def read(self, data: bytes) -> pa.Table:
        """Read the file, or the dataset that holds it."""
        if self.dataset is None:
            return (
                LanceFileReader(self.name, source=BytesSource(data, self.name))
                .read_all()
                .to_table()
            )
        (self.dataset / self.relative).write_bytes(data)
        return pylanceref.dataset(self.dataset).to_table()

    def findings(self, data: bytes) -> list[Finding]:
        """Validate the file, or the dataset that holds it."""
        if self.dataset is not None:
            (self.dataset / self.relative).write_bytes(data)
            return validate(self.dataset, deep=True)
        found: list[Finding] = []
        checker(self.name)(BytesSource(data, self.name), Context(self.name, findings=found))
        return found

    def explain(self, data: bytes) -> Explanation:
        """Explain the damaged file itself."""
        return explain_source(BytesSource(data, self.name))


def find_victims(fixtures: Path, scratch: Path) -> list[Victim]:
    """Return the data files and datasets of the fixtures; datasets are copied into `scratch`."""
    found = []
    for case_id in FILES:
        file = stored.materialised(fixtures / case_id / "data.lance")
        found.append(Victim(case_id, file.read_bytes(), file.name))
    for case_id, pattern in DATASETS.items():
        copy = scratch / case_id
        shutil.copytree(stored.materialised(fixtures / case_id / "dataset"), copy)
        target = next(copy.glob(pattern))
        relative = target.relative_to(copy).as_posix()
        found.append(Victim(case_id, target.read_bytes(), target.name, copy, relative))
    return found


def answer(question: Callable[[], Answer]) -> Answer:
    """Ask, and classify what comes instead of an answer."""
    try:
        return question()
    except BytesError as error:
        place, facts = error.place, (error.clause, error.file, error.found, error.wanted)
        filled = all(str(fact).strip() for fact in facts) and place.offset >= 0
        return Answer("refused" if filled else "incomplete error", f"{error.clause}: {error}")
    except LanceError as error:
        return Answer("incomplete error", f"{type(error).__name__}: {error}")
    except BaseException as error:  # the campaign exists to find these  # noqa: BLE001
        return Answer("escaped", f"{type(error).__name__}: {error}")


def ask_reader(victim: Victim, data: bytes, at: int) -> Answer:
    """Read damaged bytes; `at` is the byte that differs."""
    table = victim.read(data)
    table.validate(full=True)
    if table.equals(victim.wanted, check_metadata=True):
        return Answer("right")
    owner, in_schema = victim.owners[at]
    if may_change(owner, in_schema) and table.num_rows == victim.wanted.num_rows:
        return Answer("changed value", owner.name)
    reported = [f.clause for f in victim.findings(data) if f.severity == "must"]
    told = f"{owner.kind} {owner.name}, {table.num_rows} rows of {table.schema.types}"
    return (
        Answer("changed, reported", reported[0]) if reported else Answer("changed silently", told)
    )


def ask_inspectors(victim: Victim, data: bytes, at: int) -> Answer:
    """Validate and explain damaged bytes: both must end, agree with the reader and be complete."""
    del at
    explained = victim.explain(data)
    found = victim.findings(data)
    for finding in [*found, *explained.findings]:
        facts = (finding.clause, finding.file, finding.found, finding.wanted, finding.message)
        if not all(fact.strip() for fact in facts) or finding.offset < 0:
            return Answer("incomplete finding", str(finding))
    musts = [finding.clause for finding in found if finding.severity == "must"]
    if victim.dataset is None and found != explained.findings:
        return Answer("explain and validate differ", f"{explained.findings} {found}")
    refused = answer(lambda: ask_reader(victim, data, 0))
    if refused.kind == "refused" and not musts:
        return Answer("not reported", refused.detail)
    if explained.unowned and not explained.findings and not musts:
        return Answer("unowned, not reported", str(explained.unowned))
    return Answer("inspected", musts[0] if musts else "")
