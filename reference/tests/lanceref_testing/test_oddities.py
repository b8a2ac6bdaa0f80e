"""Oddities: what is allowed is drawn and counted, nothing else."""

from lanceref_testing.oddities import ALL, NEEDS, Chance, with_needs


def test_only_allowed_oddities_are_drawn():
    """And those that are drawn are counted."""
    chance = Chance(1, {"pages cut anywhere"})

    drawn = [chance.odd("pages cut anywhere") for _ in range(50)]

    assert 0 < sum(drawn) < 50
    assert not any(chance.odd("bitpacked", 1.0) for _ in range(50))
    assert dict(chance.seen) == {"pages cut anywhere": sum(drawn)}


def test_needs_are_followed_to_the_end():
    """Deltas of deltas need positions in any codec, which need a sparse structure."""
    needed = {"deltas of deltas", "positions in any codec", "sparse structure"}

    assert with_needs("deltas of deltas") == needed
    assert with_needs("bitpacked") == {"bitpacked"}


def test_every_need_is_an_oddity():
    """Names are written alike."""
    assert {*NEEDS, *NEEDS.values()} <= ALL
