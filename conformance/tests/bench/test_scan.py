"""The scan benchmark: results for what was asked; no time is asserted."""

import pytest
from lance_conformance.bench.scan import ScanResult, run


def test_a_ratio_is_ours_over_the_oracles():
    """More is better for us."""
    assert 1.5 == ScanResult("t", "2.1", ours=3.0, oracle=2.0).ratio


@pytest.mark.oracle
def test_each_table_and_version_gives_a_result(tmp_path):
    """But for what the oracle refuses to write; the files are gone afterwards."""
    results = list(run(tmp_path, ["2.0", "2.1"], ["structnull", "bool"], mib=1, rounds=1))

    assert [("structnull", "2.1"), ("bool", "2.0"), ("bool", "2.1")] == [
        (result.table, result.version) for result in results
    ]
    assert all(result.ours > 0 and result.oracle > 0 for result in results)
    assert [] == list(tmp_path.iterdir())
