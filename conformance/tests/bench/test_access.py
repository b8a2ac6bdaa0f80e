"""Random access: what opening, a thousand rows and one row read, next to the oracle's counts."""

import pytest
from lance_conformance.bench import access
from lance_conformance.bench.sides import ORACLE
from lance_conformance.bench.tables import REFUSED, TABLES

MIB = 8

MOST = 1.01
"""Requests may be one or two more, for fewer bytes, and the other way round: a request is shared by
neighbours in other pages and columns, and the two sides do not see the same ones as such."""

MORE = {("listi32", "2.3"): 1.05}
"""Where it is more than one or two requests; the bytes are fewer."""


def test_a_sample_ascends_without_repeats():
    """Of a table with fewer rows it is all of them."""
    rows = access.sample(10_000)

    assert (1000, sorted(set(rows))) == (len(rows), rows)
    assert list(range(7)) == access.sample(7)


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
@pytest.mark.parametrize("name", TABLES)
def test_no_more_is_read_than_the_oracle_reads(name, version, tmp_path):
    """Requests and bytes: to open, of a thousand rows, and of one row of a cold reader."""
    if (name, version) in REFUSED:
        pytest.skip("2.0 has no struct validity")
    table, path = TABLES[name](MIB), tmp_path / "x.lance"
    ORACLE.write(path, table, version)
    for figure in access.requests(path, name, version, len(table)):
        most = MOST if figure.measure.startswith("take") else 1.0
        if figure.measure == "take requests":
            most = MORE.get((name, version), most)

        assert figure.ratio <= most, figure
