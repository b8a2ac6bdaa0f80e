"""The survey counts what occurs in the fixtures: codecs, layouts, messages, types, clauses."""

import pytest
from lance_conformance import resources
from lance_conformance.coverage import survey as surveys
from lance_conformance.coverage.exclusions import EXCLUSIONS, find_exclusion
from lance_conformance.suite import cases

pytestmark = pytest.mark.xdist_group("coverage")


@pytest.fixture(scope="module")
def found():
    """The survey of the fixtures of this checkout."""
    return surveys.survey(cases.load(resources.fixtures()))


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
        if not found.read[axis, member] and find_exclusion((axis, member)) is None
    ]

    assert [] == gaps


def test_no_excuse_is_stale(found):
    """What is excused never occurs, and is a member of some axis."""
    axes = surveys.axes()
    every = [(axis, member) for axis, members in axes.items() for member in members]
    occurring = [fact for fact in every if found.read[fact]]
    stale = [one for one in EXCLUSIONS if any(map(one.matches, occurring))]
    empty = [one for one in EXCLUSIONS if not any(map(one.matches, every))]

    assert ([], []) == (stale, empty)
