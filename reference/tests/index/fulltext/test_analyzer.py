"""Analyzer."""

from __future__ import annotations

from lanceref.index.fulltext.analyzer import Analyzer, lowered
from lanceref.index.fulltext.parameters import Analysis


def forms(text: str, **settings) -> list[str]:
    """Return the tokens of a text."""
    return [token for token, _ in Analyzer(Analysis(**settings)).tokens(text)]


def test_worked_steps():
    """Stems are held against the stop words: "very" stays, "having" goes."""
    assert ["veri", "fox", "run"] == forms("The VERY foxes, having running")
    assert ["the", "foxes"] == forms("The foxes", stem=False, remove_stop_words=False)
    assert ["the"] == forms("the Foxes", custom_stop_words=("fox",))
    assert ["ete"] == forms("Été")
    assert ["été"] == forms("Été", ascii_folding=False)
    assert ["chanton", "le"] == forms("chantons les", language="French", remove_stop_words=False)


def test_long_tokens_are_dropped():
    """39 bytes stay, 40 do not, and a character has as many as UTF-8 says."""
    assert ["x" * 39] == forms(f"{'x' * 39} {'x' * 40} {'é' * 20}", stem=False)
    assert ["x" * 40] == forms("x" * 40, stem=False, max_token_length=None)


def test_positions_count_what_is_dropped():
    """The word behind two stop words stands at 2."""
    assert [("fox", 2)] == list(Analyzer(Analysis()).tokens("of the fox"))
    assert 3 == Analyzer(Analysis()).length("of the fox")
    ngrams = Analyzer(Analysis(base_tokenizer="ngram", stem=False))
    assert [("abc", 0), ("bcd", 0)] == list(ngrams.tokens("abcd"))
    assert (1, 0) == (ngrams.length("abcd"), ngrams.length("ab"))


def test_lower_case_is_by_character():
    """A sigma at the end becomes what one in the middle does."""
    assert "οδοσ" == lowered("ΟΔΟΣ")
    assert "i̇" == lowered("İ")
