"""Figures: measured values of the reference and of the oracle in the same run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of one table in one file version, for both in the same `unit`."""

    measure: str
    table: str
    version: str
    ours: float
    oracle: float
    unit: str

    @property
    def ratio(self) -> float:
        """Reference over oracle; 1 when both are 0."""
        if self.oracle == 0:
            return 1.0 if self.ours == 0 else float("inf")
        return self.ours / self.oracle
