"""Equivalents: what an entry names, and that every entry of this tree names something."""

from functools import cache
from pathlib import Path

import pytest
from equivalents import Entry, excuse, load
from mutants import Mutant, mutants
from sources import ROOT, Source

PARSER = "def cut(x):\n    y = x + 1\n    return y * 2\n\n\ndef rest(x):\n    return x + 1\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """Two functions in a file."""
    path = tmp_path / "a.py"
    path.write_text(PARSER)
    return Source(tmp_path, path)


def test_an_entry_names_a_mutant_a_line_or_a_function(source: Source):
    """What has another name, another line or another function has no excuse."""

    def named(entry: Entry) -> list[str]:
        return [one.text for one in mutants(source) if excuse([entry], source, one)]

    assert ["1 -> 2"] == named(Entry("why", id="a.py:rest: 1 -> 2"))
    assert ["Add -> Sub: x + 1", "1 -> 2"] == named(
        Entry("why", function="a.py:cut", line="y = x + 1")
    )
    assert 4 == len(named(Entry("why", function="a.py:cut")))
    assert [] == named(Entry("why", function="a.py:cut", line="y = x - 1"))


def test_every_entry_names_something_and_says_why():
    """An entry whose code has changed has to go; each gives a reason in a sentence."""

    @cache
    def found(path: str) -> tuple[Source, list[Mutant]]:
        source = Source(ROOT, ROOT / path)
        return source, mutants(source)

    for entry in load(ROOT):
        source, every = found((entry.id or entry.function).partition(":")[0])

        assert any(entry.names(source, mutant) for mutant in every), entry
        assert entry.reason.endswith(".") and bool(entry.id) != bool(entry.function), entry
