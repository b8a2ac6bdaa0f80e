"""Subprocess reader: reads rows by another implementation in a child process, which may crash.

The child sends Arrow batches. If it dies, the worker raises an error with the fragment and the exit
status, and an incomplete stream is detected.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
from lanceref.core.errors import LanceError

if TYPE_CHECKING:
    from lanceref_spark.options import Options, Rows

END = b"."
"""Marker after the last batch, since a stream that ends between two batches looks complete."""

CHILD = "lanceref_spark.subprocess_child"
"""Module of the child."""

STDERR_BYTES = 4096
"""Bytes of the end of the error output from which the last line is taken."""


def read_in_subprocess(
    options: Options, part: Rows, columns: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition. Raises LanceError if the child fails."""
    request = pickle.dumps((options, part, list(columns), schema.serialize().to_pybytes()))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", CHILD], stdin=pipe, stdout=pipe, stderr=errors, env=environment
        )
        try:
            is_complete = yield from _read_batches(child, request)
            status = child.wait()
        finally:
            child.kill()
            child.wait()
        if status or not is_complete:
            source = f"fragment {part.fragment} of version {part.version} of {options.uri}"
            raise LanceError(f"reader {options.reader} at {source}: {_describe(status, errors)}")


def _read_batches(
    child: subprocess.Popen[bytes], request: bytes
) -> Generator[pa.RecordBatch, None, bool]:
    """Yield the batches of the child; return whether the stream is complete."""
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdout:
        try:
            with child.stdin as channel:
                channel.write(request)
            yield from pa.ipc.open_stream(child.stdout)
            return child.stdout.read(1) == END
        except (pa.ArrowInvalid, OSError):
            return False


def _describe(status: int, errors: BinaryIO) -> str:
    """Return the exit status of a child, with the last line of its error output."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - STDERR_BYTES))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    last = f": {lines[-1]}" if lines else ""
    return f"ended by signal {-status}{last}" if status < 0 else f"exit {status}{last}"
