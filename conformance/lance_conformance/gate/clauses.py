"""Clauses: changes of the register, and clauses without cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lance_conformance.coverage import clauses
from lance_conformance.coverage.clauses import ClauseCases
from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree
from lance_conformance.specification import register
from lance_conformance.specification.register import Clause
from lance_conformance.suite import cases


def check(base: Tree, head: Tree) -> list[Check]:
    """Return the checks "clauses" and "clauses without cases"."""
    names = ("clauses", "clauses without cases")
    if base.register is None or head.register is None:
        return [Check(name, skipped="a tree has no register") for name in names]
    before, after = register.load(base.register), register.load(head.register)
    return [
        Check(names[0], tuple(_changes(before, after))),
        Check(names[1], tuple(_untested(base, head, before, after))),
    ]


def _changes(before: Mapping[str, Clause], after: Mapping[str, Clause]) -> Iterator[Finding]:
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            text = "removed: a clause that no longer holds must stay and name its successor"
            yield Finding(Colour.RED, name, text, name)
        elif (was.level, was.audience) != (now.level, now.audience):
            old, new = (f"{one.level} of {_audience_text(one)}" for one in (was, now))
            text = f"{old} is {new} under the same id"
            yield Finding(Colour.RED, name, text, name)
        elif was.text != now.text:
            yield Finding(Colour.YELLOW, name, f"new text: {now.text}", name)
    for name in after.keys() - before.keys():
        yield Finding(Colour.YELLOW, name, f"new: {after[name].text}", name)


def _untested(
    base: Tree, head: Tree, before: Mapping[str, Clause], after: Mapping[str, Clause]
) -> Iterator[Finding]:
    """Yield clauses without cases: red if they are new in this change."""
    was = _missing_cases(base, before)
    for name, lack in _missing_cases(head, after).items():
        old = name in was and was[name] == lack
        must = after[name].is_must
        colour = Colour.RED if must and not old else Colour.YELLOW
        if must or not old:
            yield Finding(colour, name, f"{lack}{', as before' if old else ''}", name)


def _missing_cases(tree: Tree, register: Mapping[str, Clause]) -> dict[str, str]:
    """Return the missing cases of each testable clause of a tree."""
    every = cases.load(tree.fixtures) if tree.fixtures else []
    lacking = {
        name: text
        for name, pair in clauses.count_cases(register, every).items()
        if (text := _missing_text(pair))
    }
    shown = {clause for case in every if case.is_active for clause in case.clauses}
    for clause in register.values():
        if clause.level.startswith("SHOULD") and not clause.untestable and clause.id not in shown:
            lacking[clause.id] = "no case"
    return lacking


def _missing_text(pair: ClauseCases) -> str:
    missing = [
        word for word, n in (("positive", pair.positive), ("negative", pair.negative)) if not n
    ]
    return f"no {' and no '.join(missing)} case" if missing else ""


def _audience_text(clause: Clause) -> str:
    return " and ".join(f"{one}s" for one in clause.audience) or "no one"
