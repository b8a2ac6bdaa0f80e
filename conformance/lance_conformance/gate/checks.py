"""Checks: what a gate looks at, what it found, and how bad that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class Colour(IntEnum):
    """How bad a finding is; the worst one is the colour of its check and of the gate."""

    GREEN = 0
    YELLOW = 1
    RED = 2

    @property
    def label(self) -> str:
        """The word reports use."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the change does: where, what, and the clause that says what readers do with it."""

    colour: Colour
    place: str
    text: str
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The findings of one check; `skipped` says why it could not be made."""

    name: str
    findings: tuple[Finding, ...] = ()
    skipped: str = ""

    @property
    def colour(self) -> Colour:
        """The worst of the findings; green without any."""
        return max((finding.colour for finding in self.findings), default=Colour.GREEN)


def worst(checks: Sequence[Check]) -> Colour:
    """Return the colour of all checks together."""
    return max((check.colour for check in checks), default=Colour.GREEN)
