"""Tests of writing reports: one that cannot be written takes nothing from the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance.reports import files
from lance_conformance.reports.jsonl import Run
from lance_conformance.runner import CaseResult


def test_a_report_that_fails_leaves_the_others(
    tmp_path: Path, make_result: Callable[..., CaseResult], make_run: Callable[..., Run]
) -> None:
    """The error names the one file, and comes when all others are there."""
    (tmp_path / "junit.xml" / "in the way").mkdir(parents=True)

    with pytest.raises(files.ReportFailed, match=r"junit\.xml") as failed:
        files.write(make_run([make_result()]), tmp_path)
    assert [] == list(tmp_path.glob("*.part"))
    assert "report.html" not in str(failed.value)
    assert {"report.jsonl", "timings.jsonl", "report.html", "badge.svg", "summary.md"} <= {
        path.name for path in tmp_path.iterdir()
    }
