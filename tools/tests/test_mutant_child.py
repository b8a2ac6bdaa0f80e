"""A child: it notices what the cases notice, and nothing else."""

import ast

import pytest
from mutant_child import OTHER_CLAUSE, Judge, Verdict, killer
from sources import ROOT, Source

CASES = ["file/2.1/container/neg-length", "file/2.1/miniblock/int32"]
FOOTER = Source(ROOT, ROOT / "reference/lanceref/file/container.py")
MAGIC_CHECK = "magic.hex(), MAGIC.hex()"
"""What the check of the magic compares."""


def changed(old: str, new: str) -> ast.Module:
    """The module of the footer with one text replaced."""
    assert old in FOOTER.text
    return ast.parse(FOOTER.text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ('"""', '"""Another docstring. ', False),
        ('MAGIC = b"LANC"', 'MAGIC = b"LAND"', True),
    ],
)
def test_a_change_is_noticed_or_not(old, new, noticed):
    """Other words live; another magic refuses every file."""
    verdict = killer(ROOT, FOOTER.module, changed(old, new), CASES)

    assert noticed == bool(verdict.case)


def test_a_module_that_cannot_be_imported_is_noticed():
    """All goes down with it, before any case."""
    verdict = killer(ROOT, FOOTER.module, ast.parse("1 / 0\n"), CASES)

    assert ("(import)", "died") == (verdict.case, verdict.how)


def test_what_never_ends_is_noticed(monkeypatch):
    """A case has its share of processor time."""
    monkeypatch.setattr("mutant_child.CASE_SECONDS", 0.5)
    tree = changed(MAGIC_CHECK, "[... for _ in iter(int, 1)], MAGIC")
    verdict = killer(ROOT, FOOTER.module, tree, CASES)

    assert (CASES[0], "died") == (verdict.case, verdict.how)


@pytest.fixture(scope="module")
def judge():
    """A judge of this repository, with the cases of one topic."""
    return Judge(ROOT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""', '"""Another docstring. '),
        ('MAGIC = b"LANC"', 'MAGIC = b"LAND"'),
        (MAGIC_CHECK, "'', MAGIC.hex()"),
        (MAGIC_CHECK, "'', ''"),
    ],
)
def test_a_judge_says_what_a_process_of_its_own_says(judge, old, new):
    """It makes no difference whether the code is put in place or imported."""
    tree = changed(old, new)

    assert killer(ROOT, FOOTER.module, tree, CASES) == judge.killer(FOOTER, tree, CASES)


def test_a_refusal_names_its_clause(judge):
    """Bytes that are refused for another reason than the case names are noticed as that."""
    case = "file/2.1/container/neg-magic"
    tree = changed('"L.file.footer.magic")', '"L.file.footer.other")')

    assert Verdict(case, OTHER_CLAUSE) == judge.killer(FOOTER, tree, [case])


def test_a_case_that_fails_as_it_is_notices_nothing(judge, monkeypatch):
    """It is left out, and the next one asked."""
    first, second = CASES
    monkeypatch.setitem(judge._unfit, first, True)
    tree = changed(MAGIC_CHECK, "'', MAGIC.hex()")

    assert second == judge.killer(FOOTER, tree, CASES).case
