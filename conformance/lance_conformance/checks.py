"""Checks: what is asked about one case, and what the answer must be.

A case is asked about in several ways that share its bytes and its expectation: all of it, one
column, a range, single rows. These are checks of the case and never counted as cases; one whose
operation or request field the adapter does not claim is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from lance_conformance import violations
from lance_conformance.cases import Case, CaseError, parent
from lance_conformance.requirements import main_operation
from lance_conformance.session import Claims


@dataclass(frozen=True, slots=True)
class HoldsTable:
    """The operation succeeds and its output equals `table`.

    With a `tolerance` it is that of a search: best first, scores equal but for that share. With
    `may_refuse` a refusal is as good: a clause that binds readers is broken, in a part that the
    operation can do without.
    """

    table: pa.Table
    order: str = "storage"
    accept_types: Mapping[str, list[str]] = field(default_factory=dict)
    tolerance: str = ""
    may_refuse: bool = False


@dataclass(frozen=True, slots=True)
class Refuses:
    """The operation is refused; `stage` is where a reader usually notices, and no verdict.

    Where `unless` is a table, a reader that can do without the broken part may return it instead.
    `unknown_flags` are bits of the reader word of a valid table that the reader says it does not
    know: refusing it is right, and shows no more than that the case is not claimed.
    """

    stage: str = "any"
    before_output: bool = False
    unless: HoldsTable | None = None
    unknown_flags: int = 0


@dataclass(frozen=True, slots=True)
class Reports:
    """`validate` reports these clauses; with none: reports that the bytes are not valid."""

    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IsValid:
    """`validate` reports nothing that must not be."""


@dataclass(frozen=True, slots=True)
class HasFacts:
    """The answer contains these facts, as far as it exposes them."""

    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CountsRows:
    """The fragments of the answer hold so many rows in all, less deleted ones, if they say."""

    num_rows: int


@dataclass(frozen=True, slots=True)
class Survives:
    """Any controlled answer within the limits."""


Expectation = HoldsTable | Refuses | Reports | IsValid | HasFacts | CountsRows | Survives


@dataclass(frozen=True, slots=True)
class Check:
    """One request (without the place of input and output) and its expectation."""

    name: str
    op: str
    args: Mapping[str, Any]
    expect: Expectation


KNOWN_FLAGS = 1 | 2 | 8 | 16 | 32 | 128 | 256 | 1024 | 2048 | 16384
"""Flags that a writer is taken to know when `hello` says nothing: those of released versions."""

_SPECIFIC = frozenset({"columns", "filter", "limit", "offset", "ranges", "rows", "with"})
"""Arguments that make a case one particular read: it is not varied further."""

VALIDATE = "validate"
"""The operation that looks for what breaks the format, and the name of its check."""

READING = frozenset({"file.read", "dataset.read", "dataset.take", "index.search", "index.dump"})
"""Operations that answer with a table."""


def expand(case: Case, claims: Claims) -> list[Check]:
    """Return the checks of a case that an adapter claims to be able to answer."""
    expected = alternative(case, claims)
    op = main_operation(case)
    args = _asked(case)
    if unknown := _unknown_flags(case, claims):
        refused = Refuses(unknown_flags=0 if case.is_negative else unknown)
        return [Check("full", op, args, refused)]
    if "reject" in expected:
        checks = [Check("full", op, args, _refusal(case, expected, claims)), _validation(Reports())]
    elif "survive" in expected:
        checks = [Check("full", op, args, Survives())]
    elif "table" in expected:
        table = expected_table(case, expected)
        may_refuse = case.kind == "lint" and violations.of(case) != violations.READ
        table = replace(table, may_refuse=may_refuse)
        full = Check("full", op, args, table)
        checks = [*_reads(case, claims, full), *_descriptions(case, claims, full)]
    else:
        checks = []
    if "findings" in expected:
        checks.append(_validation(Reports(tuple(expected["findings"]))))
    elif "table" in expected:
        checks.append(_validation(IsValid()))
    if "facts" in expected:
        inspect = "file.inspect" if "path" in case.manifest["input"] else "dataset.versions"
        by_itself = op == "index.search" or op not in READING
        asked = (op, args) if by_itself else (inspect, {})
        checks.append(Check("facts", *asked, HasFacts(expected["facts"])))
    if not checks:
        raise CaseError(f"{case.id}: this runner has no procedure for {sorted(expected)}")
    return [check for check in checks if check.op in claims.capabilities]


def _asked(case: Case) -> dict[str, Any]:
    """Return the arguments of the request of a case, where some have rows as numbers, as text."""
    args = dict(case.manifest["input"].get("args", {}))
    if "rows" in args:
        args["rows"] = [str(row) for row in args["rows"]]
    return args


def _unknown_flags(case: Case, claims: Claims) -> int:
    """Return the bits of the table's reader word that an adapter says it does not know."""
    flags = claims.hello.get("flags", {})
    if "reader_known" not in flags:
        return 0
    return int(case.requires.get("reader_flags", 0)) & ~int(flags["reader_known"])


def _validation(expect: Reports | IsValid) -> Check:
    return Check(VALIDATE, VALIDATE, {"deep": True}, expect)


def alternative(case: Case, claims: Claims) -> dict[str, Any]:
    """Return the expectation that the declared choice asks for; undeclared: the first."""
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
    """Return the table that an expectation names."""
    named = expected["table"]
    with pa.memory_map(str(case.folder / named["path"])) as source:
        table = pa.ipc.open_file(source).read_all()
    tolerance = expected.get("search", {}).get("distance_rel", "")
    return HoldsTable(
        table, named.get("order", "storage"), named.get("accept_types", {}), tolerance
    )


def _refusal(case: Case, expected: Mapping[str, Any], claims: Claims) -> Refuses | Survives:
    """Return what is asked of damaged bytes: a refusal, or also the table without the damage.

    Where the case with that table is not in the folder, no answer can be told from another.
    """
    if violations.of(case) != violations.EITHER:
        return Refuses(**expected["reject"])
    kept = parent(case)
    if kept is None:
        return Survives()
    return Refuses(**expected["reject"], unless=expected_table(kept, alternative(kept, claims)))


def _reads(case: Case, claims: Claims, full: Check) -> Iterator[Check]:
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
        yield _vary(full, "projection", table.select([last]), columns=[last])
    if num_rows < 2 or full.expect.order == "any":
        return
    start, rows = num_rows // 3, sorted({0, num_rows // 2, num_rows - 1})
    if full.op == "file.read":
        if capability.get("ranges"):
            part = table.slice(start, num_rows - 1 - start)
            ends = [str(start), str(num_rows - 1)]
            yield _vary(full, "range", part, ranges=[ends])
        if capability.get("rows"):
            yield _vary(full, "take", table.take(rows), rows=[str(row) for row in rows])
        return
    if capability.get("limit"):
        limit = num_rows - 1 - start
        part = table.slice(start, limit)
        yield _vary(full, "range", part, offset=str(start), limit=str(limit))
    taken = _vary(full, "take", table.take(rows), offsets=[str(row) for row in rows])
    yield replace(taken, op="dataset.take")


def _descriptions(case: Case, claims: Claims, full: Check) -> Iterator[Check]:
    """Yield what is said without its values about valid bytes that are read as a whole."""
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


def _vary(full: Check, name: str, table: pa.Table, **args: Any) -> Check:
    assert isinstance(full.expect, HoldsTable)
    return replace(
        full, name=name, args={**full.args, **args}, expect=replace(full.expect, table=table)
    )
