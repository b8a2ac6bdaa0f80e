"""Published: which divergence of the oracle makes an answer or a step another one.

Divergences: D.index.vector-query-no-number, D.index.vector-compacted-ids,
D.index.vector-hamming-graphs, D.index.vector-rq-place, D.index.vector-rq-pruned,
D.index.vector-fast-walk
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from lance_conformance.campaigns.queries.nearest.asking import Pair
from lance_conformance.campaigns.queries.nearest.cases import Case
from lance_conformance.campaigns.queries.nearest.judging import TIED, Fine
from lance_conformance.campaigns.queries.nearest.questions import Question
from lance_conformance.campaigns.queries.nearest.tables import Shape
from lance_conformance.known_divergences import id_of

NO_NUMBER = id_of("queries/nearest", "query without a direction")

COMPACTED_IDS = id_of("queries/nearest", "found by more, after compaction")

PRUNED = id_of("queries/nearest", "found by more, codes of several bits")

ROUNDED_SUMS = id_of("queries/nearest", "same but for rounded sums")

STEPS = 255
"""To how many steps RQ rounds sums unless it is asked to be accurate."""

FAST_WALK = id_of("queries/nearest", "same but in fast mode")

HAMMING_GRAPHS = id_of("queries/nearest", "update of a graph of bits panics")

EVERY_ROW = "i >= 0"

ALL = 2000
"""More rows than a table has."""


@dataclass(frozen=True, slots=True)
class Published:
    """What is known of one table; `ask` asks both, `passing` says which rows a condition keeps."""

    case: Case
    drawn: Shape
    ask: Callable[[Question], Pair]
    passing: Callable[[str], Collection[int]]

    def of_answer(self, question: Question, pair: Pair, fine: Fine) -> str:
        """Return the id of the divergence that makes two answers differ, TIED, else nothing.

        Several vectors of a query are looked for one by one, and what is not found for one is as
        far as the last that is. By codewords many rows are as far as that, and of RQ codes of
        several bits the oracle may pass one over: where both find the same of all rows, only
        these differ.
        """
        if self._no_number(question, pair, fine):
            return NO_NUMBER
        if self.case.graphs and question.nearest.get("approx_mode") == "fast":
            usual = question.but("approx_mode")
            if fine(usual, self.ask(usual)):
                return FAST_WALK
        compacted = self.drawn.stable_ids and "compact" in self.drawn.steps
        pruned = "RQ" in self.case.type and self.drawn.index["num_bits"] != 1
        if (compacted or pruned) and self._found_by_more(question, pair, fine):
            return COMPACTED_IDS if compacted and not pruned else PRUNED
        if "RQ" in self.case.type and self._same_but_for_steps(question, pair, fine):
            return ROUNDED_SUMS
        every = question.but("ef", k=ALL)
        ends = self.case.life == "several" and (pruned or "PQ" in self.case.type)
        if not ends or not fine(every, self.ask(every)):
            return ""
        return PRUNED if pruned else TIED

    def of_step(self, side: str, step: str, error: str) -> str:
        """Return the id of the divergence that makes a step fail, else nothing."""
        graphs = self.case.type == "IVF_HNSW_FLAT" and self.case.metric == "hamming"
        panics = side == "oracle" and step in ("optimize", "delta") and "HNSW, FLATBIN" in error
        return HAMMING_GRAPHS if graphs and panics else ""

    def _no_number(self, question: Question, pair: Pair, fine: Fine) -> bool:
        """Whether only queries without a direction differ; for these ours finds nothing."""
        queries = np.atleast_2d(question.nearest["q"])
        aims = [any(one) for one in queries.tolist()]
        metric = question.nearest.get("metric", self.case.metric)
        if metric != "cosine" or all(aims) or self.case.type in ("IVF_FLAT", "IVF_PQ"):
            return False
        theirs, ours = pair
        if isinstance(theirs, str) or isinstance(ours, str) or len(ours) != len(queries):
            return False
        if any(part for part, aim in zip(ours, aims, strict=True) if not aim):
            return False
        if not any(aims):
            return True
        others = (
            [part for part, aim in zip(theirs, aims, strict=True) if aim],
            [part for part, aim in zip(ours, aims, strict=True) if aim],
        )
        return fine(question.but(q=queries[aims]), others)

    def _same_but_for_steps(self, question: Question, pair: Pair, fine: Fine) -> bool:
        """Whether rows are the same, distances nearly, and both are where no sum is rounded."""
        accurate, (theirs, ours) = question.but(approx_mode="accurate"), pair
        if isinstance(theirs, str) or isinstance(ours, str) or len(theirs) != len(ours):
            return False
        if question.nearest.get("approx_mode") == "accurate":
            return False
        for wanted, found in zip(map(dict, theirs), map(dict, ours), strict=True):
            far = max([1.0, *map(abs, wanted.values())])
            if wanted.keys() != found.keys():
                return False
            if any(abs(near - found[row]) > far / STEPS for row, near in wanted.items()):
                return False
        return fine(accurate, self.ask(accurate))

    def _found_by_more(self, question: Question, pair: Pair, fine: Fine) -> bool:
        """Whether the oracle finds the same rows when it is asked for more, dropped ones left out.

        The end of a range cuts off what it has not looked at: it is asked without.
        """
        low, high = question.nearest.get("distance_range", (None, None))
        live = self.passing(EVERY_ROW)
        for k in (question.k * 8, ALL):
            theirs = self.ask(question.but("ef", "distance_range", k=k))[0]
            if isinstance(theirs, str):
                return False
            inside = [
                [
                    (row, near)
                    for row, near in part
                    if row in live
                    and (low is None or near >= low)
                    and (high is None or near < high)
                ][: question.k]
                for part in theirs
            ]
            if fine(question, (inside, pair[1])):
                return True
        return False
