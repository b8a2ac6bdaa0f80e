"""Base tokenizers."""

from __future__ import annotations

from lanceref.index.full_text.tokenizers import is_known, ngrams, numbered, raw, simple, whitespace


def words(pieces):
    """The words of a cut text, which lie one after the other."""
    found, positions = pieces
    assert list(range(len(found))) == list(positions)
    return list(found)


def test_worked_texts():
    """Each tokenizer cuts in its own way."""
    assert ["foo", "bar", "baz", "it", "s", "9"] == words(simple("foo_bar-baz it's 9"))
    assert ["été", "中文字", "x", "Ⅻ", "का"] == words(simple("été, 中文字 x Ⅻ का!"))
    assert ["a\x0bb", "c", "d\u00a0e"] == words(whitespace("a\x0bb c\td\u00a0e\n"))
    assert ["The  Quick"] == words(raw("The  Quick"))
    assert ["x", "y"] == words(numbered(["x", "y"]))


def test_worked_ngrams():
    """By start and then by length, or only from the first character; all lie at 0."""
    found, positions = ngrams(2, 3, prefix_only=False)("abc ")
    assert ["ab", "abc", "bc", "bc ", "c "] == list(found)
    assert [0] * 5 == list(positions)
    assert ["ab", "abc"] == list(ngrams(2, 3, prefix_only=True)("abc d")[0])
    assert [] == list(ngrams(3, 3, prefix_only=True)("")[0])


def test_names():
    """Those of models begin in a way of their own."""
    assert all(map(is_known, ("simple", "icu/split", "jieba", "jieba/x", "lindera/x", "code")))
    assert not any(map(is_known, ("", "icu/x", "lindera", "jiebax")))
