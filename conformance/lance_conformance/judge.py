"""Judge: one response held against one expectation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lance_conformance import violations
from lance_conformance.accepted import leniencies
from lance_conformance.cases import Case
from lance_conformance.checks import (
    Check,
    CountsRows,
    HasFacts,
    HoldsTable,
    IsValid,
    Refuses,
    Reports,
    Survives,
)
from lance_conformance.compare import first_difference
from lance_conformance.nearness import out_of_order, settled
from lance_conformance.outcomes import Outcome
from lance_conformance.output import BadOutput, allowed, read_output
from lance_conformance.protocol import Message
from lance_conformance.requirements import contradicts


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of one check, and the reason in words."""

    outcome: Outcome
    detail: str = ""


PASS = Verdict(Outcome.PASS)


def judge(case: Case, check: Check, response: Message, out: Path) -> Verdict:
    """Return the verdict on a response that kept to the protocol; `out` is the output asked for."""
    if "adapter_error" in response:
        return Verdict(Outcome.INFRA, f"adapter error: {response['adapter_error']['message']}")
    if response.get("panicked"):
        return Verdict(Outcome.PANIC, _reason(response))
    if "unsupported" in response:
        feature = response["unsupported"]["feature"]
        if contradicts(case, feature):
            return Verdict(Outcome.OVERCLAIM, f"claimed in hello, refused when asked: {feature}")
        return Verdict(Outcome.UNSUPPORTED, f"does not support {feature}")
    if "reject" in response:
        return _judge_refusal(check, response, out)
    return _judge_completed(check, response["ok"], out)


def _judge_refusal(check: Check, response: Message, out: Path) -> Verdict:
    if isinstance(check.expect, Survives):
        return PASS
    if isinstance(check.expect, Reports) and not check.expect.clauses:
        return PASS  # refusing to look at bytes that must be refused
    if isinstance(check.expect, HoldsTable) and check.expect.may_refuse:
        return Verdict(Outcome.PASS, _reason(response))
    if not isinstance(check.expect, Refuses):
        return Verdict(Outcome.REJECTS_VALID, _reason(response))
    if check.expect.unknown_flags:
        told = f"refused, as it should; not claimed: reader flags {check.expect.unknown_flags}"
        return Verdict(Outcome.UNSUPPORTED, told)
    if check.expect.before_output and _holds_something(out):
        return Verdict(Outcome.FAIL, "refused after output had been delivered")
    stage, expected = response["reject"]["stage"], check.expect.stage
    differs = expected != "any" and stage not in ("unknown", expected)
    note = f" (the case names stage {expected})" if differs else ""
    return Verdict(Outcome.PASS, _reason(response) + note)


def _holds_something(out: Path) -> bool:
    try:
        return out.lstat().st_size > 0
    except OSError:
        return False


def _judge_completed(check: Check, body: Mapping[str, Any], out: Path) -> Verdict:
    expect = check.expect
    if isinstance(expect, Refuses):
        return _judge_acceptance(expect, body, out)
    if isinstance(expect, HoldsTable):
        asked = {"version": check.args["version"]} if "version" in check.args else {}
        differs = _contradiction(asked, body, "")
        return Verdict(Outcome.FAIL, differs) if differs else _judge_table(expect, body, out)
    if isinstance(expect, Reports):
        return _judge_findings(expect, body)
    if isinstance(expect, IsValid):
        found = _calls_invalid(body)
        return Verdict(Outcome.REJECTS_VALID, _reported(body)) if found else PASS
    if isinstance(expect, HasFacts):
        missing = _contradiction(expect.facts, body, "")
        return PASS if missing is None else Verdict(Outcome.FAIL, missing)
    if isinstance(expect, CountsRows):
        return _judge_fragments(expect, body.get("fragments"))
    return PASS


