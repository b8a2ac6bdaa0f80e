"""Word breaks."""

from __future__ import annotations

import pytest
from lanceref.core.errors import NotYet
from lanceref.index.full_text.tokenizers import icu


def test_worked_text():
    """Segments with a letter or a digit are words; colons of any width cut."""
    text = "can't 3.14 foo_bar x:y 1,000 e\u0301t\u00e9 😀 ①② x\uff1ay _ 한국어"
    own = ["can't", "3.14", "foo_bar", "x", "y", "1,000", "e\u0301t\u00e9", "①", "②", "x", "y"]
    assert ([*own, "한국어"], range(12)) == icu(split=False)(text)


def test_worked_split():
    """Every other character cuts then, and so do the boundaries."""
    assert ["can", "t", "3", "14", "①", "②"] == icu(split=True)("can't 3.14 ①②")[0]


@pytest.mark.parametrize("text", ["世界", "カタカナ", "สวัสดี"])
def test_scripts_without_blanks_are_refused(text):
    """A dictionary would be needed."""
    with pytest.raises(NotYet, match="dictionary"):
        icu(split=False)(f"hello {text}")
