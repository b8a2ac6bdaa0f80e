"""Odd files: whatever is drawn, the rows come back and validate finds what is odd at most."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3
from lanceref.data_file.lance_file import LanceFileReader
from lanceref.explain import explain
from lanceref_testing import random_sample
from lanceref_testing.odd_files import odd_file
from lanceref_testing.oddities import ALL, SLOPPY, Chance

from .plain import plain_columns

FOR_WRITERS = {
    "L.file.padding.value",
    "L.file.columns.order",
    "L.file.buffers.overlap",
    "L.file.alignment.buffers",
    "L.file.footer.gbo-start",
    "L.array.binary.null-adjustment-value",
    "L.array.binary.bytes-end",
    "L.array.list.null-adjustment-value",
    "L.page.miniblock.padding",
}


@pytest.mark.parametrize("version", [V2_0, V2_1, V2_2, V2_3], ids=str)
@pytest.mark.parametrize("sloppy", [False, True], ids=["right", "sloppy"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**20))
def test_odd_files_are_read_equal(tmp_path, version, sloppy, seed):
    """All rows and some; every byte is owned, and only sloppy files break rules for writers."""
    table = random_sample(seed, version).table.slice(0, 400)
    odd_file(tmp_path / "f", table, version, Chance(seed, ALL if sloppy else ALL - SLOPPY))

    reader = LanceFileReader(tmp_path / "f")

    assert plain_columns(reader.read_all().to_table()) == plain_columns(table)
    some = sorted({0, table.num_rows // 2, table.num_rows - 1} - {-1}) if table.num_rows else []
    taken = pa.concat_tables([table.slice(row, 1) for row in some]) if some else table
    found = reader.take_rows(some).to_table() if some else table
    assert plain_columns(found) == plain_columns(taken)
    told = explain(tmp_path / "f")
    told_of = {finding.clause for finding in told.findings if finding.severity != "note"}
    assert told_of <= (FOR_WRITERS if sloppy else set())
    assert told.unowned == []


def test_a_seed_gives_the_same_file_again(tmp_path):
    """Everything is drawn from the generator that was given."""
    table = random_sample(3, V2_0).table
    for path in ("a", "b"):
        odd_file(tmp_path / path, table, V2_0, Chance(5))

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
