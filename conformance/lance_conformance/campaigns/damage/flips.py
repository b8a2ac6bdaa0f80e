"""Flips part: every byte of small fixtures flipped, with three masks.

Ten data files, a manifest and a deletion file of each kind are damaged one byte at a time. A data
file is read from memory; a file of a dataset is damaged in a copy, and the dataset is read. Reading
may answer with the right table, with a changed value where the format cannot see the change (see
`anatomy`), or with an error that says clause, file, offset, found and wanted. Every n-th case is
also validated and explained. Anything else is an escape: another exception, death, too much time or
memory, a silent change elsewhere, a refusal that `validate` does not report.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.core.context import Context, Finding
from lanceref.core.errors import BytesError, LanceError
from lanceref.explain import checker, explain_source
from lanceref.storage import BytesSource
from lanceref.validate import validate
from pylanceref.file import LanceFileReader

from lance_conformance import places, stored
from lance_conformance.campaigns.child import SECONDS, Ended, ask, is_too_much
from lance_conformance.campaigns.damage.anatomy import Anatomy, Owner, may_change
from lance_conformance.campaigns.runner import Outcome, Plan, Session

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
    def owners(self) -> dict[int, Owner]:
        """The owner of every byte."""
        return Anatomy(self.name, self.data).owners

    def read(self, data: bytes) -> pa.Table:
        """Read the file, or the dataset that holds it."""
        if self.dataset is None:
            reader = LanceFileReader(self.name, source=BytesSource(data, self.name))
            return reader.read_all().to_table()
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
    owned = victim.owners[at]
    owner = owned.leaf
    if may_change(owner, owned.in_schema) and table.num_rows == victim.wanted.num_rows:
        return Answer("changed value", owner.name)
    reported = [f.clause for f in victim.findings(data) if f.severity == "must"]
    if reported:
        return Answer("changed, reported", reported[0])
    told = f"{owner.kind} {owner.name}, {table.num_rows} rows of {table.schema.types}"
    return Answer("changed silently", told)


def ask_inspectors(victim: Victim, data: bytes, at: int) -> Answer:
    """Validate and explain damaged bytes: both must end, agree with the reader and be complete."""
    del at
    explained = explain_source(BytesSource(data, victim.name))
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


INSPECT_EVERY = 20
"""Every so many flips the victim is also validated and explained."""

MASKS = (0x01, 0x80, 0xFF)
"""Lowest bit, highest bit, all bits."""

QUESTIONS = {"read": ask_reader, "inspect": ask_inspectors}
"""What is asked about a damaged file."""


@dataclass(frozen=True, slots=True)
class Case:
    """One flip: byte `at` of the victim xor `mask`, and what is asked about it."""

    victim: Victim
    at: int
    mask: int
    question: str

    @property
    def name(self) -> str:
        """Id of the case: reproduces it."""
        return f"{self.victim.id}:{self.at}:{self.mask:02x}:{self.question}"

    @property
    def damaged(self) -> bytes:
        """The victim's bytes with the flip."""
        data = bytearray(self.victim.data)
        data[self.at] ^= self.mask
        return bytes(data)


def cases(victims: list[Victim], every: int) -> Iterator[Case]:
    """Yield every `every`-th flip, in a fixed order; some of them are also inspected."""
    flips = ((one, at, mask) for one in victims for at in range(len(one.data)) for mask in MASKS)
    for number, flip in enumerate(islice(flips, 0, None, every)):
        yield Case(*flip, "read")
        if number % INSPECT_EVERY == 0:
            yield Case(*flip, "inspect")


@contextmanager
def flips(plan: Plan) -> Iterator[Session]:
    """Open the part: as many flips as are planned, evenly spread over the victims."""
    with tempfile.TemporaryDirectory() as folder:
        victims = find_victims(places.fixtures(), Path(folder))
        flipped = len(MASKS) * sum(len(victim.data) for victim in victims)
        every = max(1, flipped // plan.count)
        chosen = {case.name: case for case in cases(victims, every)}
        yield Session(chosen, lambda name: run_one(chosen[name]))


def run_one(case: Case) -> Outcome:
    """Put one question to a damaged victim, in a child."""
    victim, data, question = case.victim, case.damaged, QUESTIONS[case.question]
    owner = victim.owners[case.at].leaf
    num_rows = victim.wanted.num_rows  # read once, here: a child would read it again
    assert num_rows >= 0
    ended = ask(lambda: list(astuple(answer(lambda: question(victim, data, case.at)))))
    said = _judged(ended, len(data))
    counts = {f"{case.question}: {said.kind}": 1}
    if said.kind in GOOD:
        return Outcome("agreed", (), counts)
    return Outcome("differed", (f"{said.kind} of {owner.kind}: {said.detail[:300]}",), counts)


def _judged(ended: Ended, file_bytes: int) -> Answer:
    if ended.answer is None:
        return Answer("died", signal.strsignal(ended.signal) or ended.told)
    if ended.seconds > SECONDS:
        return Answer("too slow", f"{ended.seconds} s")
    if is_too_much(ended.peak_bytes, file_bytes):
        return Answer("too much memory", f"{ended.peak_bytes} bytes")
    return Answer(*ended.answer)
