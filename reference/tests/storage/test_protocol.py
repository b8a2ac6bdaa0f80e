"""Store: what every kind of store counts."""

from lanceref.storage import IOStats


def test_counters_start_again_once_they_are_asked():
    """What was counted since then is told, and no more."""
    stats = IOStats(1, 2, 3, 4)

    assert IOStats(1, 2, 3, 4) == stats.incremental()
    assert IOStats() == stats.incremental()
