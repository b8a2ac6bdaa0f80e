"""Functions of regular expressions; values as the oracle gives them."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.query.regexes import REGEX_FUNCTIONS

TEXT = "aaxbaac"
LETTERS = "é1 x٣"


def call(name, *values):
    """Return what a function gives for values."""
    return REGEX_FUNCTIONS[name](*(pa.scalar(value) for value in values)).as_py()


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (("aab", "a", "x"), "xab"),
        (("aab", "(A)", "<\\1>", "gi"), "<a><a>b"),
        ((TEXT, "(a)a", "$1"), "axbaac"),
        ((TEXT, "(a)a", "${1}z"), "azxbaac"),
        ((TEXT, "(a)a", "$1z"), "xbaac"),
        ((TEXT, "(a)a", r"\1z"), "azxbaac"),
        ((TEXT, "(a)a", r"\\1z"), "azxbaac"),
        ((TEXT, "(a)a", "$$"), "$xbaac"),
        ((TEXT, "(a)a", r"\n"), r"\nxbaac"),
        ((TEXT, "(a)a", r"\5"), "xbaac"),
        ((TEXT, "(a)a", r"\0-"), "aa-xbaac"),
        ((TEXT, "(?P<n>a)a", "$n"), "axbaac"),
        ((TEXT, "b", r"\\"), r"aax\\aac"),
        ((TEXT, "b", "\\"), "aax\\aac"),
        ((LETTERS, r"\w+", "z"), "z x٣"),
        ((LETTERS, r"\W", "z", "g"), "é1zx٣"),
        ((LETTERS, r"[\w]+", "z", "g"), "z z"),
        ((LETTERS, r"\d", "z", "g"), "éz xz"),
        ((LETTERS, r"[^\s]", "z", "g"), "zz zz"),
        ((LETTERS, "É", "z", "gi"), "z1 x٣"),
        ((TEXT, "a x # blanks", "z", "x"), "azbaac"),
        ((TEXT, "^", "z", "g"), "zaaxbaac"),
        ((TEXT, "", "z", "g"), "zazazxzbzazazcz"),
        ((TEXT, "a*", "y", "g"), "yxybycy"),
        ((None, "a", "b"), None),
        ((TEXT, None, "b"), None),
    ],
)
def test_replaced(values, wanted):
    """Groups by number and name, flags, classes of letters, empty matches."""
    assert wanted == call("regexp_replace", *values)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((TEXT, ""), 8),
        ((TEXT, "a*"), 4),
        ((TEXT, "^a"), 1),
        ((TEXT, "^a", 2), 1),
        ((TEXT, "A", 1, "i"), 4),
        ((TEXT, "a", 100), 0),
        ((LETTERS, r"\w"), 4),
        (("\ue000a\ue000", "a"), 1),
        ((None, "a"), 0),
    ],
)
def test_counted(values, wanted):
    """Matches do not overlap; an anchor holds at the start only."""
    assert wanted == call("regexp_count", *values)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((TEXT, "b"), 4),
        ((TEXT, "a", 3, 2), 6),
        ((TEXT, "^x", 3), 3),
        ((TEXT, "a", 100), 0),
        ((TEXT, "a", 1, 5), 0),
        ((TEXT, "a", 1, 2**62), 0),
        ((LETTERS, "x"), 4),
        (("\ue000a\ue001", "a"), 2),
        ((None, "a"), None),
    ],
)
def test_located(values, wanted):
    """Places are counted in letters, from 1."""
    assert wanted == call("regexp_instr", *values)


def test_patterns_of_a_column():
    """Each row has its own pattern."""
    texts, patterns = pa.array(["ab", "ab", None]), pa.array(["a", None, "b"])

    found = REGEX_FUNCTIONS["regexp_replace"](texts, patterns, pa.scalar("x"))
    assert ["xb", None, None] == found.to_pylist()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("regexp_count", ("a", "a", 0)),
        ("regexp_instr", ("a", "a", 1, 0)),
        ("regexp_replace", ("a", "a", "b", "q")),
        ("regexp_replace", ("a", "(?=a)", "b")),
        ("regexp_count", ("a", r"(a)\1")),
    ],
)
def test_what_is_refused(name, values):
    """Places are counted from 1; flags and patterns are those of linear engines."""
    with pytest.raises(ValueError):
        call(name, *values)


@pytest.mark.parametrize(
    "asked",
    [
        "regexp_count(s, '^(a+)+$') = 0",
        "regexp_instr(s, '^(a+)+$') = 0",
        "regexp_replace(s, '^(a+)+$', 'b') = s",
        "regexp_like(s, '^(a+)+$') = false",
        f"(s LIKE '{'%a' * 30}b') = false",
    ],
)
def test_time_is_linear(tmp_path, asked):
    """A pattern that a backtracking engine never answers is answered."""
    table = pylanceref.write_dataset(pa.table({"s": ["a" * 60 + "!"]}), tmp_path / "t")

    assert 1 == table.count_rows(asked)
