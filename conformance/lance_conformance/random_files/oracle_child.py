"""Oracle child: the oracle reads files in a separate process, because it may abort.

The child reads lines of JSON, `[path of a data file, path of the expected table as an Arrow file]`,
and writes a line for each: the difference as text, or null.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pyarrow as pa

from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.oracle import lance_file
from lance_conformance.random_files.unsliced import unsliced

TIMEOUT_SECONDS = 60
"""Timeout of one file."""


class OracleChild:
    """The child process, started on first use and again after it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def difference(self, path: Path, table: pa.Table) -> str | None:
        """Read a file by the oracle; return its difference from `table`, an error, or None."""
        expected = path.with_suffix(".arrow")
        with pa.OSFile(str(expected), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
        response = self._request(json.dumps([str(path), str(expected)]))
        return "the oracle's process died" if response is None else json.loads(response)

    def _request(self, request: str) -> str | None:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "lance_conformance.random_files.oracle_child"]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(TIMEOUT_SECONDS, process.kill)
        alarm.start()
        process.stdin.write(request + "\n")
        process.stdin.flush()
        response = process.stdout.readline()
        alarm.cancel()
        if not response:
            process.wait()
        return response or None

    def close(self) -> None:
        """End the child."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def read(path: str, expected: str) -> str | None:
    """Read a file by the oracle; return its difference from the expected table, or an error."""
    table = pa.ipc.open_file(expected).read_all()
    try:
        rows = lance_file().LanceFileReader(path).read_all(batch_size=1 << 20).to_table()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {str(error)[:300]}"
    return first_difference(unsliced(table), unsliced(rows))


def main() -> None:
    """Read files until the input ends."""
    for line in sys.stdin:
        print(json.dumps(read(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
