"""Damaged data files: rows, or an error that names clause, place and words; nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import BytesError

from .in_memory import column, findings_of, scanned, taken, written
from .stored_columns import CASES, COLUMNS

VERSIONS = ("0.1", "2.0", "2.1", "2.2", "2.3")


def _stored_in(version: str) -> list[str]:
    """Name the columns of a version; of 0.1 one for each kind of page."""
    if version == "0.1":
        return ["no nulls", "booleans of a slice", "strings with nulls", "lists", "vectors"]
    return [name for name, of in CASES if of == version]


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@settings(max_examples=150)
def test_changed_bytes_are_rows_or_an_error(version, data):
    """Reading, taking and checking a file with other bytes anywhere, or without its end."""
    stored = COLUMNS[data.draw(st.sampled_from(_stored_in(version)))]
    table = stored.parts()[0].slice(0, data.draw(st.sampled_from([4, 120])))
    damaged = bytearray(written(table, version))
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    bad = bytes(damaged[: data.draw(st.sampled_from([None, len(damaged) - 1, 0]))])
    try:
        reader = column(bad)
        assert reader.num_rows == len(scanned(reader))
        taken(reader, [0] * bool(reader.num_rows))
    except BytesError as error:
        assert error.clause.startswith("L.") and str(error.found) and str(error.wanted)
        assert error.offset >= 0
    findings = findings_of(bad)
    assert all(one.clause.startswith("L.") for one in findings)
    assert findings or len(bad) == len(damaged)
