"""Writers of both implementations on one table."""

import pytest
from lance_conformance.campaigns.safety.concurrency import RACES, Race, held, place


def test_no_two_deeds_of_a_race_are_the_same():
    """But for increments and inserts; every writer has some."""
    for kinds in RACES.values():
        race = Race(kinds, ("lanceref",))
        deeds = [deed for writer in range(race.writers) for deed in race.deeds(writer)]
        others = [deed for deed in deeds if deed[0] not in ("increment", "insert")]

        assert len(set(others)) == len(others)
        assert all(number < race.numbers for _, number in deeds)
        assert {kind for kind, _ in deeds} == set(kinds)


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
def test_nothing_is_lost(stable):
    """Writers that append, delete, add up, upsert and insert the same, half of them the oracle."""
    race = Race(("append", "delete", "increment", "insert"), ("lanceref", "oracle"), 8, 1)
    with place("local") as where:
        ledger, wrong = held(race, where, stable=stable, v2_names=stable)

    assert [] == wrong
    assert 8 == len(ledger.done)


@pytest.mark.oracle
@pytest.mark.parametrize("scheme", ["s3", "s3+ddb"])
def test_nothing_is_lost_in_the_cloud(scheme):
    """Two writers of each implementation that append and add up."""
    pytest.importorskip("moto")
    race = Race(("append", "increment"), ("lanceref", "oracle"), 4, 1)
    with place(scheme) as where:
        ledger, wrong = held(race, where, stable=True)

    assert [] == wrong
    assert 4 == len(ledger.done)
