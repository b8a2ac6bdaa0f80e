"""Excuses hold for what they name."""

from lance_conformance.coverage.excused import EXCUSES, Excuse, excuse


def test_patterns_name_axis_and_member():
    """Both must fit."""
    one = Excuse("fields of *", "ZoneIndex.*", "because")

    assert one.holds(("fields of a.proto", "ZoneIndex.inner"))
    assert not one.holds(("values of a.proto", "ZoneIndex.inner"))
    assert not one.holds(("fields of a.proto", "Blob.inner"))


def test_what_can_occur_has_no_excuse():
    """Each excuse is found by its own members, and others by none."""
    assert excuse(("fields of encodings_v2_1.proto", "Flat.data")) in EXCUSES
    assert excuse(("fields of encodings_v2_1.proto", "Flat.bits_per_value")) is None
