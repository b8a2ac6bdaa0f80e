"""Damage campaign: files and whole tables that are broken, and single bytes flipped."""

from __future__ import annotations

from lance_conformance.campaigns.damage.files import broken_in_sum, files
from lance_conformance.campaigns.damage.flips import flips
from lance_conformance.campaigns.damage.whole.cases import ATTACKS, tables
from lance_conformance.campaigns.runner import Campaign, Part

CAMPAIGN = Campaign(
    "damage",
    "Damaged files, hostile tables and flipped bytes: only errors of ours, in bounded memory.",
    (
        Part("files", 20_000, files, conclude=broken_in_sum),
        Part("tables", 70 * len(ATTACKS), tables),
        Part("flips", 60_000, flips),
    ),
)
