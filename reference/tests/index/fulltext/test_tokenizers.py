"""Base tokenizers."""

from __future__ import annotations

from lanceref.index.fulltext.tokenizers import ngrams, raw, simple, whitespace


def test_worked_texts():
    """Each tokenizer cuts in its own way."""
    assert ["foo", "bar", "baz", "it", "s", "9"] == list(simple("foo_bar-baz it's 9"))
    assert ["été", "中文字", "x", "Ⅻ", "का"] == list(simple("été, 中文字 x Ⅻ का!"))
    assert ["a\x0bb", "c", "d\u00a0e"] == list(whitespace("a\x0bb c\td\u00a0e\n"))
    assert ["The  Quick"] == list(raw("The  Quick"))


def test_worked_ngrams():
    """By start and then by length, or only from the first character."""
    assert ["ab", "abc", "bc", "bc ", "c "] == list(ngrams(2, 3, prefix_only=False)("abc "))
    assert ["ab", "abc"] == list(ngrams(2, 3, prefix_only=True)("abc d"))
    assert [] == list(ngrams(3, 3, prefix_only=True)(""))
