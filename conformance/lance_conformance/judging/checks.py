"""Checks: the requests of one case, and the expected responses.

A case is read by several requests that share its bytes and its expectation: all of it, one column,
a range, single rows. These are checks of the case and never counted as cases; a check whose
operation or request field the adapter does not claim is omitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from lance_conformance.protocol.session import Claims
from lance_conformance.suite import violation_policy
from lance_conformance.suite.cases import Case, CaseError, parent_case
from lance_conformance.suite.requirements import main_operation


@dataclass(frozen=True, slots=True)
class HoldsTable:
    """The operation succeeds and its output equals `table`.

    With a `tolerance` it is the output of a search: best rows first, scores equal within that
    relative error. With `may_refuse` a refusal passes too: a clause that binds readers is broken in
    a part that the operation does not need.
    """

    table: pa.Table
    order: str = "storage"
    accept_types: Mapping[str, list[str]] = field(default_factory=dict)
    tolerance: str = ""
    may_refuse: bool = False


@dataclass(frozen=True, slots=True)
class Refuses:
    """The operation is refused; `stage` is where readers usually detect it, and is not judged.

    A reader that does not need the broken part may return `or_table` instead, if it is a table.
    `unknown_flags` are bits of the reader word of a valid table that the reader declares unknown:
    refusing the table is correct, and the case then counts as not claimed.
    """

    stage: str = "any"
    before_output: bool = False
    or_table: HoldsTable | None = None
    unknown_flags: int = 0


@dataclass(frozen=True, slots=True)
class Reports:
    """`validate` reports these clauses; without any, that the bytes are not valid."""

    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IsValid:
    """`validate` reports no broken MUST."""


@dataclass(frozen=True, slots=True)
class HasFacts:
    """The response has these facts, as far as it exposes them."""

    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CountsRows:
    """The fragments of the response have `num_rows` rows that are not deleted, if stated."""

    num_rows: int


@dataclass(frozen=True, slots=True)
class Survives:
    """Any response within the limits."""


Expectation = HoldsTable | Refuses | Reports | IsValid | HasFacts | CountsRows | Survives


@dataclass(frozen=True, slots=True)
class Check:
    """One request (without the paths of input and output) and its expectation."""

    name: str
    op: str
    args: Mapping[str, Any]
    expect: Expectation


KNOWN_FLAGS = 1 | 2 | 8 | 16 | 32 | 128 | 256 | 1024 | 2048 | 16384
"""Flags that a writer knows unless `hello` declares others: those of released versions."""

_SPECIFIC = frozenset({"columns", "filter", "limit", "offset", "ranges", "rows", "with"})
"""Arguments of a specific read, which is not varied further."""

VALIDATE = "validate"
"""The operation that validates bytes, and the name of its check."""

READING = frozenset({"file.read", "dataset.read", "dataset.take", "index.search", "index.dump"})
"""Operations whose output is a table."""


def build_checks(case: Case, claims: Claims) -> list[Check]:
    """Return the checks of a case that an adapter claims to support."""
    expected = applicable_expectation(case, claims)
    op = main_operation(case)
    args = _request_args(case)
    if unknown := _unknown_flags(case, claims):
        refused = Refuses(unknown_flags=0 if case.is_negative else unknown)
        return [Check("full", op, args, refused)]
    if "reject" in expected:
        checks = [
            Check("full", op, args, _refusal_expectation(case, expected, claims)),
            _validate_check(Reports()),
        ]
    elif "survive" in expected:
        checks = [Check("full", op, args, Survives())]
    elif "table" in expected:
        table = expected_table(case, expected)
        may_refuse = (
            case.kind == "lint" and violation_policy.policy_of(case) != violation_policy.READ
        )
        table = replace(table, may_refuse=may_refuse)
        full = Check("full", op, args, table)
        checks = [*_read_checks(case, claims, full), *_describe_checks(case, claims, full)]
    else:
        checks = []
    if "findings" in expected:
        checks.append(_validate_check(Reports(tuple(expected["findings"]))))
    elif "table" in expected:
        checks.append(_validate_check(IsValid()))
    if "facts" in expected:
        inspect = "file.inspect" if "path" in case.manifest["input"] else "dataset.versions"
        by_itself = op == "index.search" or op not in READING
        request = (op, args) if by_itself else (inspect, {})
        checks.append(Check("facts", *request, HasFacts(expected["facts"])))
    if not checks:
        raise CaseError(
            f"{case.id}: this runner does not support the expectations {sorted(expected)}"
        )
    return [check for check in checks if check.op in claims.capabilities]


def _request_args(case: Case) -> dict[str, Any]:
    """Return the arguments of the request of a case, with row numbers as text."""
    args = dict(case.manifest["input"].get("args", {}))
    if "rows" in args:
        args["rows"] = [str(row) for row in args["rows"]]
    return args


def _unknown_flags(case: Case, claims: Claims) -> int:
    """Return the bits of the table's reader word that an adapter declares unknown."""
    flags = claims.hello.get("flags", {})
    if "reader_known" not in flags:
        return 0
    return int(case.requires.get("reader_flags", 0)) & ~int(flags["reader_known"])


