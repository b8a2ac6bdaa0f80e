"""Questions: what is asked of a table for the rows nearest to vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from lance_conformance.campaigns.queries.nearest.cases import Case, Vectors

FILTERS = ("i % 3 = 0", "i % 17 = 0", "i < 40", "i >= 100")

RANGES = ((None, 0.6), (0.2, 0.9), (0.3, None))
"""Ranges of distances, as shares of the distance of a row that is far."""

LONGEST = 25.0
"""About the length of the longest vectors of a table."""

DEFAULT_K = 10


@dataclass(frozen=True, slots=True)
class Question:
    """Arguments of `nearest`, and further ones of the scan.

    `span` is a range of distances in shares, until `within` says what it is a share of. `metric` is
    that of the index.
    """

    nearest: dict[str, Any]
    scan: dict[str, Any]
    span: tuple[float | None, float | None] | None = None
    metric: str = "l2"

    @property
    def k(self) -> int:
        """How many rows are asked for."""
        return int(self.nearest.get("k", DEFAULT_K))

    @property
    def ends(self) -> list[float]:
        """The ends of the range of distances."""
        return [one for one in self.nearest.get("distance_range", ()) if one is not None]

    @property
    def late_filter(self) -> str | None:
        """The filter of rows that are found, None where there is none or it comes first."""
        return None if self.scan.get("prefilter", False) else self.scan.get("filter")

    def but(self, *left_out: str, **changed: object) -> Question:
        """Return the question with arguments of `nearest` left out or changed."""
        kept = {name: one for name, one in self.nearest.items() if name not in left_out}
        return replace(self, nearest=kept | changed)

    def scanned(self, **changed: object) -> Question:
        """Return the question with arguments of the scan changed, without those that are None."""
        scan = {name: one for name, one in (self.scan | changed).items() if one is not None}
        return replace(self, scan=scan)

    def within(self, far: float) -> Question:
        """Return the question with its range of distances, which are shares of a far one."""
        if self.span is None:
            return self
        ends = tuple(None if one is None else one * far for one in self.span)
        return replace(self, nearest=self.nearest | {"distance_range": ends}, span=None)

    @property
    def length(self) -> float:
        """What distances are sums with: a squared length, or a product with one of the table."""
        metric = self.nearest.get("metric", self.metric)
        if metric not in ("l2", "dot"):
            return 1.0
        vectors = np.atleast_2d(self.nearest["q"]).astype(np.float64)
        longest = float(np.sqrt((vectors**2).sum(1).max()))
        return longest * (longest if metric == "l2" else min(longest, LONGEST))

    @property
    def told(self) -> str:
        """What is asked, but for the vector."""
        return str({name: one for name, one in self.nearest.items() if name != "q"} | self.scan)


def question(case: Case, vectors: Vectors, rng: Random) -> Question:
    """Draw a question to a table that has had these vectors [n, width]."""
    nearest: dict[str, Any] = {"column": "v", "q": _asked(case, vectors, rng)}
    nearest["k"] = rng.choice([1, 3, 10, 10, 40])
    searched = rng.random()
    if searched < 0.4:
        nearest["nprobes"] = rng.choice([1, 2, 4])
    elif searched < 0.6:
        nearest |= {"minimum_nprobes": 1, "maximum_nprobes": rng.choice([2, 4])}
    if rng.random() < 0.3:
        nearest["refine_factor"] = rng.choice([1, 2, 5])
    if rng.random() < 0.3:
        nearest["ef"] = rng.choice([40, 100, 250])
    if rng.random() < 0.12:
        nearest["use_index"] = False
    if rng.random() < 0.2:
        nearest["approx_mode"] = rng.choice(["fast", "accurate"])
    if case.element != "u8" and rng.random() < 0.05:
        nearest["metric"] = rng.choice(["l2", "cosine", "dot"])
    scan: dict[str, Any] = {}
    if rng.random() < 0.4:
        scan = {"filter": rng.choice(FILTERS), "prefilter": rng.random() < 0.7}
    if rng.random() < 0.15:
        scan["fast_search"] = True
    span = rng.choice(RANGES) if rng.random() < 0.3 else None
    return Question(nearest, scan, span, case.metric)


def _asked(case: Case, vectors: Vectors, rng: Random) -> Vectors:
    """Return what rows are to be near to: a vector [width], or several [q, width]."""
    one = _near(case, vectors, rng)
    if rng.random() < (0.6 if case.life == "several" else 0.12):
        return np.stack([one, *(_near(case, vectors, rng) for _ in range(rng.choice([1, 2])))])
    return one


def _near(case: Case, vectors: Vectors, rng: Random) -> Vectors:
    """Return a vector near to one of the table, the same one, or one that is far from all."""
    numbers = np.random.default_rng(rng.randrange(1 << 32))
    width = vectors.shape[1]
    base: Vectors = numbers.normal(size=(width,))
    if len(vectors):
        own = vectors[numbers.integers(0, len(vectors))].astype(np.float64)
        base = own if np.isfinite(own).all() else base
    if case.element == "u8":
        near: Vectors = np.clip(base + numbers.integers(-9, 10, width), 0, 255)
        return np.asarray(near, np.float32)
    kind = rng.random()
    if kind < 0.1:
        return np.asarray(base, np.float32)
    if kind < 0.13 and case.life != "several":
        return np.zeros(width, np.float32)
    if kind < 0.16:
        return np.asarray(base * 50, np.float32)
    return np.asarray(base + numbers.normal(size=width) * 0.2, np.float32)
