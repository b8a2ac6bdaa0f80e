"""Cases: each type of index with each type of numbers, each metric, and what becomes of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

Element = Literal["f16", "f32", "f64", "bf16", "u8"]
Life = Literal["plain", "gaps", "several", "changed"]
Side = Literal["oracle", "reference"]

TYPES = (
    "IVF_FLAT",
    "IVF_PQ",
    "IVF_SQ",
    "IVF_RQ",
    "IVF_HNSW_FLAT",
    "IVF_HNSW_PQ",
    "IVF_HNSW_SQ",
)

FLOATS: tuple[Element, ...] = ("f16", "f32", "f64", "bf16")

PAIRS: tuple[tuple[str, Element], ...] = (
    *product(("l2", "cosine", "dot"), FLOATS),
    ("hamming", "u8"),
    ("l2", "u8"),
    ("hamming", "f32"),
)
"""Metrics and numbers; the last two, and those of bf16, are refused."""

VERSIONS = ("2.0", "2.1", "2.2", "2.3")

LIVES: tuple[Life, ...] = ("plain", "gaps", "several", "changed")
"""Rows as they are; with nulls, NaN, infinities and 0; with several vectors each; some deleted and
others added, and the index brought up to date."""

SIDES: tuple[Side, ...] = ("oracle", "reference")
"""Who makes table and index."""


@dataclass(frozen=True, slots=True)
class Case:
    """A table with an index."""

    type: str
    metric: str
    element: Element
    version: str
    life: Life
    side: Side

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return "/".join((self.type, self.metric, self.element, self.version, self.life, self.side))

    @property
    def legal(self) -> bool:
        """Whether there are such indices."""
        fits = (self.metric == "hamming") == (self.element == "u8") and self.element != "bf16"
        fits = fits and (self.life != "several" or self.metric == "cosine")
        return fits and (self.element != "u8" or self.type in ("IVF_FLAT", "IVF_HNSW_FLAT"))

    @property
    def graphs(self) -> bool:
        """Whether partitions have graphs."""
        return "HNSW" in self.type


def cases() -> Iterator[Case]:
    """Yield every case."""
    for type_, (metric, element) in product(TYPES, PAIRS):
        for version, life, side in product(VERSIONS, LIVES, SIDES):
            yield Case(type_, metric, element, version, life, side)
