"""Subprocess reader: rows of a reader that may end its process, read in a process of their own.

A reader that is not this implementation is asked in a child, which sends Arrow batches. If it dies,
the worker lives, and the error says where it was and how it ended; rows that came before are not
taken for all there are.
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
"""What follows the last batch: a stream that breaks off between two batches looks whole."""

CHILD = "lanceref_spark.subprocess_child"
"""The module that answers."""

TOLD_BYTES = 4096
"""How much of the end of an error output is looked at."""


def rows_apart(
    options: Options, part: Rows, columns: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition. Raises LanceError when the child does not end well."""
    question = pickle.dumps((options, part, list(columns), schema.serialize().to_pybytes()))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", CHILD], stdin=pipe, stdout=pipe, stderr=errors, env=environment
        )
        try:
            whole = yield from _answer(child, question)
            status = child.wait()
        finally:
            child.kill()
            child.wait()
        if status or not whole:
            where = f"fragment {part.fragment} of version {part.version} of {options.uri}"
            raise LanceError(f"reader {options.reader} at {where}: {_end(status, errors)}")


def _answer(
    child: subprocess.Popen[bytes], question: bytes
) -> Generator[pa.RecordBatch, None, bool]:
    """Yield the batches that come; return whether the stream is whole."""
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdout:
        try:
            with child.stdin as channel:
                channel.write(question)
            yield from pa.ipc.open_stream(child.stdout)
            return child.stdout.read(1) == END
        except (pa.ArrowInvalid, OSError):
            return False


def _end(status: int, errors: BinaryIO) -> str:
    """Tell how a child ended."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - TOLD_BYTES))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    last = f": {lines[-1]}" if lines else ""
    return f"ended by signal {-status}{last}" if status < 0 else f"exit {status}{last}"
