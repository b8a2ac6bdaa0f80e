"""Limits on hostile bytes."""

from lanceref.limits import DEFAULT_LIMITS, Limits


def test_output_may_grow_with_the_file():
    """The bound of one run is a constant plus a factor of the file's size."""
    limits = Limits(expansion_bytes=100, expansion_factor=3)

    assert 100 + 3 * 7 == limits.expanded(7)


def test_the_defaults_stay_below_the_goal_for_damaged_files():
    """64 MiB + 16 times the file's size is the goal: the default leaves room beside the output."""
    assert DEFAULT_LIMITS.expanded(1000) <= 64 * 2**20 + 16 * 1000
