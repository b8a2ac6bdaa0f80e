"""Spark campaign: saves, reads and checks on a cluster of processes on one machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session


def spark(plan: Plan) -> Iterator[Session]:
    """Open the part; without Java or pyspark its only case is refused with the reason."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        yield Session(["none"], lambda _: Outcome("refused", ("Java or pyspark is missing",)))
        return
    from lance_conformance.campaigns.faults.spark import steps

    yield from steps.spark(plan)


PARTS = (Part("spark", 200, spark),)
