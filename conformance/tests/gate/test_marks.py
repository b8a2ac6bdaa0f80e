"""Marks: versions of files, bits of the reader word."""

from pathlib import Path

import pytest
from lance_conformance import cases
from lance_conformance.gate.marks import carried, marks

FIXTURES = Path(__file__).parents[3] / "fixtures"


def case(name: str) -> cases.Case:
    """A published case."""
    return cases.load_case(FIXTURES / name / "case.json", FIXTURES)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("file/2.1/miniblock/int32", {"file 2.1"}),
        ("table/any/row-ids/stable", {"reader flag 2"}),
    ],
)
def test_marks_of_a_case(name, wanted):
    """A file says its version; stable row ids set the second bit of the reader word."""
    assert wanted <= marks(case(name))


def test_marks_of_several_cases_come_together():
    """Two files of two versions carry both."""
    both = [case("file/2.1/miniblock/int32"), case("file/0.1/binary/bytes")]

    assert {"file 2.1", "file 0.1"} == carried(both)
    assert frozenset() == carried([])
