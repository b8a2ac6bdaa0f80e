"""Scenarios: the steps of a case that writes versions, and the expected table afterwards.

Actors are processes of the implementation; each step is one request of an actor, based on a version
it has read. The outcome of a step follows from the response and from the versions on disk. At the
end the implementation and the reference read the table, and the reference validates it.
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
from lance_conformance.judging.checks import Check, HoldsTable, Survives, expected_table
from lance_conformance.judging.manifest_facts import first_mismatch, manifest_facts
from lance_conformance.judging.verdicts import PASS, Verdict, judge_response
from lance_conformance.judging.writer_output import unowned_ranges
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.messages import Message
from lance_conformance.protocol.scratch import scratch_folder
from lance_conformance.protocol.session import RequestResult
from lance_conformance.suite.cases import Case

COMMITTED, REBASED, NOOP = "committed", "rebased", "noop"
CONFLICT, REFUSED = "conflict", "refused"

DONE = frozenset({COMMITTED, REBASED})
"""Outcomes that create a version."""

SendRequest = Callable[[str, str, Mapping[str, object]], RequestResult]
"""Sends one request of an actor: actor, operation, fields."""


NO_RESPONSE = RequestResult(None)
"""Placeholder of a check without a request."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """One request, its result and the verdict on it."""

    name: str
    verdict: Verdict
    answer: RequestResult = NO_RESPONSE


def run_scenario(
    case: Case, expected: Mapping[str, Any], table_path: Path, send: SendRequest
) -> Iterator[StepResult]:
    """Run the steps of a case on the table at `table_path`, then check the table."""
    steps = case.manifest["input"]["steps"]
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        allowed = expected["race"]["allowed"] if last else sorted(DONE)
        before = table_versions(table_path)
        fields = _request_fields(case, step, table_path)
        answer = send(step["actor"], step["op"], fields)
        verdict = _protocol_verdict(case, step["op"], answer)
        if verdict == PASS and answer.response is not None:
            verdict = _effect_verdict(answer.response, fields, before, table_path, allowed)
        yield StepResult(f"step {number + 1}", verdict, answer)
        if verdict.outcome != Outcome.PASS:
            return
        may_commit = bool(DONE & set(allowed))  # what is expected is what a commit leaves
        if may_commit and table_versions(table_path) == before:
            yield StepResult("manifest", _manifest_verdict({}, table_path))
            return
    yield from _final_checks(case, expected, table_path, send)


def _effect_verdict(
    response: Message,
    fields: Mapping[str, object],
    before: list[int],
    table_path: Path,
    allowed: list[str],
) -> Verdict:
    """Return the verdict on the effect of a step on disk."""
    try:
        after = table_versions(table_path)
    except LanceError as error:
        return Verdict(Outcome.FAIL, f"the reference refuses the table: {error}")
    return _outcome_verdict(step_outcome(response, fields, before, after), allowed, response)


def table_versions(root: Path) -> list[int]:
    """Return the versions on disk, oldest first; none where there is no table."""
    try:
        names = list_versions(open_store(str(root)), Context(root.name))
    except NotFound:
        return []
    return [name.version for name in names]


def step_outcome(
    response: Message, fields: Mapping[str, object], before: list[int], after: list[int]
) -> str:
    """Return the outcome of a step, from its response and the versions before and after it.

    A cleanup removes old versions and creates none. The stage of a refusal is ignored.
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


def _request_fields(case: Case, step: Mapping[str, Any], table_path: Path) -> dict[str, object]:
    """Return the request of a step."""
    fields = {"uri": str(table_path), **step.get("args", {})}
    if "args" in fields:
        fields["args"] = _with_input_copy(case, fields["args"], table_path)
    return _with_input_copy(case, fields, table_path)


