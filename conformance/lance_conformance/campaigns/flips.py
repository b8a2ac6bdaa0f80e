"""Flip campaign: every byte of small fixtures flipped, with three masks.

Ten data files, a manifest and a deletion file of each kind are damaged one byte at a time. Reading
may answer with the right table, with a changed value where the format cannot see the change (see
`undetectable`), or with an error that says clause, file, offset, found and wanted. Every n-th case
is also validated and explained. Anything else is an escape: another exception, death, too much
time or memory, a silent change elsewhere, a refusal that `validate` does not report.

Run as `python -m lance_conformance.campaigns.flips`; progress is kept in a file and resumed.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from lance_conformance.campaigns.child import SECONDS, Ended, ask, is_too_much
from lance_conformance.campaigns.victims import (
    GOOD,
    Answer,
    Victim,
    answer,
    ask_inspectors,
    ask_reader,
    find_victims,
)

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a case, and the kind of leaf that owned the byte."""

    case: str
    kind: str
    detail: str
    owner: str
    ms: int

    @property
    def question(self) -> str:
        """What was asked."""
        return self.case.rpartition(":")[2]


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


def run(chosen: list[Case], progress: Path) -> list[Outcome]:
    """Run the cases, appending each outcome to `progress`; outcomes already there are kept."""
    kept = {}
    if progress.exists():
        lines = progress.read_text(encoding="utf-8").splitlines()
        kept = {
            outcome.case: outcome for outcome in (Outcome(**json.loads(line)) for line in lines)
        }
    terminal = Console(stderr=True)
    shown = track(chosen, "damaged", console=terminal, disable=not terminal.is_terminal)
    with progress.open("a", buffering=1, encoding="utf-8") as log:
        for case in shown:
            if case.name not in kept:
                outcome = kept[case.name] = _run_one(case)
                log.write(json.dumps(asdict(outcome)) + "\n")
    return [kept[case.name] for case in chosen]


def _run_one(case: Case) -> Outcome:
    victim, data, question = case.victim, case.damaged, QUESTIONS[case.question]
    owner, _ = victim.owners[case.at]
    num_rows = victim.wanted.num_rows  # read once, here: a child would read it again
    assert num_rows >= 0
    ended = ask(lambda: list(astuple(answer(lambda: question(victim, data, case.at)))))
    said = _judged(ended, len(data))
    taken = round(1000 * ended.seconds)
    return Outcome(case.name, said.kind, said.detail[:300], owner.kind, taken)


def _judged(ended: Ended, file_bytes: int) -> Answer:
    if ended.answer is None:
        return Answer("died", signal.strsignal(ended.signal) or ended.told)
    if ended.seconds > SECONDS:
        return Answer("too slow", f"{ended.seconds} s")
    if is_too_much(ended.peak_bytes, file_bytes):
        return Answer("too much memory", f"{ended.peak_bytes} bytes")
    return Answer(*ended.answer)


def report(outcomes: list[Outcome], out: Console) -> int:
    """Print the share per class and kind of owner, and the escapes; return the exit code."""
    for question in QUESTIONS:
        asked = [outcome for outcome in outcomes if outcome.question == question]
        by_kind: dict[str, Counter[str]] = {}
        for outcome in asked:
            by_kind.setdefault(outcome.kind, Counter())[outcome.owner] += 1
        for kind, owners in sorted(by_kind.items(), key=lambda item: -item[1].total()):
            share = 100 * owners.total() / len(asked)
            out.print(f"{question} {kind:<20}{owners.total():>7} {share:6.2f} %")
            for owner, count in owners.most_common():
                out.print(f"  {count:>7} {owner}", markup=False)
    escapes = [outcome for outcome in outcomes if outcome.kind not in GOOD]
    for outcome in escapes[:20]:
        out.print(f"ESCAPE {outcome.case}: {outcome.kind}, {outcome.detail}", markup=False)
    good = len(outcomes) - len(escapes)
    slowest = max((outcome.ms for outcome in outcomes), default=0)
    said = Counter(outcome.kind for outcome in outcomes)
    refusals = said["refused"] + said["incomplete error"]
    out.print(f"refusals with all their facts: {_share(said['refused'], refusals)}")
    out.print(f"allowed answers: {_share(good, len(outcomes))}")
    out.print(f"slowest: {slowest} ms of processor time, {1000 * SECONDS:g} allowed")
    return 1 if escapes else 0


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / max(1, whole):.2f} %)"


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fixtures", type=Path, default=Path("fixtures"))
    parser.add_argument("--every", type=int, default=1, help="run every n-th flip only")
    parser.add_argument(
        "--inspect-every", type=int, default=20, help="validate and explain each n-th"
    )
    parser.add_argument("--only", default="", help="only victims whose id holds this text")
    parser.add_argument("--progress", type=Path, help="file of outcomes to resume from")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        victims = [v for v in find_victims(options.fixtures, Path(folder)) if options.only in v.id]
        chosen = list(cases(victims, options.every, options.inspect_every))
        outcomes = run(chosen, options.progress or Path(folder, "outcomes.jsonl"))
    return report(outcomes, Console(soft_wrap=True, highlight=False))


if __name__ == "__main__":
    sys.exit(main())
