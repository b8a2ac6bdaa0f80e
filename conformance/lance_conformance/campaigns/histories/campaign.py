"""Histories campaign: random operations in lockstep, and every pair of concurrent commits."""

from __future__ import annotations

from lance_conformance.campaigns.histories.conflicts import conflicts
from lance_conformance.campaigns.histories.history import INDEXED, PLAIN, Script, indexed, plain
from lance_conformance.campaigns.runner import Campaign, Part


def _done(script: Script) -> dict[str, list[str]]:
    """Return the counts that show every operation of a script done at least once."""
    return {"": [f"{rule.__name__}, done" for rule in script.rules]}


CAMPAIGN = Campaign(
    "histories",
    "The same operations by both implementations, each going on with what the other wrote.",
    (
        Part("plain", 500, plain, _done(PLAIN)),
        Part("indexed", 200, indexed, _done(INDEXED)),
        Part("conflicts", 2000, conflicts),
    ),
)
