"""Faults campaign: writers that race, end at every step, are killed, or run on Spark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from lance_conformance.campaigns.faults.concurrency import concurrency, kills
from lance_conformance.campaigns.faults.crash_points import crash, crash_cloud
from lance_conformance.campaigns.runner import Campaign, Outcome, Part, Plan, Session


@contextmanager
def spark(plan: Plan) -> Iterator[Session]:
    """Open the part of Spark; where Spark cannot run, its one case is refused with the reason."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        yield Session(["none"], lambda _: Outcome("refused", ("Java or pyspark is missing",)))
        return
    from lance_conformance.campaigns.faults.spark import steps

    with steps.spark(plan) as session:
        yield session


CAMPAIGN = Campaign(
    "faults",
    "Nothing is lost when writers race, crash, are killed, or their tasks fail.",
    (
        Part("concurrency", 98, concurrency),
        Part("crash", 1000, crash),
        Part("crash_cloud", 1000, crash_cloud),
        Part("kills", 8, kills),
        Part("spark", 200, spark),
    ),
)
