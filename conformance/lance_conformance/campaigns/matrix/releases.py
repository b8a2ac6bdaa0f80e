"""Matrix campaign: every release, every format it knows, every history."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from lance_conformance.campaigns.matrix.histories import all_histories
from lance_conformance.campaigns.matrix.judging import DIFFERS, EXCUSED, REFUSED, Judge, Judgement
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, Verdict
from lance_conformance.matrix.wheels import Wheel, cache, interpreter, reference
from lance_conformance.oracle import RELEASE, RELEASES


def releases(plan: Plan) -> Iterator[Session]:
    """Open the part: as many releases and histories as are planned, evenly spread.

    One release at a time has a process, beside the reference and the oracle.
    """
    histories = {one.name: one for one in all_histories()}
    names = [f"{release}/{name}" for release in RELEASES for name in histories]
    judges = dict[str, tuple[Judge, list[str | None]]]()
    with closing(reference()) as ours, closing(_wheel(RELEASE)) as oracle, ExitStack() as stack:

        def run(case: str) -> Outcome:
            release, _, name = case.partition("/")
            if release not in judges:
                stack.close()
                judges.clear()
                wheel = oracle
                if release != RELEASE:
                    wheel = stack.enter_context(closing(_wheel(release)))
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                about = wheel.ask("about", folder=folder)
                judge = Judge(wheel, ours, oracle, Path(folder), v2_names=about["v2_names"])
                judges[release] = judge, [None, *about["formats"]]
            judge, formats = judges[release]
            found = [one for format_ in formats for one in judge.history(histories[name], format_)]
            return judged_history(found)

        yield Session(plan.spread(names), run)


def _wheel(release: str) -> Wheel:
    return Wheel(release, interpreter(release, cache()))


KINDS: dict[str, Verdict] = {DIFFERS: "differed", EXCUSED: "known", REFUSED: "refused"}
"""Verdicts on a case by the worst of its outcomes, from bad to good."""


def judged_history(found: Sequence[Judgement]) -> Outcome:
    """Return the outcome of a history with a release, in all formats and directions."""
    counts = Counter(f"{one.format} {one.direction}: {one.outcome}" for one in found)
    for kind, verdict in KINDS.items():
        worst = [one for one in found if one.outcome == kind]
        if worst:
            told = [f"{one.format} {one.direction}: {text}" for one in worst for text in one.told]
            reason = re.sub(r"/\S+|[0-9a-f-]{36}|\d+", "N", "".join(worst[0].told[:1]))
            return Outcome(verdict, told if kind == DIFFERS else [reason, *told], counts)
    return Outcome("agreed", (), counts)


PARTS = (Part("releases", 10_000, releases),)