def _judge_acceptance(expect: Refuses, body: Mapping[str, Any], out: Path) -> Verdict:
    """Return the verdict on an answer where a refusal is wanted, or the rows without the damage."""
    completed = f"completed, rows: {body.get('num_rows', '?')}"
    if expect.unless is None:
        return Verdict(Outcome.ACCEPTS_INVALID, completed)
    verdict = _judge_table(expect.unless, body, out)
    if verdict.outcome == Outcome.PASS:
        return Verdict(Outcome.PASS, "the rows are those without the violation")
    return Verdict(Outcome.ACCEPTS_INVALID, f"{completed}; {verdict.detail}")


def _judge_table(expect: HoldsTable, body: Mapping[str, Any], out: Path) -> Verdict:
    if Path(body["out"]) != out:
        return Verdict(Outcome.BAD_OUTPUT, f"wrote to {body['out']}, asked for {out}")
    try:
        found = read_output(out, allowed(expect.table))
    except BadOutput as error:
        return Verdict(Outcome.BAD_OUTPUT, str(error))
    if "num_rows" in body and int(body["num_rows"]) != found.num_rows:
        told = f"says {body['num_rows']} rows, wrote {found.num_rows}"
        return Verdict(Outcome.FAIL, told)
    difference = None
    if expect.tolerance:
        difference = out_of_order(found)
        found = settled(expect.table, found, expect.tolerance)
    difference = difference or first_difference(
        expect.table, found, order=expect.order, accept_types=expect.accept_types
    )
    if difference is not None:
        return Verdict(Outcome.FAIL, difference)
    return Verdict(Outcome.PASS, "; ".join(leniencies(expect.table.schema, found.schema)))


def _judge_findings(expect: Reports, body: Mapping[str, Any]) -> Verdict:
    found = _clauses(body)
    absent = [clause for clause in expect.clauses if clause not in found]
    if absent:
        return Verdict(Outcome.FAIL, f"{_reported(body)}, not {', '.join(absent)}")
    if not expect.clauses and not _calls_invalid(body):
        return Verdict(Outcome.ACCEPTS_INVALID, "validate calls the bytes valid")
    return PASS


def _judge_fragments(expect: CountsRows, told: Sequence[Mapping[str, str]] | None) -> Verdict:
    if told is None or not all({"physical_rows", "deleted"} <= one.keys() for one in told):
        return PASS
    held = sum(int(one["physical_rows"]) - int(one["deleted"]) for one in told)
    if held == expect.num_rows:
        return PASS
    return Verdict(Outcome.FAIL, f"fragments of {held} rows, the table has {expect.num_rows}")


def _calls_invalid(body: Mapping[str, Any]) -> bool:
    """Whether a body of `validate` says that a MUST is broken, even where it says `valid` too."""
    return not body["valid"] or any(
        finding.get("severity") == "must" or finding.get("clause") in violations.musts()
        for finding in body["findings"]
    )


def _clauses(body: Mapping[str, Any]) -> list[str]:
    return sorted({finding["clause"] for finding in body["findings"] if "clause" in finding})


def _reported(body: Mapping[str, Any]) -> str:
    unnamed = sum("clause" not in finding for finding in body["findings"])
    told = [", ".join(_clauses(body))] if _clauses(body) else []
    told += [f"{unnamed} without a clause"] if unnamed else []
    return f"validate reports {' and '.join(told) or 'nothing'}"


def _contradiction(expected: object, found: object, where: str) -> str | None:
    """Return where a body says something else; what it does not expose is no contradiction."""
    if isinstance(expected, dict) and isinstance(found, dict):
        told = (
            _contradiction(value, found[key], f"{where}.{key}")
            for key, value in expected.items()
            if key in found
        )
        return next((text for text in told if text is not None), None)
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{where}: expected {len(expected)} items, found {len(found)}"
        pairs = zip(expected, found, strict=True)
        told = (_contradiction(e, f, f"{where}[{i}]") for i, (e, f) in enumerate(pairs))
        return next((text for text in told if text is not None), None)
    return None if expected == found else f"{where}: expected {expected}, found {found}"


def _reason(response: Message) -> str:
    refusal = response.get("reject", {})
    told = f"{refusal.get('stage', '')} {refusal.get('kind', '')}".strip()
    return f"{told}: {refusal.get('message', '')}" if told else _shown(response)


def _shown(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)[:300]
