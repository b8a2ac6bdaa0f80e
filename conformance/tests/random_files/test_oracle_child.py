"""The oracle in a process of its own."""

from contextlib import closing

import pyarrow as pa
import pytest
from lance_conformance.random_files.oracle_child import OracleChild
from pylanceref.file import LanceFileWriter


@pytest.mark.oracle
def test_the_child_tells_what_differs_and_lives_on(tmp_path):
    """Equal rows, other rows, no file at all: three answers of one child."""
    table = pa.table({"c": [1, 2, 3]})
    with LanceFileWriter(tmp_path / "f", table.schema) as writer:
        writer.write_batch(table)

    with closing(OracleChild()) as child:
        assert child.difference(tmp_path / "f", table) is None
        assert "c" in child.difference(tmp_path / "f", pa.table({"c": [1, 2, 4]}))
        assert child.difference(tmp_path / "missing", table) is not None
        assert child.difference(tmp_path / "f", table) is None
