"""Cases of clauses are counted: those that keep a MUST and those that break it."""

from pathlib import Path

from lance_conformance.cases import Case
from lance_conformance.coverage.clauses import count
from lance_conformance.register import Clause


def _case(kind: str, *clauses: str) -> Case:
    named = [{"id": clause, "role": "tests"} for clause in clauses]
    return Case(Path(), {"id": kind, "kind": kind, "clauses": named})


def _clause(name: str, level: str = "MUST", untestable: str = "") -> Clause:
    return Clause(
        id=name, level=level, text="", chapter="", audience=(), since="", until="", source="",
        untestable=untestable,
    )  # fmt: skip


def test_each_kind_counts_on_its_side():
    """A file to read keeps its clauses; one to refuse and one to report break them."""
    clauses = {"L.a": _clause("L.a"), "L.b": _clause("L.b")}
    cases = [_case("read-file", "L.a", "L.b"), _case("negative-file", "L.a"), _case("lint", "L.a")]
    pairs = count(clauses, cases)

    assert (1, 2) == (pairs["L.a"].positive, pairs["L.a"].negative)
    assert (1, 0) == (pairs["L.b"].positive, pairs["L.b"].negative)


def test_only_what_can_be_tested_counts():
    """A SHOULD and an untestable MUST are left out."""
    clauses = {
        "L.a": _clause("L.a", "SHOULD"),
        "L.b": _clause("L.b", untestable="because"),
    }

    assert {} == count(clauses, [_case("read-file", "L.a", "L.b")])
