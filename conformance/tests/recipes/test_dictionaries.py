"""Tests of dictionaries with one fault: the checksum is right, one byte is not."""

from __future__ import annotations

from lance_conformance.recipes.dictionaries import changed, opened, refused_by, sealed
from lanceref.index.full_text.fst import build_fst

DATA = build_fst([(b"cow", 0), (b"dog", 1)])


def test_a_seal_is_the_checksum() -> None:
    """A dictionary that is whole keeps its own."""
    assert sealed(DATA) == DATA
    assert opened(sealed(DATA[:20] + b"\0" + DATA[21:])).count == 2


def test_the_first_dictionary_that_is_wanted() -> None:
    """It differs in one byte of the nodes, and in the checksum."""
    found = changed(DATA, lambda fst: fst.get(b"dog") is None)

    assert 1 == sum(a != b for a, b in zip(DATA[:-4], found[:-4], strict=True))
    assert opened(found).get(b"dog") is None


def test_why_something_is_refused() -> None:
    """The clause; nothing when it is not."""
    assert "L.index.fts.fst.checksum" == refused_by(lambda: opened(DATA[:-1] + b"\xff"))
    assert "" == refused_by(lambda: opened(DATA))
