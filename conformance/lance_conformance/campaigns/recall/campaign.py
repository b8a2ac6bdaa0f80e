"""Recall campaign: how many of the nearest vectors indices find, and the error of RabitQ codes."""

from __future__ import annotations

from lance_conformance.campaigns.recall.rabitq_bound import figures, rabitq
from lance_conformance.campaigns.recall.vector_recall import tables, too_low, vectors
from lance_conformance.campaigns.runner import Campaign, Part

CAMPAIGN = Campaign(
    "recall",
    "Vector indices find as many of the nearest rows as the oracle's, and codes keep their bound.",
    (
        Part("vectors", 150, vectors, conclude=too_low, summary=tables),
        Part("rabitq", 30_000_000, rabitq, summary=figures),
    ),
)
