"""Checks of a gate, their findings, and the severity of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class Colour(IntEnum):
    """Severity of a finding; the worst one is the colour of its check and of the gate."""

    GREEN = 0
    YELLOW = 1
    RED = 2

    @property
    def label(self) -> str:
        """The word in reports."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One effect of a change: its place, a description, and the clause on how readers react."""

    colour: Colour
    place: str
    text: str
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The findings of one check; `skipped` is the reason why it was not run."""

    name: str
    findings: tuple[Finding, ...] = ()
    skipped: str = ""

    @property
    def colour(self) -> Colour:
        """The worst colour of the findings; green without any."""
        return max((finding.colour for finding in self.findings), default=Colour.GREEN)


def worst_colour(checks: Sequence[Check]) -> Colour:
    """Return the colour of all checks together."""
    return max((check.colour for check in checks), default=Colour.GREEN)
