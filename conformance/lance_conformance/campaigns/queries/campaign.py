"""Queries campaign: the same random questions to both implementations, over the same files."""

from __future__ import annotations

from lance_conformance.campaigns.queries.answers.part import answers
from lance_conformance.campaigns.queries.filters import INDEXED, grammar, indexed
from lance_conformance.campaigns.queries.full_text import full_text
from lance_conformance.campaigns.queries.nearest.running import nearest, too_few_alike
from lance_conformance.campaigns.runner import Campaign, Part

CAMPAIGN = Campaign(
    "queries",
    "Filters, full-text and vector questions, answered by both implementations.",
    (
        Part("grammar", 10_000, grammar),
        Part("indexed", 2100, indexed, {"": [f"conditions by {one}" for one in INDEXED.values()]}),
        Part("full_text", 56, full_text),
        Part("nearest", 1000, nearest, conclude=too_few_alike),
        Part("answers", 400, answers),
    ),
)
