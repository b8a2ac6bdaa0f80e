"""Equivalents: what an entry names, and that every entry of this tree names something."""

from functools import cache
from pathlib import Path

import pytest
from equivalents import PLACE, excuse, load
from mutants import Mutant, mutants
from sources import ROOT, Source

PARSER = "def cut(x):\n    y = x + 1\n    return y * 2\n\n\ndef rest(x):\n    return x + 1\n"


def test_a_name_is_that_of_a_mutant_or_of_a_function(tmp_path: Path):
    """What has another name has no excuse."""
    path = tmp_path / "a.py"
    path.write_text(PARSER)
    every = mutants(Source(tmp_path, path))

    assert ["a.py:rest: 1 -> 2"] == [m.id for m in every if excuse({"a.py:rest: 1 -> 2": "w"}, m)]
    assert {"cut"} == {m.function for m in every if excuse({"a.py:cut": "w"}, m)}
    assert 4 == sum(excuse({"a.py:cut": "w"}, m) == "w" for m in every)


def test_a_name_stands_once(tmp_path: Path):
    """Two reasons for one mutant are a slip."""
    path = tmp_path / PLACE
    path.parent.mkdir()
    entry = '[[equivalent]]\nreason = "why"\nids = ["a.py:cut: 1 -> 2"]\n'
    path.write_text(entry)

    assert {"a.py:cut: 1 -> 2": "why"} == load(tmp_path)
    path.write_text(entry * 2)
    with pytest.raises(ValueError, match="twice"):
        load(tmp_path)


def test_every_name_is_of_something_and_has_a_reason():
    """A name whose code has changed has to go; each has a reason in a sentence."""

    @cache
    def found(path: str) -> list[Mutant]:
        return mutants(Source(ROOT, ROOT / path))

    reasons = load(ROOT)
    for name, reason in reasons.items():
        assert any(excuse({name: reason}, one) for one in found(name.partition(":")[0])), name
        assert reason.endswith("."), name
