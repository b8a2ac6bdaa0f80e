"""Fields: a change by chance is a change, and the seed decides which."""

from random import Random

import pytest
from lance_conformance.campaigns.damage.whole.fields import change, size_of, unknown_fields
from lanceref.proto.table_pb2 import Manifest


def _manifest() -> Manifest:
    message = Manifest(version=1, tag="t")
    fragment = message.fragments.add(id=3, physical_rows=10)
    fragment.files.add(path="a.lance", fields=[0, 1], column_indices=[0, 1])
    return message


@pytest.mark.parametrize("seed", range(40))
def test_a_seed_changes_a_message_in_one_way(seed):
    """The message stays one that can be written and parsed."""
    one, other = _manifest(), _manifest()

    assert change(one, Random(seed)) == change(other, Random(seed))
    data = one.SerializeToString(deterministic=True)
    assert data == other.SerializeToString(deterministic=True)
    assert data == Manifest.FromString(data).SerializeToString(deterministic=True)


def test_most_changes_leave_another_message():
    """A value may be drawn that was there."""
    changed = 0
    for seed in range(100):
        message = _manifest()
        change(message, Random(seed))
        changed += message != _manifest()

    assert changed > 80


def test_unknown_fields_are_kept_by_a_parser():
    """They belong to no field of a manifest."""
    message = Manifest.FromString(unknown_fields(Random(1), 50))

    assert [] == message.ListFields()
    assert message.ByteSize() >= 100


def test_sizes_lie_between_their_bounds():
    """Of every order of magnitude."""
    sizes = [size_of(Random(seed), 10, 10**5) for seed in range(200)]

    assert 10 <= min(sizes) < 100 and 10**4 < max(sizes) <= 10**5
