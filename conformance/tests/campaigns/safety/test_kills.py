"""Writers that are killed."""

import pytest
from lance_conformance.campaigns.safety.concurrency import Race, place
from lance_conformance.campaigns.safety.kills import round_of


@pytest.mark.oracle
def test_kills_among_both_implementations_lose_nothing():
    """Four writers that append, delete, add up and upsert, two of them the oracle."""
    race = Race(("append", "delete", "increment", "upsert"), ("lanceref", "oracle"), 4, 3)
    with place("local") as where:
        ledger, wrong = round_of(race, 3, 1, where)

    assert [] == wrong
    assert 12 == len(ledger.done) + len(ledger.doubtful)
    assert ledger.kills
