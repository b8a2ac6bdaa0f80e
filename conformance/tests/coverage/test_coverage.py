"""The survey counts what occurs in the fixtures: codecs, layouts, messages, types, clauses."""

import pytest
from lance_conformance import cases, places
from lance_conformance.coverage import survey as surveys
from lance_conformance.coverage.excused import EXCUSES, excuse

pytestmark = pytest.mark.xdist_group("coverage")


@pytest.fixture(scope="module")
def found():
    """The survey of the fixtures of this checkout."""
    return surveys.survey(cases.load(places.fixtures()))


def test_every_byte_has_an_owner(found):
    """No range of any file that is to be read is left over."""
    assert {} == found.unowned
    assert found.num_bytes > 900_000


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
