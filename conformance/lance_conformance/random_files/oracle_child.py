"""Oracle child: the oracle reads files in a process of its own, because it may abort.

The child reads lines of JSON, `[path of a data file, path of the expected table as an Arrow file]`,
and answers each with a line: the difference it found as text, or null.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pyarrow as pa

from lance_conformance.oracle import lance_file
from lance_conformance.random_files.settled import settled
from lance_conformance.table_diff import first_difference

PATIENCE = 60
"""Seconds that one file may take."""


class OracleChild:
    """The child process, started when first asked and again after it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def difference(self, path: Path, table: pa.Table) -> str | None:
        """Let the oracle read a file; return how it is not `table`, or how the child ended."""
        expected = path.with_suffix(".arrow")
        with pa.OSFile(str(expected), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
        answer = self._ask(json.dumps([str(path), str(expected)]))
        return "the oracle's process died" if answer is None else json.loads(answer)

    def _ask(self, question: str) -> str | None:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "lance_conformance.random_files.oracle_child"]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(PATIENCE, process.kill)
        alarm.start()
        process.stdin.write(question + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        alarm.cancel()
        if not answer:
            process.wait()
        return answer or None

    def close(self) -> None:
        """End the child."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def read(path: str, expected: str) -> str | None:
    """Read a file with the oracle; return how it is not the expected table."""
    wanted = pa.ipc.open_file(expected).read_all()
    try:
        found = lance_file().LanceFileReader(path).read_all(batch_size=1 << 20).to_table()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {str(error)[:300]}"
    return first_difference(settled(wanted), settled(found))


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        print(json.dumps(read(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
