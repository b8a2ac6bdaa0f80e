"""Live code: what can be put in place, and what cannot."""

import ast
import sys

import pytest
from mutant_swap import imported

TEXT = """
from functools import cache


@cache
def cached(x):
    return x + 1


def early(x):
    return x * 2


def outer(x):
    def inner(y):
        return y - 1

    return inner(x)


class Held:
    size = early(3)

    def method(self):
        return self.size + 4
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The text as a module, and what is live of it."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "swapped.py"
    path.write_text(TEXT)
    live = imported(["swapped"])
    yield path, live, sys.modules["swapped"]
    del sys.modules["swapped"]


@pytest.mark.parametrize(
    ("old", "new", "call", "wanted"),
    [
        ("x + 1", "x + 5", "cached(1)", 6),
        ("y - 1", "y - 3", "outer(9)", 6),
        ("size + 4", "size + 5", "Held().method()", 11),
    ],
)
def test_functions_are_put_in_place(module, old, new, call, wanted):
    """What a function computed before is forgotten; inner functions go with the outer one."""
    path, live, loaded = module
    before = eval(call, vars(loaded))
    changes = live.changes(path, ast.parse(TEXT.replace(old, new)))
    assert changes is not None
    live.put(changes)

    assert wanted == eval(call, vars(loaded)) != before


@pytest.mark.parametrize(("old", "new"), [("early(3)", "early(4)"), ("x * 2", "x * 3")])
def test_what_ran_while_importing_needs_an_import(module, old, new):
    """The body of a class, and a function that it called."""
    path, live, _ = module

    assert live.changes(path, ast.parse(TEXT.replace(old, new))) is None


def test_nothing_changed_is_nothing_to_put(module):
    """Comments are no code."""
    path, live, _ = module

    assert [] == live.changes(path, ast.parse(TEXT + "# the end"))