def _validate_check(expect: Reports | IsValid) -> Check:
    return Check(VALIDATE, VALIDATE, {"deep": True}, expect)


def applicable_expectation(case: Case, claims: Claims) -> dict[str, Any]:
    """Return the expectation of the adapter's declared choice, by default the first."""
    expectations: list[dict[str, Any]] = case.manifest["expect"]
    if "writer_flags" in case.requires:
        mask = int(claims.hello.get("flags", {}).get("writer_known", KNOWN_FLAGS))
        known = "unknown" if int(case.requires["writer_flags"]) & ~mask else "known"
        return next(one for one in expectations if one.get("choice") == known)
    choices = claims.hello.get("choices", {})
    declared = {choices[clause] for clause in case.clauses if clause in choices}
    chosen = [expected for expected in expectations if expected.get("choice") in declared]
    return (chosen or expectations)[0]


def expected_table(case: Case, expected: Mapping[str, Any]) -> HoldsTable:
    """Return the expected table of an expectation."""
    named = expected["table"]
    with pa.memory_map(str(case.folder / named["path"])) as source:
        table = pa.ipc.open_file(source).read_all()
    tolerance = expected.get("search", {}).get("distance_rel", "")
    return HoldsTable(
        table, named.get("order", "storage"), named.get("accept_types", {}), tolerance
    )


def _refusal_expectation(
    case: Case, expected: Mapping[str, Any], claims: Claims
) -> Refuses | Survives:
    """Return the expectation for damaged bytes: a refusal, or also the table without the damage.

    Any response passes where the case with that table is not in the folder.
    """
    if violation_policy.policy_of(case) != violation_policy.EITHER:
        return Refuses(**expected["reject"])
    original = parent_case(case)
    if original is None:
        return Survives()
    return Refuses(
        **expected["reject"],
        or_table=expected_table(original, applicable_expectation(original, claims)),
    )


def _read_checks(case: Case, claims: Claims, full: Check) -> Iterator[Check]:
    yield full
    capability = claims.capabilities[full.op]
    indexed = full.op == "index.search" and full.args.get("use_index", True)
    alone = "filter" in full.args and "nearest" not in full.args
    if indexed and alone and capability.get("scan", True):
        yield replace(full, name="scan", args={**full.args, "use_index": False})
    if full.op not in ("file.read", "dataset.read") or _SPECIFIC & full.args.keys():
        return
    assert isinstance(full.expect, HoldsTable)
    table, num_rows = full.expect.table, full.expect.table.num_rows
    last = table.column_names[-1] if table.num_columns > 1 else ""
    projection = capability.get("projection", [])
    if last.isidentifier() and isinstance(projection, list) and "top" in projection:
        yield _with_args(full, "projection", table.select([last]), columns=[last])
    if num_rows < 2 or full.expect.order == "any":
        return
    start, rows = num_rows // 3, sorted({0, num_rows // 2, num_rows - 1})
    if full.op == "file.read":
        if capability.get("ranges"):
            part = table.slice(start, num_rows - 1 - start)
            ends = [str(start), str(num_rows - 1)]
            yield _with_args(full, "range", part, ranges=[ends])
        if capability.get("rows"):
            yield _with_args(full, "take", table.take(rows), rows=[str(row) for row in rows])
        return
    if capability.get("limit"):
        limit = num_rows - 1 - start
        part = table.slice(start, limit)
        yield _with_args(full, "range", part, offset=str(start), limit=str(limit))
    taken = _with_args(full, "take", table.take(rows), offsets=[str(row) for row in rows])
    yield replace(taken, op="dataset.take")


def _describe_checks(case: Case, claims: Claims, full: Check) -> Iterator[Check]:
    """Yield the checks of the metadata of valid bytes that are read as a whole."""
    if not case.kind.startswith("read-") or _SPECIFIC & full.args.keys():
        return
    assert isinstance(full.expect, HoldsTable)
    num_rows = full.expect.table.num_rows
    if full.op == "dataset.read":
        yield replace(full, name="describe", op="dataset.describe", expect=CountsRows(num_rows))
        return
    version = case.requires.get("file_version")
    claimed = claims.capabilities.get("file.inspect", {}).get("versions")
    if not isinstance(claimed, list) or version in claimed:
        facts = {"num_rows": str(num_rows), **({"version": version} if version else {})}
        yield Check("inspect", "file.inspect", {}, HasFacts(facts))


def _with_args(full: Check, name: str, table: pa.Table, **args: Any) -> Check:
    assert isinstance(full.expect, HoldsTable)
    return replace(
        full, name=name, args={**full.args, **args}, expect=replace(full.expect, table=table)
    )
