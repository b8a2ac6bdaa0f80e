"""Output: the Arrow IPC file of an adapter, read into memory within bounds.

The file must be a regular file. It is read, never mapped: the adapter may still truncate it. The
decoded size is computed before anything is decoded: the declared lengths of decompressed buffers,
and a few bytes for each array and each row. `BASE_BYTES` and four times the size of the expected
table are allowed; a larger output is invalid.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

import pyarrow as pa

from lance_conformance.protocol import ipc_size
from lance_conformance.protocol.decoded_size import decoded_bytes

BASE_BYTES = 64 * 2**20
"""Bytes that any output may have."""

EXPECTED_SIZE_FACTOR = 4
"""Further bytes allowed, as a multiple of the size of the expected table."""


class InvalidOutput(Exception):
    """The output is not a valid Arrow IPC file, or is too large; the message states the reason."""


def output_limit(expected: pa.Table) -> int:
    """Return the maximum size in bytes of an output that should equal `expected`."""
    return BASE_BYTES + EXPECTED_SIZE_FACTOR * int(expected.nbytes)


def read_output(path: Path, most: int = 2**30) -> pa.Table:
    """Read an Arrow IPC file with a full validation pass. Raises InvalidOutput.

    `most` bounds the size of the file and of its decoded form, in bytes.
    """
    data = _read(path, most)
    try:
        takes = ipc_size.bytes_to_decode(data, most)
        if takes > most:
            raise InvalidOutput(f"decodes to {takes} bytes or more, at most {most} are allowed")
        table = pa.ipc.open_file(pa.py_buffer(data)).read_all()
        table.validate(full=True)
        _check_names(table.schema)
        takes = decoded_bytes(table)
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, struct.error) as error:
        raise InvalidOutput(f"not a valid Arrow IPC file: {error}") from error
    if takes > most:
        raise InvalidOutput(f"decodes to {takes} bytes, at most {most} are allowed")
    return table


def _read(path: Path, most: int) -> bytes:
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise InvalidOutput(f"the output cannot be opened: {error}") from error
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        os.close(opened)
        raise InvalidOutput("the output is not a regular file")
    with os.fdopen(opened, "rb") as file:
        if status.st_size > most:
            raise InvalidOutput(f"a file of {status.st_size} bytes, at most {most} are allowed")
        try:
            return file.read(status.st_size)
        except OSError as error:
            raise InvalidOutput(f"the output cannot be read: {error}") from error


def _check_names(schema: pa.Schema) -> None:
    """Decode the names of all fields. Raises UnicodeDecodeError."""
    waiting = list(schema)
    while waiting:
        field = waiting.pop()
        str(field.name)
        waiting.extend(field.type.field(at) for at in range(field.type.num_fields))
