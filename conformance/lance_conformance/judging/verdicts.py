"""Verdicts on responses: one response is compared with one expectation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lance_conformance.comparison.accepted_types import accepted_differences
from lance_conformance.comparison.search_scores import align_scores, order_error
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.judging.checks import (
    Check,
    CountsRows,
    HasFacts,
    HoldsTable,
    IsValid,
    Refuses,
    Reports,
    Survives,
)
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.messages import Message
from lance_conformance.protocol.output import InvalidOutput, output_limit, read_output
from lance_conformance.suite import violation_policy
from lance_conformance.suite.cases import Case
from lance_conformance.suite.requirements import contradicts_claims


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of one check, and the reason in words."""

    outcome: Outcome
    detail: str = ""


PASS = Verdict(Outcome.PASS)


def judge_response(case: Case, check: Check, response: Message, out: Path) -> Verdict:
    """Return the verdict on a valid response; `out` is the requested output path."""
    if "adapter_error" in response:
        return Verdict(Outcome.INFRA, f"adapter error: {response['adapter_error']['message']}")
    if response.get("panicked"):
        return Verdict(Outcome.PANIC, _refusal_text(response))
    if "unsupported" in response:
        feature = response["unsupported"]["feature"]
        if contradicts_claims(case, feature):
            return Verdict(Outcome.OVERCLAIM, f"claimed in hello, then unsupported: {feature}")
        return Verdict(Outcome.UNSUPPORTED, f"does not support {feature}")
    if "reject" in response:
        return _judge_refusal(check, response, out)
    return _judge_completed(check, response["ok"], out)


def _judge_refusal(check: Check, response: Message, out: Path) -> Verdict:
    if isinstance(check.expect, Survives):
        return PASS
    if isinstance(check.expect, Reports) and not check.expect.clauses:
        return PASS  # the bytes must be refused, `validate` may do so too
    if isinstance(check.expect, HoldsTable) and check.expect.may_refuse:
        return Verdict(Outcome.PASS, _refusal_text(response))
    if not isinstance(check.expect, Refuses):
        return Verdict(Outcome.REJECTS_VALID, _refusal_text(response))
    if check.expect.unknown_flags:
        detail = f"refused correctly; not claimed: reader flags {check.expect.unknown_flags}"
        return Verdict(Outcome.UNSUPPORTED, detail)
    if check.expect.before_output and _has_output(out):
        return Verdict(Outcome.FAIL, "refused after output was written")
    stage, expected = response["reject"]["stage"], check.expect.stage
    differs = expected != "any" and stage not in ("unknown", expected)
    note = f" (the case expects stage {expected})" if differs else ""
    return Verdict(Outcome.PASS, _refusal_text(response) + note)


def _has_output(out: Path) -> bool:
    try:
        return out.lstat().st_size > 0
    except OSError:
        return False


def _judge_completed(check: Check, body: Mapping[str, Any], out: Path) -> Verdict:
    expect = check.expect
    if isinstance(expect, Refuses):
        return _judge_acceptance(expect, body, out)
    if isinstance(expect, HoldsTable):
        requested = {"version": check.args["version"]} if "version" in check.args else {}
        differs = _first_mismatch(requested, body, "")
        return Verdict(Outcome.FAIL, differs) if differs else _judge_table(expect, body, out)
    if isinstance(expect, Reports):
        return _judge_findings(expect, body)
    if isinstance(expect, IsValid):
        found = _calls_invalid(body)
        return Verdict(Outcome.REJECTS_VALID, _findings_text(body)) if found else PASS
    if isinstance(expect, HasFacts):
        missing = _first_mismatch(expect.facts, body, "")
        return PASS if missing is None else Verdict(Outcome.FAIL, missing)
    if isinstance(expect, CountsRows):
        return _judge_fragments(expect, body.get("fragments"))
    return PASS


def _judge_acceptance(expect: Refuses, body: Mapping[str, Any], out: Path) -> Verdict:
    """Return the verdict on a completed read where a refusal is expected, or intact rows."""
    completed = f"completed, rows: {body.get('num_rows', '?')}"
    if expect.or_table is None:
        return Verdict(Outcome.ACCEPTS_INVALID, completed)
    verdict = _judge_table(expect.or_table, body, out)
    if verdict.outcome == Outcome.PASS:
        return Verdict(Outcome.PASS, "the rows equal those without the violation")
    return Verdict(Outcome.ACCEPTS_INVALID, f"{completed}; {verdict.detail}")


