"""Output: the Arrow IPC file of an adapter, read into memory within bounds.

The file must be a regular file. It is read, never mapped: its writer may still shorten it. What it
takes to decode is added up before anything is decoded: the lengths that buffers declare when they
are decompressed, and a few bytes for each array and each row. `MOST_BYTES` and four times what the
expected table holds are allowed; more is a bad output.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

import pyarrow as pa

from lance_conformance import ipc_size
from lance_conformance.decoded_size import decoded_bytes

MOST_BYTES = 64 * 2**20
"""What any output may take."""

TIMES_EXPECTED = 4
"""How many times the size of the expected table it may take beside."""


class BadOutput(Exception):
    """The output is not a valid Arrow IPC file, or is too large; the text says how."""


def allowed(expected: pa.Table) -> int:
    """Return the bytes that an output may take which should equal `expected`."""
    return MOST_BYTES + TIMES_EXPECTED * int(expected.nbytes)


def read_output(path: Path, most: int = 2**30) -> pa.Table:
    """Read an Arrow IPC file with a full validation pass. Raises BadOutput.

    `most` bounds the bytes of the file and of what it takes to decode it.
    """
    data = _read(path, most)
    try:
        takes = ipc_size.decoding(data, most)
        if takes > most:
            raise BadOutput(f"decodes to {takes} bytes or more, at most {most} are allowed")
        table = pa.ipc.open_file(pa.py_buffer(data)).read_all()
        table.validate(full=True)
        _check_names(table.schema)
        takes = decoded_bytes(table)
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, struct.error) as error:
        raise BadOutput(f"not a valid Arrow IPC file: {error}") from error
    if takes > most:
        raise BadOutput(f"decodes to {takes} bytes, at most {most} are allowed")
    return table


def _read(path: Path, most: int) -> bytes:
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise BadOutput(f"no output that can be opened: {error}") from error
    told = os.fstat(opened)
    if not stat.S_ISREG(told.st_mode):
        os.close(opened)
        raise BadOutput("the output is not a regular file")
    with os.fdopen(opened, "rb") as file:
        if told.st_size > most:
            raise BadOutput(f"a file of {told.st_size} bytes, at most {most} are allowed")
        try:
            return file.read(told.st_size)
        except OSError as error:
            raise BadOutput(f"the output cannot be read: {error}") from error


def _check_names(schema: pa.Schema) -> None:
    """Decode the names of all fields. Raises UnicodeDecodeError."""
    waiting = list(schema)
    while waiting:
        field = waiting.pop()
        str(field.name)
        waiting.extend(field.type.field(at) for at in range(field.type.num_fields))
