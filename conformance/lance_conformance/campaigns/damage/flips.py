"""Flips part: every byte of small fixtures flipped, with three masks.

Ten data files, a manifest and a deletion file of each kind are damaged one byte at a time. Reading
may answer with the right table, with a changed value where the format cannot see the change (see
`undetectable`), or with an error that says clause, file, offset, found and wanted. Every n-th case
is also validated and explained. Anything else is an escape: another exception, death, too much
time or memory, a silent change elsewhere, a refusal that `validate` does not report.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from lance_conformance import places
from lance_conformance.campaigns.child import SECONDS, Ended, ask, is_too_much
from lance_conformance.campaigns.damage.victims import (
    GOOD,
    Answer,
    Victim,
    answer,
    ask_inspectors,
    ask_reader,
    find_victims,
)
from lance_conformance.campaigns.runner import Outcome, Plan, Session

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


def cases(victims: list[Victim], every: int, inspect_every: int) -> Iterator[Case]:
    """Yield every `every`-th flip, in a fixed order; every `inspect_every`-th is also inspected."""
    number = 0
    for victim in victims:
        for at in range(len(victim.data)):
            for mask in MASKS:
                if number % every == 0:
                    yield Case(victim, at, mask, "read")
                    if number // every % inspect_every == 0:
                        yield Case(victim, at, mask, "inspect")
                number += 1


@contextmanager
def flips(plan: Plan) -> Iterator[Session]:
    """Open the part: as many flips as are planned, evenly spread over the victims."""
    with tempfile.TemporaryDirectory() as folder:
        victims = find_victims(places.fixtures(), Path(folder))
        flipped = len(MASKS) * sum(len(victim.data) for victim in victims)
        every = max(1, flipped // plan.count)
        chosen = {case.name: case for case in cases(victims, every, INSPECT_EVERY)}
        yield Session(chosen, lambda name: run_one(chosen[name]))


def run_one(case: Case) -> Outcome:
    """Put one question to a damaged victim, in a child."""
    victim, data, question = case.victim, case.damaged, QUESTIONS[case.question]
    owner, _ = victim.owners[case.at]
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
