"""Tests of the example in Node.js, written from the text: it loses nothing to the suite."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import lance_conformance
import pytest
from lance_conformance import places
from lance_conformance.cases import Selection, load, select
from lance_conformance.outcomes import Outcome
from lance_conformance.runner import run

ADAPTER = Path(lance_conformance.__file__).parent / "adapters/examples/node/adapter.mjs"

EVERY = 8
"""One case of so many is asked about."""


def test_the_example_reads_what_is_valid_and_refuses_what_is_damaged(tmp_path):
    """Of every eighth case each passes or is not claimed: files, tables, flags that it knows."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("node is missing")
        pytest.skip("node is missing: the example is not run")
    wanted = Selection(profile="all", only=("file/2.1/**", "file/2.2/**", "table/**"))
    cases = select(load(places.fixtures()), wanted)[::EVERY]

    claims, results = run([node, str(ADAPTER)], cases, tmp_path)

    assert "3" == claims.hello["flags"]["reader_known"]
    counts = Counter(result.outcome for result in results)
    assert {Outcome.PASS, Outcome.UNSUPPORTED} == set(counts), [
        (result.case.id, result.detail)
        for result in results
        if result.outcome not in (Outcome.PASS, Outcome.UNSUPPORTED)
    ]
    assert counts[Outcome.PASS] >= 0.6 * len(cases)
    assert all(
        check.reject["stage"] == "open" for one in results for check in one.checks if check.reject
    )
