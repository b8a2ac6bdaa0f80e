"""Tests of reading an adapter's output: what is refused, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.output import MOST_BYTES, BadOutput, allowed, read_output

REPEATED = pa.array(["x" * 9000] * 9).dictionary_encode()
TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


def write(path: Path, table: pa.Table, compression: str | None = None) -> Path:
    """Write an Arrow IPC file."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    path.write_bytes(sink.getvalue())
    return path


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_a_table_is_read(tmp_path: Path, compression: str | None) -> None:
    """The table comes back, also after its file was shortened."""
    path = write(tmp_path / "out", TABLE, compression)
    table = read_output(path)
    path.write_bytes(b"")

    assert TABLE.equals(table)


def test_what_is_allowed_grows_with_what_is_expected() -> None:
    """A large table may take more than the bytes that any may take."""
    assert MOST_BYTES == allowed(pa.table({}))
    assert MOST_BYTES + 4 * TABLE.nbytes == allowed(TABLE)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "no output that can be opened"),
        (lambda path: path.symlink_to(write(path.with_name("other"), TABLE)), "no output"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: path.touch(), "not a valid Arrow IPC file"),
        (lambda path: path.write_bytes(b"ARROW1" + bytes(60) + b"ARROW1"), "a footer of 0"),
        (lambda path: write(path, pa.table({"a": pa.nulls(9000, pa.int64())})), "a file of"),
        (lambda path: write(path, pa.table({"a": pa.nulls(9000, pa.int64())}), "zstd"), "decodes"),
        (lambda path: write(path, pa.table({"a": pa.nulls(2**31 - 1)})), "decodes to"),
        (lambda path: write(path, pa.table({"a": REPEATED})), "decodes to"),
    ],
)
def test_what_is_no_table_or_too_large_is_refused(
    tmp_path: Path, make: Callable[[Path], object], told: str
) -> None:
    """A file that is no plain Arrow file, or decodes to more than is allowed, is a bad output."""
    make(tmp_path / "out")

    with pytest.raises(BadOutput, match=told):
        read_output(tmp_path / "out", 40_000)


def test_damage_is_a_bad_output(tmp_path: Path) -> None:
    """Whatever byte of a file is changed, it is read or refused with BadOutput."""
    data = write(tmp_path / "out", TABLE, "lz4").read_bytes()
    for at in range(len(data)):
        (tmp_path / "out").write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            read_output(tmp_path / "out", MOST_BYTES)
        except BadOutput:
            continue
