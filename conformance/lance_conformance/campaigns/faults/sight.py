"""Sight: all that a reader sees of a table, as plain values, whoever the reader is.

The oracle looks in a process of its own, so that this one can be forked: it is sent paths, line by
line, and answers each with what it saw as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType, TracebackType
from typing import Self, TypedDict

import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance import oracle


class Sight(TypedDict):
    """Rows are texts, in their order; of a branch those of its latest version."""

    rows: list[str]
    ids: list[int]
    fields: list[str]
    config: dict[str, str]
    tags: dict[str, int]
    branches: dict[str, list[str]]
    history: dict[str, list[str]]


def look(engine: ModuleType, path: str) -> Sight | None:
    """Return what an implementation sees; None where it sees no table. Raises what it raises."""
    try:
        table = engine.dataset(path)
    except ValueError as error:
        if "not found" in str(error):
            return None
        raise
    numbers = [one["version"] for one in table.versions()]
    return Sight(
        rows=_rows(table),
        ids=table.to_table(columns=[], with_row_id=True)["_rowid"].to_pylist(),
        fields=[str(one) for one in table.schema],
        config=dict(sorted(table.config().items())),
        tags={name: tag["version"] for name, tag in sorted(table.tags.list().items())},
        branches={
            name: _rows(table.checkout_version((name, None)))
            for name in sorted(table.branches.list())
        },
        history={str(number): _rows(engine.dataset(path, number)) for number in numbers},
    )


def _rows(table: object) -> list[str]:
    found = table.to_table()  # type: ignore[attr-defined]
    return [str(row) for row in found.to_pylist()]


Seen = Sight | str | None
"""A table, an error as a text, or no table."""


def seen(engine: ModuleType, path: str) -> Seen:
    """Return what an implementation sees, or how it failed."""
    try:
        return look(engine, path)
    except (OSError, ValueError, LanceError) as error:
        return f"{type(error).__name__}: {error}"


def own_sight(path: str) -> Seen:
    """Return what the reference sees."""
    return seen(pylanceref, path)


class OracleEye:
    """The process in which the oracle looks."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "lance_conformance.campaigns.faults.sight"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        return self

    def look(self, path: str) -> Seen:
        """Return what the oracle sees."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(path), file=self._process.stdin, flush=True)
        found: Seen = json.loads(self._process.stdout.readline())
        return found

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        print(json.dumps(seen(oracle.lance(), json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
