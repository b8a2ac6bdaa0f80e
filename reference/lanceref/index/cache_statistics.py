"""Uses of indices: what was opened, read and looked at to answer questions.

A part is what an index reads at once: a page, the rows of a value, what says where a word stands, a
partition. Parts that were read stay with the version that is open, for the next question.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Uses:
    """Counts, from when the version was opened: parts `loaded` and those that were there `hits`.

    `comparisons` are values that were held against a question; `kept` are parts that stay.
    """

    indices_loaded: int = 0
    loaded: int = 0
    comparisons: int = 0
    hits: int = 0
    kept: int = 0

    def load(self, parts: int = 1) -> None:
        """Count parts that are read for a question, and stay."""
        self.loaded += parts
        self.kept += parts

    def hit(self, parts: int = 1) -> None:
        """Count parts that a question finds there."""
        self.hits += parts

    def compare(self, values: int) -> None:
        """Count values that are held against a question."""
        self.comparisons += values

    @property
    def asked(self) -> int:
        """Parts that were asked for."""
        return self.hits + self.loaded

    @property
    def hit_rate(self) -> float:
        """The share of parts that were there, 0 when none was asked for."""
        return self.hits / self.asked if self.asked else 0.0
