"""Known divergences: differences found by campaigns that are already explained, from one list.

The list is `spec/known-divergences.toml`. An entry names a campaign and part, the id of a published
divergence or of a clause, and patterns that the facts of a case must all match.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from lance_conformance import resources


@dataclass(frozen=True, slots=True)
class KnownDivergence:
    """An entry: `where` maps the name of a fact to a pattern or to several."""

    campaign: str
    id: str
    reason: str
    where: Mapping[str, str | list[str]]

    def matches(self, campaign: str, facts: Mapping[str, str]) -> bool:
        """Whether every pattern of the entry fits a fact of a case."""
        return self.campaign == campaign and all(
            any(fnmatchcase(facts.get(name, ""), one) for one in _listed(patterns))
            for name, patterns in self.where.items()
        )


def _listed(patterns: str | list[str]) -> list[str]:
    return [patterns] if isinstance(patterns, str) else patterns


@cache
def entries() -> tuple[KnownDivergence, ...]:
    """Return every entry of the list."""
    listed = tomllib.loads(resources.known_divergences().read_text("utf-8"))["known"]
    return tuple(
        KnownDivergence(one["campaign"], one["id"], one.get("reason", ""), one["where"])
        for one in listed
    )


def find(campaign: str, **facts: str) -> KnownDivergence | None:
    """Return the first entry that matches the facts of a case, None without one."""
    return next((one for one in entries() if one.matches(campaign, facts)), None)


def id_of(campaign: str, sign: str) -> str:
    """Return the id of the divergence with the given `sign` in a campaign.

    Raises LookupError where the list has no entry for it.
    """
    known = find(campaign, sign=sign)
    if known is None:
        raise LookupError(f"no known divergence of {campaign} for {sign}")
    return known.id
