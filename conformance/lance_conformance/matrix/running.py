"""Running: each release in an environment of its own, judged on the fixtures and asked to write.

A folder per release keeps what was found; one that is finished is not done again.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lance_conformance import suite_run
from lance_conformance.cases import Selection
from lance_conformance.matrix import judged
from lance_conformance.matrix.judged import Judged
from lance_conformance.matrix.wheels import cache, interpreter
from lance_conformance.matrix.writing import written
from lance_conformance.reports import files
from lance_conformance.session import Session
from lance_conformance.suite_run import RunOptions

ADAPTER_NEEDS = ("protobuf", "pyroaring", "datafusion==54.1.*")
"""What the adapter of pylance imports besides pylance and what that brings."""

PACKAGES = ("lanceref", "pylanceref", "lance_conformance")
"""What an environment borrows from this one."""


def command(release: str, borrowed: Path) -> tuple[str, ...]:
    """Return the command of a release's adapter, its environment made where it is missing.

    `borrowed` is a folder for links to the packages of this environment, and to nothing else of
    it: a release brings libraries of its own.
    """
    for name in PACKAGES:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        link = borrowed / name
        if not link.exists():
            link.symlink_to(Path(spec.origin).parent, target_is_directory=True)
    python = interpreter(release, cache(), ADAPTER_NEEDS)
    module = "lance_conformance.adapters.pylance"
    return ("env", f"PYTHONPATH={borrowed}", str(python), "-m", module)


def run(release: str, selection: Selection, fixtures: Path | None, out: Path) -> Judged:
    """Judge a release and let it write, unless `out` holds both already."""
    folder = out / f"pylance-{release}"
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as name:
        scratch = Path(os.path.realpath(name))
        if not judged.is_done(folder):
            order = RunOptions(command(release, scratch), selection, fixtures)
            files.write(suite_run.run_suite(order), folder, ["json"])
        if not (folder / judged.WRITTEN).exists():
            outcomes = _ask_to_write(command(release, scratch), selection, fixtures, scratch)
            text = json.dumps(outcomes, indent=1, sort_keys=True) + "\n"
            (folder / judged.WRITTEN).write_text(text, encoding="utf-8")
    return judged.read(folder)


def _ask_to_write(
    adapter: Sequence[str], selection: Selection, fixtures: Path | None, scratch: Path
) -> dict[str, str]:
    session = Session(adapter, scratch / "writing")
    _, chosen = suite_run.select_cases(RunOptions(adapter, selection, fixtures))
    try:
        return written(session, chosen)
    finally:
        session.close()
        session.restart()
