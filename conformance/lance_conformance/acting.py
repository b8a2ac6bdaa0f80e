"""Acting: the steps of a case that makes versions, and what must then be in the table.

Actors are processes of the implementation; each step is one request of one of them, for a version
it has read. What became of a step is read from the response and from the versions on disk. At the
end the implementation itself and the reference read the table, and the reference's validation finds
no broken clause in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanceref.core.context import Context
from lanceref.core.errors import LanceError, NotFound
from lanceref.inspection import validate
from lanceref.storage import open_store
from lanceref.storage.manifests.manifest_names import list_versions

from lance_conformance.adapters.reference import in_process
from lance_conformance.cases import Case
from lance_conformance.checks import Check, HoldsTable, Survives, expected_table
from lance_conformance.judge import PASS, Verdict, judge
from lance_conformance.left_behind import contradiction, manifest_facts
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol import Message
from lance_conformance.scratch import scratch_folder
from lance_conformance.session import Answer
from lance_conformance.written import unowned

COMMITTED, REBASED, NOOP = "committed", "rebased", "noop"
CONFLICT, REFUSED = "conflict", "refused"

DONE = frozenset({COMMITTED, REBASED})
"""Outcomes that made a version."""

Ask = Callable[[str, str, Mapping[str, object]], Answer]
"""Sends one request: actor, operation, fields."""


NO_ANSWER = Answer(None)
"""Stands where nothing was asked."""


@dataclass(frozen=True, slots=True)
class Acted:
    """One request, its answer and the verdict on it."""

    name: str
    verdict: Verdict
    answer: Answer = NO_ANSWER


def act(case: Case, expected: Mapping[str, Any], given: Path, ask: Ask) -> Iterator[Acted]:
    """Take the steps of a case on the table at `given`, then look at what they left."""
    steps = case.manifest["input"]["steps"]
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        allowed = expected["race"]["allowed"] if last else sorted(DONE)
        before = versions(given)
        fields = _fields(case, step, given)
        answer = ask(step["actor"], step["op"], fields)
        verdict = _told(case, step["op"], answer)
        if verdict == PASS and answer.response is not None:
            verdict = _became(answer.response, fields, before, given, allowed)
        yield Acted(f"step {number + 1}", verdict, answer)
        if verdict.outcome != Outcome.PASS:
            return
    yield from _left(case, expected, given, ask)


def _became(
    response: Message,
    fields: Mapping[str, object],
    before: list[int],
    given: Path,
    allowed: list[str],
) -> Verdict:
    """Return the verdict on what a step left on disk, which may be anything."""
    try:
        after = versions(given)
    except LanceError as error:
        return Verdict(Outcome.FAIL, f"the reference refuses what is there: {error}")
    return _judge(outcome(response, fields, before, after), allowed, response)


def versions(root: Path) -> list[int]:
    """Return the versions on disk, oldest first; none where there is no table."""
    try:
        names = list_versions(open_store(str(root)), Context(root.name))
    except NotFound:
        return []
    return [name.version for name in names]


def outcome(
    response: Message, fields: Mapping[str, object], before: list[int], after: list[int]
) -> str:
    """Return what became of a step: by its response, and by the versions before and after it.

    A cleanup takes old versions away and makes none. The stage of a refusal is not considered.
    """
    made = bool(after) and after[-1:] != before[-1:]
    if "reject" in response:
        refusal = response["reject"]
        if made:
            return COMMITTED
        return CONFLICT if refusal.get("kind") == "conflict" else REFUSED
    if not made:
        return NOOP
    read = fields.get("read_version")
    expected = int(str(read)) + 1 if read is not None else (before or [0])[-1] + 1
    return COMMITTED if after[-1] == expected else REBASED


def _fields(case: Case, step: Mapping[str, Any], given: Path) -> dict[str, object]:
    """Return the request of a step."""
    fields = {"uri": str(given), **step.get("args", {})}
    if "args" in fields:
        fields["args"] = _with_input(case, fields["args"], given)
    return _with_input(case, fields, given)


def _with_input(case: Case, named: Mapping[str, Any], given: Path) -> dict[str, Any]:
    """Copy the input that is named beside the table, under a neutral name."""
    if "input" not in named:
        return dict(named)
    copy = given.parent / f"input{len(list(given.parent.iterdir()))}.arrow"
    shutil.copyfile(case.folder / named["input"], copy)
    return {**named, "input": str(copy)}


def _told(case: Case, op: str, answer: Answer) -> Verdict:
    """Return the verdict on a response that is neither an `ok` nor a refusal, PASS otherwise."""
    if answer.response is None:
        return Verdict(answer.outcome, answer.detail)
    found = judge(case, Check("step", op, {}, Survives()), answer.response, Path())
    return Verdict(found.outcome, found.detail if found.outcome != Outcome.PASS else "")


def _judge(became: str, allowed: list[str], response: Message) -> Verdict:
    """Return the verdict on a step; a refusal of no named kind may be a conflict."""
    unnamed = became == REFUSED and response["reject"].get("kind", "other") == "other"
    if became in allowed or (unnamed and CONFLICT in allowed):
        return PASS
    told = f"{became}, not {' or '.join(allowed)}"
    if "reject" in response:
        told += f": {response['reject']['message']}"
    wanted = bool(DONE & set(allowed))
    if became in DONE and not wanted:
        return Verdict(Outcome.ACCEPTS_INVALID, told)
    refuses = became in (CONFLICT, REFUSED) and wanted
    return Verdict(Outcome.REJECTS_VALID if refuses else Outcome.FAIL, told)


def _left(case: Case, expected: Mapping[str, Any], given: Path, ask: Ask) -> Iterator[Acted]:
    """Read the table by the implementation and by the reference, and validate it."""
    args = case.manifest["input"].get("args", {})
    if "table" in expected:
        wanted = expected_table(case, expected)
        actor = case.manifest["input"]["steps"][-1]["actor"]
        out = given.parent / "self.arrow"
        answer = ask(actor, "dataset.read", _reading(given, args, out))
        yield Acted("self", _held(case, wanted, answer, out), answer)
        with scratch_folder() as apart:  # an adapter may have put anything beside the table
            out = apart / "reference.arrow"
            answer = Answer(in_process("dataset.read", _reading(given, args, out)))
            yield Acted("reference", _held(case, wanted, answer, out), answer)
    yield Acted("manifest", _satisfies(expected, given))


def _reading(given: Path, args: Mapping[str, object], out: Path) -> dict[str, object]:
    return {"uri": str(given), **args, "out": str(out)}


def _held(case: Case, wanted: HoldsTable, answer: Answer, out: Path) -> Verdict:
    if answer.response is None:
        return Verdict(answer.outcome, answer.detail)
    found = judge(case, Check(out.stem, "dataset.read", {}, wanted), answer.response, out)
    return found if found.outcome == Outcome.PASS else Verdict(found.outcome, found.detail)


def _satisfies(expected: Mapping[str, Any], given: Path) -> Verdict:
    """Hold the latest version against what is expected of it, and against every MUST."""
    try:
        if "manifest" in expected:
            facts = {**manifest_facts(given), "versions": versions(given)}
            found = contradiction(expected["manifest"], facts, "manifest")
            if found is not None:
                return Verdict(Outcome.FAIL, found)
        broken = [one for one in validate(given, deep=True) if one.severity == "must"]
    except LanceError as error:
        return Verdict(Outcome.FAIL, f"the reference refuses what is there: {error}")
    if broken:
        told = "; ".join(f"{one.clause}: {one.message}" for one in broken[:3])
        return Verdict(Outcome.FAIL, f"validate reports {told}")
    for path, ranges in unowned(given):
        return Verdict(Outcome.FAIL, f"{path}: nobody owns the bytes {ranges[:3]}")
    return PASS
