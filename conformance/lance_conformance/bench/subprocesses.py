"""Subprocess measurements: the memory of a streamed scan, and the time of an import.

    python -m lance_conformance.bench.subprocesses scan ours FILE    MiB of a scan
    python -m lance_conformance.bench.subprocesses import oracle     seconds of an import

The peak is that of the pages of the process (`VmHWM`): that of `getrusage` includes the pages of
its parent at the start.
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
"""Modules that a program imports to read tables and files."""

BATCH_SIZE = 1024
"""Batch size of the measured scan, the default of readers."""


def memory(path: Path, table: str, version: str) -> Figure:
    """Return the MiB that a streamed scan needs in addition to the imports.

    The first round does not count, because it compiles the modules.
    """
    with _compilation_cache() as environment:
        for _ in range(2):
            peaks = [
                _measure("scan", engine, str(path), environment=environment) for engine in IMPORTS
            ]
    ours, oracle = peaks
    return Figure("memory", table, version, ours, oracle, "MiB")


def imports(rounds: int) -> Figure:
    """Return the median processor seconds of an import.

    The first round does not count: it compiles the modules, as an installation does.
    """
    times: dict[str, list[float]] = {engine: [] for engine in IMPORTS}
    with _compilation_cache() as environment:
        for round_ in range(rounds + 1):
            for engine, timings in times.items():
                seconds = _measure("import", engine, environment=environment)
                if round_:
                    timings.append(seconds)
    ours, oracle = (statistics.median(times[engine]) for engine in IMPORTS)
    return Figure("import", "", "", ours, oracle, "s")


@contextmanager
def _compilation_cache() -> Iterator[Mapping[str, str]]:
    """Yield environment variables with an empty cache of compiled modules."""
    with tempfile.TemporaryDirectory() as folder:
        yield os.environ | {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}


def _measure(*arguments: str, environment: Mapping[str, str] | None = None) -> float:
    command = [sys.executable, "-W", "ignore", "-m", __name__, *arguments]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(result.stdout)


def _import(engine: str) -> float:
    start = time.process_time()
    for name in IMPORTS[engine]:
        import_module(name)
    return time.process_time() - start


def _scan(engine: str, path: str) -> float:
    reader = import_module("pylanceref.file" if engine == "ours" else "lance.file").LanceFileReader
    before = peak()  # the reference imports its reader lazily
    for batch in reader(path).read_all(batch_size=BATCH_SIZE).to_batches():
        del batch
    return peak() - before


def peak() -> float:
    """Return the peak memory of this process, in MiB."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(match.group(1)) / 1024 if match else float("nan")


if __name__ == "__main__":
    kind, engine, *rest = sys.argv[1:]
    print(_import(engine) if kind == "import" else _scan(engine, rest[0]))
