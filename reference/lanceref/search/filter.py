"""Filters: a condition on rows as a search receives it.

A row passes where the filter is true; null is not true. A filter is a callable on batches; its
structure comes with it as a predicate, for indices and for the bounds of a batch: questions about
single columns, joined by AND, OR and NOT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index import predicate

Mask = NDArray[np.bool_]


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
    """True for the rows for which every part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True for the rows for which at least one part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True for the rows for which the part is false."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition without a structure: only its callable answers it."""


Predicate: TypeAlias = On | And | Or | Not | Unknown


def structured(predicate: Predicate) -> Predicate | None:
    """Return a predicate, None when no question about a column is in it."""
    waiting = [predicate]
    while waiting:
        match waiting.pop():
            case On():
                return predicate
            case And(parts) | Or(parts):
                waiting += parts
            case Not(part):
                waiting.append(part)
    return None


class Filter(Protocol):
    """A condition that chooses rows of a table."""

    columns: tuple[str, ...]
    """Names of the columns it reads, in the order of the schema."""

    paths: tuple[str, ...]
    """The same, or `a.b` where it reads only a part of a column."""

    @property
    def predicate(self) -> Predicate | None:
        """Its structure as far as it is known."""

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch of these columns whether it passes: bool (rows,)."""
