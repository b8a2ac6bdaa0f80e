"""Oddities: what is allowed is drawn and counted, nothing else."""

from lanceref.testing.oddities import ALL, NEEDS, Chance


def test_only_allowed_oddities_are_drawn():
    """And those that are drawn are counted."""
    chance = Chance(1, {"pages cut anywhere"})

    drawn = [chance.odd("pages cut anywhere") for _ in range(50)]

    assert 0 < sum(drawn) < 50
    assert not any(chance.odd("bitpacked", 1.0) for _ in range(50))
    assert dict(chance.seen) == {"pages cut anywhere": sum(drawn)}


def test_every_need_is_an_oddity():
    """Names are written alike."""
    assert {*NEEDS, *NEEDS.values()} <= ALL
