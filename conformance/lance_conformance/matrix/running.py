"""Running: each release runs the fixtures in its own environment, and writes their tables.

Each release has a folder of results; a release with complete results does not run again.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lance_conformance.matrix import report_data
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.matrix.wheels import cache, interpreter
from lance_conformance.matrix.writing import write_tables
from lance_conformance.protocol.session import Session
from lance_conformance.reports import files
from lance_conformance.runs import suite_run
from lance_conformance.runs.suite_run import RunOptions
from lance_conformance.suite.cases import Selection

ADAPTER_NEEDS = ("protobuf", "pyroaring", "datafusion==54.1.*")
"""Dependencies of the adapter of pylance, besides pylance and its own."""

PACKAGES = ("lanceref", "pylanceref", "lance_conformance")
"""Packages of this environment that each environment imports."""


def command(release: str, links: Path) -> tuple[str, ...]:
    """Return the command of the adapter of a release; create its environment if missing.

    `links` is a folder for links to `PACKAGES` alone: a release has its own libraries.
    """
    for name in PACKAGES:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        link = links / name
        if not link.exists():
            link.symlink_to(Path(spec.origin).parent, target_is_directory=True)
    python = interpreter(release, cache(), ADAPTER_NEEDS)
    module = "lance_conformance.adapters.pylance"
    return ("env", f"PYTHONPATH={links}", str(python), "-m", module)


def run(release: str, selection: Selection, fixtures: Path | None, out: Path) -> ReportData:
    """Run the fixtures with a release, and write their tables, unless `out` has both results."""
    folder = out / f"pylance-{release}"
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as name:
        scratch = Path(os.path.realpath(name))
        if not report_data.is_done(folder):
            order = RunOptions(command(release, scratch), selection, fixtures)
            files.write(suite_run.run_suite(order), folder, ["json"])
        if not (folder / report_data.WRITTEN).exists():
            outcomes = _write_tables(command(release, scratch), selection, fixtures, scratch)
            text = json.dumps(outcomes, indent=1, sort_keys=True) + "\n"
            (folder / report_data.WRITTEN).write_text(text, encoding="utf-8")
    return report_data.read(folder)


def _write_tables(
    adapter: Sequence[str], selection: Selection, fixtures: Path | None, scratch: Path
) -> dict[str, str]:
    session = Session(adapter, scratch / "writing")
    _, chosen = suite_run.select_cases(RunOptions(adapter, selection, fixtures))
    try:
        return write_tables(session, chosen)
    finally:
        session.close()
        session.restart()
