"""Tests of the example in Java, written from the text: it loses nothing to the suite."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import lance_conformance
import pytest
from lance_conformance import places
from lance_conformance.cases import Selection, load, select
from lance_conformance.outcomes import Outcome
from lance_conformance.runner import run

SOURCES = Path(lance_conformance.__file__).parent / "adapters/examples/java"

CHOSEN = (
    *("file/0.1/**", "file/2.0/**", "table/any/backward/*", "table/any/json/*"),
    *("index/any/bitmap/*", "index/any/btree/*", "index/any/ivf-flat/*", "index/any/ivf-pq/*"),
)
"""Where the cases are that the example claims."""

EVERY = 8
"""One case of so many is asked about."""


def _adapter(classes: Path) -> list[str]:
    """Compile the example into a folder, and return the command that starts it."""
    java, compiler = shutil.which("java"), shutil.which("javac")
    if java is None or compiler is None:
        if os.environ.get("CI"):
            pytest.fail("java is missing")
        pytest.skip("java is missing: the example is not run")
    sources = [str(path) for path in sorted(SOURCES.glob("*.java"))]
    subprocess.run([compiler, "-Xlint:all", "-Werror", "-d", str(classes), *sources], check=True)
    return [java, "-cp", str(classes), "Adapter"]


def test_the_example_reads_what_is_valid_and_refuses_what_is_damaged(tmp_path):
    """Of every eighth case each passes or is not claimed."""
    command = _adapter(tmp_path / "classes")
    wanted = Selection(profile="all", only=CHOSEN)
    cases = select(load(places.fixtures()), wanted)[::EVERY]

    _, results = run(command, cases, tmp_path)

    counts = Counter(result.outcome for result in results)
    assert {Outcome.PASS, Outcome.UNSUPPORTED} == set(counts), [
        (result.case.id, result.detail)
        for result in results
        if result.outcome not in (Outcome.PASS, Outcome.UNSUPPORTED)
    ]
    assert counts[Outcome.PASS] >= 0.7 * len(cases)
