"""Draft: a case of shrunk bytes, which still needs a name and clauses.

The reading of the reference is the expected result; if it refuses, any controlled result is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lance_conformance import __version__
from lance_conformance.recipes.build import EXPECT
from lance_conformance.recipes.model import DATA, DATASET
from lance_conformance.shrink.disagreement import Files, Reading
from lance_conformance.suite import suite_file


def write(
    out: Path, case_id: str, files: Files, reading: Reading, note: str, clauses: Sequence[str]
) -> Path:
    """Write the folder of a draft below `out`, with the `reading` of the reference; return it."""
    folder = out / case_id
    single = set(files) == {DATA}
    for name, data in files.items():
        path = folder / name if single else folder / DATASET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    read_kind = "read-file" if single else "read-dataset"
    manifest: dict[str, Any] = {
        "schema": 1,
        "id": case_id,
        "title": "Two implementations disagree about these bytes",
        "note": note,
        "kind": "robust" if reading.table is None else read_kind,
        "status": "draft",
        "clauses": [{"id": clause, "role": "positive"} for clause in clauses],
        "requires": {"op": "file.read" if single else "dataset.read"},
        "provenance": {"made_by": "thirdparty", "version": __version__},
        "input": _input(files, single),
        "expect": [
            {"survive": True} if reading.table is None else _expected(folder, reading.table)
        ],
    }
    (folder / "case.json").write_text(suite_file.canonical_text(manifest), encoding="utf-8")
    return folder


def _expected(folder: Path, table: pa.Table) -> dict[str, object]:
    path = folder / EXPECT
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return {"table": {"path": EXPECT, "sha256": _sha256(path.read_bytes()), "order": "storage"}}


def _input(files: Files, single: bool) -> dict[str, object]:
    if single:
        return {"path": DATA, "sha256": _sha256(files[DATA])}
    return {"uri": DATASET, "files": {name: _sha256(data) for name, data in files.items()}}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
