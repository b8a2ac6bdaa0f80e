"""Parts: files put together again with fewer fields and pages."""

from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.shrink.parts import (
    data_end,
    put_together,
    taken_apart,
    with_fields,
    with_pages,
)
from lanceref.core.errors import LanceError
from pylanceref.file import LanceFileReader, LanceFileWriter

ROWS = pa.table(
    {
        "a": pa.array([1, 2, 3, 4], pa.int32()),
        "s": pa.array([{"x": i, "y": [str(i)] * i} for i in range(4)]),
        "t": pa.array(["p", None, "", "q"]),
        "v": pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float32(), 2)),
    }
)


def written(path: Path, version: str, num_pages: int = 1) -> bytes:
    """The rows once for each page, in a file."""
    with LanceFileWriter(path, ROWS.schema, version=version, data_cache_bytes=1) as writer:
        for _ in range(num_pages):
            writer.write_batch(ROWS)
    return path.read_bytes()


def read(path: Path, data: bytes) -> pa.Table:
    path.write_bytes(data)
    return LanceFileReader(str(path)).read_all().to_table()


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_fields_and_pages_can_be_left_out(tmp_path, version):
    """What is left reads as it did; the file gets smaller."""
    data = written(tmp_path / "a.lance", version, num_pages=3)
    parts = taken_apart(data)
    fewer = with_fields(parts, [1, 3])
    whole = read(tmp_path / "b.lance", put_together(parts))

    assert (4, 12) == (parts.num_fields, whole.num_rows)
    assert pa.concat_tables([ROWS] * 3).equals(whole)
    assert whole.select(["s", "v"]).equals(read(tmp_path / "c.lance", put_together(fewer)))
    assert len(put_together(fewer)) < len(put_together(parts)) <= len(data) + 256
    if parts.num_pages:
        some = read(tmp_path / "d.lance", put_together(with_pages(parts, [0, 2])))
        assert pa.concat_tables([ROWS] * 2).equals(some)


def test_pages_are_counted_where_all_columns_are_cut_alike(tmp_path):
    """Three batches of a small cache: three pages of each column."""
    assert 3 == taken_apart(written(tmp_path / "a.lance", "2.1", num_pages=3)).num_pages


def test_what_is_no_file_is_refused():
    """Arbitrary bytes have no parts."""
    with pytest.raises(LanceError):
        taken_apart(b"not a file")


def test_the_end_of_the_data(tmp_path):
    """The first metadata of a column lie after every buffer."""
    data = written(tmp_path / "a.lance", "2.1")

    assert 0 < data_end(data) < len(data) - 40
