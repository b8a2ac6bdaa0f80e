"""Files campaign: random tables written by each side and read by the other, and odd files."""

from __future__ import annotations

from lance_conformance.campaigns.files.census import REQUIRED
from lance_conformance.campaigns.files.differential import differential
from lance_conformance.campaigns.files.odd import odd
from lance_conformance.campaigns.files.written import written
from lance_conformance.campaigns.runner import Campaign, Part

CAMPAIGN = Campaign(
    "files",
    "Random tables in every file version, written by one side and read by the other.",
    (
        Part("differential", 2000, differential, REQUIRED),
        Part("written", 1200, written),
        Part("odd", 2000, odd),
    ),
)