def _with_input_copy(case: Case, fields: Mapping[str, Any], table_path: Path) -> dict[str, Any]:
    """Copy the input of a step next to the table, under a neutral name."""
    if "input" not in fields:
        return dict(fields)
    copy = table_path.parent / f"input{len(list(table_path.parent.iterdir()))}.arrow"
    shutil.copyfile(case.folder / fields["input"], copy)
    return {**fields, "input": str(copy)}


def _protocol_verdict(case: Case, op: str, answer: RequestResult) -> Verdict:
    """Return the verdict on a response that is neither `ok` nor a refusal, PASS otherwise."""
    if answer.response is None:
        return Verdict(answer.outcome, answer.detail)
    verdict = judge_response(case, Check("step", op, {}, Survives()), answer.response, Path())
    return Verdict(verdict.outcome, verdict.detail if verdict.outcome != Outcome.PASS else "")


def _outcome_verdict(result: str, allowed: list[str], response: Message) -> Verdict:
    """Return the verdict on an outcome; a refusal of kind `other` may be a conflict."""
    unnamed = result == REFUSED and response["reject"].get("kind", "other") == "other"
    if result in allowed or (unnamed and CONFLICT in allowed):
        return PASS
    detail = f"{result}, not {' or '.join(allowed)}"
    if "reject" in response:
        detail += f": {response['reject']['message']}"
    may_commit = bool(DONE & set(allowed))
    if result in DONE and not may_commit:
        return Verdict(Outcome.ACCEPTS_INVALID, detail)
    refuses = result in (CONFLICT, REFUSED) and may_commit
    return Verdict(Outcome.REJECTS_VALID if refuses else Outcome.FAIL, detail)


def _final_checks(
    case: Case, expected: Mapping[str, Any], table_path: Path, send: SendRequest
) -> Iterator[StepResult]:
    """Read the table with the implementation and the reference, and validate it."""
    args = case.manifest["input"].get("args", {})
    if "table" in expected:
        holds = expected_table(case, expected)
        actor = case.manifest["input"]["steps"][-1]["actor"]
        out = table_path.parent / "self.arrow"
        answer = send(actor, "dataset.read", _read_fields(table_path, args, out))
        yield StepResult("self", _table_verdict(case, holds, answer, out), answer)
        with scratch_folder() as folder:  # the adapter may have written anything next to the table
            out = folder / "reference.arrow"
            answer = RequestResult(in_process("dataset.read", _read_fields(table_path, args, out)))
            yield StepResult("reference", _table_verdict(case, holds, answer, out), answer)
    yield StepResult("manifest", _manifest_verdict(expected, table_path))


def _read_fields(table_path: Path, args: Mapping[str, object], out: Path) -> dict[str, object]:
    return {"uri": str(table_path), **args, "out": str(out)}


def _table_verdict(case: Case, holds: HoldsTable, answer: RequestResult, out: Path) -> Verdict:
    if answer.response is None:
        return Verdict(answer.outcome, answer.detail)
    verdict = judge_response(case, Check(out.stem, "dataset.read", {}, holds), answer.response, out)
    return verdict if verdict.outcome == Outcome.PASS else Verdict(verdict.outcome, verdict.detail)


def _manifest_verdict(expected: Mapping[str, Any], table_path: Path) -> Verdict:
    """Compare the latest version with the expected facts, and validate it."""
    try:
        if "manifest" in expected:
            facts = {**manifest_facts(table_path), "versions": table_versions(table_path)}
            found = first_mismatch(expected["manifest"], facts, "manifest")
            if found is not None:
                return Verdict(Outcome.FAIL, found)
        broken = [one for one in validate(table_path, deep=True) if one.severity == "must"]
    except LanceError as error:
        return Verdict(Outcome.FAIL, f"the reference refuses the table: {error}")
    if broken:
        findings = "; ".join(f"{one.clause}: {one.message}" for one in broken[:3])
        return Verdict(Outcome.FAIL, f"validate reports {findings}")
    for path, ranges in unowned_ranges(table_path):
        return Verdict(Outcome.FAIL, f"{path}: bytes without an owner: {ranges[:3]}")
    return PASS
