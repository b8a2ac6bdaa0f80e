"""Predicates of tables: questions about single columns, joined by AND, OR and NOT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from lanceref.index import predicate


@dataclass(frozen=True, slots=True)
class On:
    """A question about a column, or about a member of its documents, by its path.

    Unless it is exact, rows that pass are among those for which the answer is yes.
    """

    path: str
    question: predicate.Predicate
    exact: bool = True


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts holds."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition without a structure: only its callable answers it."""


Predicate: TypeAlias = On | And | Or | Not | Unknown


def known(predicate: Predicate) -> Predicate | None:
    """Return a predicate, None when no question about a column is in it."""
    waiting = [predicate]
    while waiting:
        one = waiting.pop()
        if isinstance(one, On):
            return predicate
        if isinstance(one, And | Or):
            waiting += one.parts
        elif isinstance(one, Not):
            waiting.append(one.part)
    return None
