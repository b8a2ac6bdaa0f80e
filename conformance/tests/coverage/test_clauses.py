"""Cases of clauses are counted: those that keep a MUST and those that break it."""

from pathlib import Path

from lance_conformance.cases import Case
from lance_conformance.coverage.clauses import count
from lance_conformance.register import Clause


def _case(role: str, *clauses: str) -> Case:
    named = [{"id": clause, "role": role} for clause in clauses]
    return Case(Path(), {"id": role, "kind": "commit-race", "clauses": named})


def _clause(name: str, level: str = "MUST", untestable: str = "") -> Clause:
    return Clause(
        id=name, level=level, text="", chapter="", audience=(), since="", until="", source="",
        untestable=untestable,
    )  # fmt: skip


def test_each_role_counts_on_its_side():
    """A case keeps clauses or breaks them, as it says; those it only touches do not count."""
    clauses = {"L.a": _clause("L.a"), "L.b": _clause("L.b")}
    broken = [_case("negative", "L.a"), _case("negative", "L.a"), _case("context", "L.b")]
    cases = [_case("positive", "L.a", "L.b"), *broken]
    pairs = count(clauses, cases)

    assert (1, 2) == (pairs["L.a"].positive, pairs["L.a"].negative)
    assert (1, 0) == (pairs["L.b"].positive, pairs["L.b"].negative)


def test_only_what_can_be_tested_counts():
    """A SHOULD and an untestable MUST are left out."""
    clauses = {
        "L.a": _clause("L.a", "SHOULD"),
        "L.b": _clause("L.b", untestable="because"),
    }

    assert {} == count(clauses, [_case("positive", "L.a", "L.b")])
