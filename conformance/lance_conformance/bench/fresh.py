"""Fresh processes: the memory of a streamed scan, and the time an import takes.

    python -m lance_conformance.bench.fresh scan ours FILE    MiB that a scan needs
    python -m lance_conformance.bench.fresh import oracle     seconds that an import takes

The peak is that of the process's own pages (`VmHWM`): what `getrusage` tells begins with the pages
of the process that started it.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from lance_conformance.bench.figures import Figure

IMPORTS = {"ours": ["lanceref", "pylanceref.dataset", "pylanceref.file"], "oracle": ["lance"]}
"""What a program that reads tables and files imports."""

BATCH_SIZE = 1024
"""Batch size of the scan whose memory is measured: the readers' default."""


def memory(path: Path, table: str, version: str) -> Figure:
    """Return the MiB that one streamed scan needs above the imports.

    The first round does not count: it compiles the modules, which takes memory too.
    """
    with _compiled() as environment:
        for _ in range(2):
            found = [_ask("scan", side, str(path), environment=environment) for side in IMPORTS]
    ours, oracle = found
    return Figure("memory", table, version, ours, oracle, "MiB")


def imports(rounds: int) -> Figure:
    """Return the median processor seconds of an import.

    The first round is not timed: it compiles the modules, as an installation does.
    """
    times: dict[str, list[float]] = {side: [] for side in IMPORTS}
    with _compiled() as environment:
        for round_ in range(rounds + 1):
            for side, taken in times.items():
                seconds = _ask("import", side, environment=environment)
                if round_:
                    taken.append(seconds)
    ours, oracle = (statistics.median(times[side]) for side in IMPORTS)
    return Figure("import", "", "", ours, oracle, "s")


@contextmanager
def _compiled() -> Iterator[Mapping[str, str]]:
    """Yield an environment that keeps compiled modules, none at first."""
    with tempfile.TemporaryDirectory() as folder:
        yield os.environ | {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}


def _ask(*arguments: str, environment: Mapping[str, str] | None = None) -> float:
    command = [sys.executable, "-W", "ignore", "-m", __name__, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def _import(side: str) -> float:
    start = time.process_time()
    for name in IMPORTS[side]:
        import_module(name)
    return time.process_time() - start


def _scan(side: str, path: str) -> float:
    reader = import_module("pylanceref.file" if side == "ours" else "lance.file").LanceFileReader
    before = peak()  # the reference imports its reader when it is asked for
    for batch in reader(path).read_all(batch_size=BATCH_SIZE).to_batches():
        del batch
    return peak() - before


def peak() -> float:
    """Return the most MiB this process has held."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(found.group(1)) / 1024 if found else float("nan")


if __name__ == "__main__":
    kind, side, *rest = sys.argv[1:]
    print(_import(side) if kind == "import" else _scan(side, rest[0]))