def _judge_table(expect: HoldsTable, body: Mapping[str, Any], out: Path) -> Verdict:
    if Path(body["out"]) != out:
        return Verdict(Outcome.BAD_OUTPUT, f"wrote to {body['out']}, requested {out}")
    try:
        found = read_output(out, output_limit(expect.table))
    except InvalidOutput as error:
        return Verdict(Outcome.BAD_OUTPUT, str(error))
    if "num_rows" in body and int(body["num_rows"]) != found.num_rows:
        detail = f"states {body['num_rows']} rows, wrote {found.num_rows}"
        return Verdict(Outcome.FAIL, detail)
    difference = None
    if expect.tolerance:
        difference = order_error(found)
        found = align_scores(expect.table, found, expect.tolerance)
    difference = difference or first_difference(
        expect.table, found, order=expect.order, accept_types=expect.accept_types
    )
    if difference is not None:
        return Verdict(Outcome.FAIL, difference)
    return Verdict(Outcome.PASS, "; ".join(accepted_differences(expect.table.schema, found.schema)))


def _judge_findings(expect: Reports, body: Mapping[str, Any]) -> Verdict:
    found = _clauses_of(body)
    absent = [clause for clause in expect.clauses if clause not in found]
    if absent:
        return Verdict(Outcome.FAIL, f"{_findings_text(body)}, not {', '.join(absent)}")
    if not expect.clauses and not _calls_invalid(body):
        return Verdict(Outcome.ACCEPTS_INVALID, "validate reports the bytes as valid")
    return PASS


def _judge_fragments(expect: CountsRows, fragments: Sequence[Mapping[str, str]] | None) -> Verdict:
    if fragments is None or not all(
        {"physical_rows", "deleted"} <= one.keys() for one in fragments
    ):
        return PASS
    num_rows = sum(int(one["physical_rows"]) - int(one["deleted"]) for one in fragments)
    if num_rows == expect.num_rows:
        return PASS
    return Verdict(Outcome.FAIL, f"fragments of {num_rows} rows, the table has {expect.num_rows}")


def _calls_invalid(body: Mapping[str, Any]) -> bool:
    """Whether a `validate` body reports a broken MUST, whatever its member `valid`."""
    return not body["valid"] or any(
        finding.get("severity") == "must"
        or finding.get("clause") in violation_policy.must_clauses()
        for finding in body["findings"]
    )


def _clauses_of(body: Mapping[str, Any]) -> list[str]:
    return sorted({finding["clause"] for finding in body["findings"] if "clause" in finding})


def _findings_text(body: Mapping[str, Any]) -> str:
    unnamed = sum("clause" not in finding for finding in body["findings"])
    parts = [", ".join(_clauses_of(body))] if _clauses_of(body) else []
    parts += [f"{unnamed} without a clause"] if unnamed else []
    return f"validate reports {' and '.join(parts) or 'nothing'}"


def _first_mismatch(expected: object, found: object, where: str) -> str | None:
    """Return the first fact of a body that differs; facts that it lacks are ignored."""
    if isinstance(expected, dict) and isinstance(found, dict):
        mismatches = (
            _first_mismatch(value, found[key], f"{where}.{key}")
            for key, value in expected.items()
            if key in found
        )
        return next((text for text in mismatches if text is not None), None)
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{where}: expected {len(expected)} items, found {len(found)}"
        pairs = zip(expected, found, strict=True)
        mismatches = (_first_mismatch(e, f, f"{where}[{i}]") for i, (e, f) in enumerate(pairs))
        return next((text for text in mismatches if text is not None), None)
    return None if expected == found else f"{where}: expected {expected}, found {found}"


def _refusal_text(response: Message) -> str:
    refusal = response.get("reject", {})
    category = f"{refusal.get('stage', '')} {refusal.get('kind', '')}".strip()
    return f"{category}: {refusal.get('message', '')}" if category else _json_text(response)


def _json_text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)[:300]
