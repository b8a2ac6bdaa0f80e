"""Strings stored as lists of bytes."""

from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.stored import case_folder
from lanceref.core.errors import BytesError
from pylanceref.file import LanceFileReader

CASE = case_folder(Path(__file__).parents[3] / "fixtures/file/2.0/binary/early")


@pytest.fixture
def expected():
    """The rows of the case."""
    with pa.memory_map(str(CASE / "expect.arrow")) as source:
        return pa.ipc.open_file(source).read_all()


def test_all_some_and_single_rows(expected):
    """Text, an empty one and a null; the column after keeps its place."""
    reader = LanceFileReader(str(CASE / "data.lance"))

    assert expected.equals(reader.read_all().to_table())
    assert expected.slice(1, 2).equals(reader.read_range(1, 2).to_table())
    assert expected.take([0, 3]).equals(reader.take_rows([0, 3]).to_table())
    only = LanceFileReader(str(CASE / "data.lance"), columns=["n"])
    assert expected.select(["n"]).equals(only.read_all().to_table())


def test_bytes_that_are_no_text_are_refused(tmp_path):
    """The bytes of a string are looked at."""
    data = (CASE / "data.lance").read_bytes()
    assert 1 == data.count("zwölf".encode())
    path = tmp_path / "data.lance"
    path.write_bytes(data.replace("zwölf".encode(), b"zw\xff\xfflf"))

    with pytest.raises(BytesError) as caught:
        LanceFileReader(str(path)).read_all().to_table()
    assert "L.array.binary.utf8" == caught.value.clause
