"""Disagreement: the readings of the same bytes by two adapters, and the kind of their difference.

`Files` are the bytes of one data file under the name `data.lance`, or those of a table by path.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.output import InvalidOutput, read_output
from lance_conformance.protocol.session import Limits, Session
from lance_conformance.recipes.model import DATA

Files = Mapping[str, bytes]
"""A file or a table."""

READS = "reads"
REFUSES = "refuses"
UNCLAIMED = "does not claim it"


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of an adapter: a word for its result, rows if it returned any, its message."""

    word: str
    table: pa.Table | None = None
    detail: str = ""


class Pair:
    """Sessions of two adapters with a scratch folder; `num_comparisons` counts their readings."""

    def __init__(self, first: Session, second: Session, scratch: Path, limits: Limits) -> None:
        self._sessions = (first, second)
        self._scratch = scratch
        self._limits = limits
        self.num_comparisons = 0

    def readings(self, files: Files) -> tuple[Reading, Reading]:
        """Return the readings of the bytes by both adapters."""
        self.num_comparisons += 1
        folder = self._scratch / str(self.num_comparisons)
        path = write_files(files, folder)
        first, second = (self._read(session, path, folder) for session in self._sessions)
        shutil.rmtree(folder)
        return first, second

    def signature(self, files: Files) -> str:
        """Return the kind of the disagreement; empty if they agree."""
        return signature(*self.readings(files))

    def close(self) -> None:
        """End both processes."""
        for session in self._sessions:
            session.close()

    def _read(self, session: Session, path: Path, folder: Path) -> Reading:
        out = folder / "out.arrow"
        out.unlink(missing_ok=True)
        op, key = ("dataset.read", "uri") if path.is_dir() else ("file.read", "path")
        answer = session.request(op, {key: str(path), "out": str(out)}, self._limits)
        response = answer.response
        if response is None:
            return Reading(str(answer.outcome), detail=answer.detail)
        if "ok" not in response:
            return _refusal(response)
        try:
            return Reading(READS, read_output(out))
        except InvalidOutput as error:
            return Reading(str(Outcome.BAD_OUTPUT), detail=str(error))


def signature(first: Reading, second: Reading) -> str:
    """Return the kind of a disagreement, without values that shrinking may change."""
    if UNCLAIMED in (first.word, second.word):  # neither right nor wrong
        return ""
    if first.word != second.word:
        return f"{first.word}, {second.word}"
    if first.table is None or second.table is None:
        return ""
    if first.table.num_rows != second.table.num_rows:
        return "other numbers of rows"
    if first_difference(first.table, second.table) is None:
        return ""
    same_types = first_difference(first.table.slice(0, 0), second.table.slice(0, 0)) is None
    return "other values" if same_types else "other types"


def write_files(files: Files, folder: Path) -> Path:
    """Write the bytes below a folder; return the path of the file or table."""
    root = folder / "input"
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root / DATA if set(files) == {DATA} else root


def load_files(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file or of all files of a table."""
    if path.is_file():
        return {DATA: path.read_bytes()}
    files = (one for one in sorted(path.rglob("*")) if one.is_file())
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in files}


def _refusal(response: Mapping[str, object]) -> Reading:
    if "unsupported" in response:
        return Reading(UNCLAIMED)
    reject = response.get("reject") or {}
    detail = str(reject)
    if isinstance(reject, Mapping):
        detail = str(reject.get("message", reject.get("feature", "")))
    return Reading(str(Outcome.PANIC) if response.get("panicked") else REFUSES, detail=detail)
