"""The survey counts what occurs in the fixtures."""

import pytest
from lance_conformance import cases, places
from lance_conformance.coverage import survey as surveys
from lance_conformance.coverage.excused import EXCUSES, excuse

_CHOICE = "no writer chooses it for data of a fixture's size; campaigns of odd files draw it"
_LEGACY = "of releases before those whose files the format promises to read"
_RARE = "legal, and made by no writer; a page by hand would show it"

GAPS: dict[str, tuple[tuple[str, ...], str]] = {
    "values of Encoding in file.proto": (("RLE",), _LEGACY),
    "values of Field.Type in file.proto": (("LEAF",), _LEGACY),
    "planes in 2.3": (("dense, none",), _RARE),
    "layers of sparse structure": (("0",), _RARE),
    "bytes of the control word": (("4",), _CHOICE),
    "row index": (("row index u32", "row index u64"), _CHOICE),
    "log of a chunk in 2.1": (("11", "13", "14", "15"), _CHOICE),
    "log of a chunk since 2.2": (("11", "13", "15"), _CHOICE),
    "codec of levels in 2.1": (("general",), _RARE),
    "codec of levels in 2.2": (("general",), _RARE),
    "codec of levels in 2.3": (("general",), _RARE),
    "codec of zipped values in 2.1": (("packed_struct",), _RARE),
    "codec of zipped values in 2.2": (("packed_struct",), _RARE),
    "codec of dictionary in 2.1": (("fsst", "fixed_size_list"), _RARE),
    "codec of dictionary in 2.2": (("variable", "fsst", "fixed_size_list"), _RARE),
    "codec of dictionary in 2.3": (
        ("variable", "fsst", "fixed_size_list", "constant", "range", "delta"),
        _RARE,
    ),
    "codec of offsets in 2.3": (
        ("inline_bitpacking", "out_of_line_bitpacking", "general", "rle", "constant", "dictionary"),
        _RARE,
    ),
    "codec of run values in 2.3": (("general",), _RARE),
    "codec of packed fields of fixed width": (("packed_struct",), _RARE),
    "codec of packed fields of variable width": (("fsst", "general"), _RARE),
    "codec of compressed chunk values": (("fixed_size_list", "packed_struct"), _RARE),
    "codec of compressed zipped values": (("fsst",), _RARE),
    "run value bits": (("128", "256"), _RARE),
    "run length bits": (("16", "64"), _RARE),
    "constant bytes": (("1", "2"), _RARE),
}
"""By axis: members that could occur in a fixture and do not, and why they do not."""


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


def test_what_never_occurs_is_listed_with_a_reason(found):
    """A new member without a case, a case that is gone, and a gap that has closed are noticed."""
    gaps = {
        axis: tuple(
            member
            for member in members
            if not found.read[axis, member] and excuse((axis, member)) is None
        )
        for axis, members in surveys.axes().items()
    }
    listed = {axis: members for axis, (members, _) in GAPS.items()}

    assert listed == {axis: members for axis, members in gaps.items() if members}
    assert all(reason for _, reason in GAPS.values())


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
