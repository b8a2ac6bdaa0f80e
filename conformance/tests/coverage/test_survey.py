"""The survey counts what occurs in the fixtures."""

import pytest
from lance_conformance import cases, places
from lance_conformance.coverage import survey as surveys
from lance_conformance.coverage.excused import EXCUSES, excuse


@pytest.fixture(scope="module")
def found():
    """The survey of the fixtures of this checkout."""
    return surveys.survey(cases.load(places.fixtures()))


def test_every_byte_has_an_owner(found):
    """No range of any file that is to be read is left over."""
    assert {} == found.unowned
    assert found.num_bytes > 900_000


def test_refused_cases_count_apart(found):
    """A compressed flat buffer is in a file to refuse and in none to read."""
    fact = ("fields of encodings_v2_1.proto", "Flat.data")

    assert 0 == found.read[fact]
    assert found.refused[fact] > 0


def test_what_could_occur_does(found):
    """A new member without a case, and a case that is gone, are noticed."""
    gaps = [
        (axis, member)
        for axis, members in surveys.axes().items()
        for member in members
        if not found.read[axis, member] and excuse((axis, member)) is None
    ]

    assert [] == gaps


def test_no_excuse_is_stale(found):
    """What is excused never occurs, and is a member of some axis."""
    axes = surveys.axes()
    every = [(axis, member) for axis, members in axes.items() for member in members]
    stale = [one for one in EXCUSES if any(found.read[fact] and one.holds(fact) for fact in every)]
    empty = [one for one in EXCUSES if not any(map(one.holds, every))]

    assert [] == stale
    assert [] == empty


def test_damage_ends_no_survey():
    """Files that are to be refused are explained as far as they go."""
    refused = [case for case in cases.load(places.fixtures()) if case.is_negative]
    some = surveys.survey(refused[:40])

    assert 0 == some.num_files
    assert some.refused.total() > 1000
