"""Asking both implementations, over the same files; what ours reads of them is counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref.storage.protocol import IOStats

from lance_conformance.campaigns.histories.guarded import guarded
from lance_conformance.campaigns.queries.answers.finding import counting
from lance_conformance.campaigns.queries.nearest.questions import Question
from lance_conformance.oracle import lance

Part: TypeAlias = list[tuple[int, float]]
"""Ids of rows and their distances, as they came."""

Found: TypeAlias = list[Part] | str
"""The rows of each query, or why there are none."""

Pair: TypeAlias = tuple[Found, Found]
"""What the oracle finds, and what the reference does."""


SEARCHED = "ANNSubIndex"
"""What a plan says that searches an index."""


@dataclass
class Table:
    """A table that both have open."""

    path: str

    @cached_property
    def _oracle(self) -> Any:
        return lance().dataset(self.path)

    @cached_property
    def _reference(self) -> pylanceref.LanceDataset:
        return pylanceref.dataset(self.path)

    def ask(self, question: Question) -> Pair:
        """Ask both."""
        return found(self._oracle, question), found(self._reference, question)

    def passing(self, condition: str) -> frozenset[int]:
        """Return the ids of the rows for which a condition holds."""
        rows = self._oracle.to_table(filter=condition, columns=[], with_row_id=True)
        return frozenset(rows["_rowid"].to_pylist())

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self._oracle.count_rows())

    def with_range(self, question: Question) -> Question:
        """Return a question with its range of distances, drawn by those that the oracle finds."""
        far = found(self._oracle, question.but(k=60).scanned(filter=None, prefilter=None))
        distances = [] if isinstance(far, str) else [near for part in far for _, near in part]
        return question.within(distances[-1] if distances else 1.0)

    def misread(self, question: Question) -> str:
        """Say what ours reads that it need not, or does not read that it should; else nothing.

        What an index answers alone is asked: without a filter, with its own distances.
        """
        alone = {"refine_factor", "use_index", "metric"}.isdisjoint(question.nearest)
        if not alone or "filter" in question.scan:
            return ""
        asked = question.scanned(fast_search=True)
        plan = guarded(lambda: scanner(self._oracle, asked).explain_plan()).value
        if plan is None or SEARCHED not in str(plan):
            return ""
        counted = {"_indices": IOStats(), "data": IOStats()}
        dataset = pylanceref.dataset(self.path)
        store: Any = dataset._snapshot.store
        store.open = counting(store.open, counted)
        if isinstance(found(dataset, asked), str):
            return ""
        if not counted["_indices"].read_bytes:
            return "the index is not read"
        read = counted["data"].read_bytes
        return f"{read} bytes of data are read" if read else ""


def found(dataset: Any, question: Question) -> Found:
    """Return what a question finds in a table."""
    told = guarded(lambda: parts(scanner(dataset, question).to_table(), question))
    return told.value if isinstance(told.value, list) else told.error


def scanner(dataset: Any, question: Question) -> Any:
    """Return the scan that a question is."""
    return dataset.scanner(
        nearest=question.nearest, columns=["_distance"], with_row_id=True, **question.scan
    )


def parts(table: pa.Table, question: Question) -> list[Part]:
    """Cut what is found into what each query of several has."""
    rows = list(zip(table["_rowid"].to_pylist(), table["_distance"].to_pylist(), strict=True))
    if "query_index" not in table.schema.names:
        return [rows]
    numbered = zip(table["query_index"].to_pylist(), rows, strict=True)
    own = {number: [row for _, row in some] for number, some in groupby(numbered, _first)}
    return [own.get(number, []) for number in range(len(np.atleast_2d(question.nearest["q"])))]


def _first(pair: tuple[int, object]) -> int:
    return pair[0]
