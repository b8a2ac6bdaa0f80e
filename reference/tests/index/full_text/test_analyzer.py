"""Analyzer."""

from __future__ import annotations

import random
from importlib import import_module

import pytest
import snowballstemmer
from lanceref.index.full_text.analyzer import Analyzer, lowered, stop_words
from lanceref.index.full_text.parameters import LANGUAGES, Analysis


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_stems_are_those_of_the_plain_algorithms(language):
    """Of stop words, of two of them together, and of letters of the language in any order."""
    module = import_module(f"snowballstemmer.{language.lower()}_stemmer")
    plain = getattr(module, f"{language}Stemmer")()
    source = random.Random(language)
    known = sorted(stop_words(language)) or ["".join(map(chr, range(0x627, 0x64B)))]
    letters = sorted(set("".join(known)))
    words = [*known, *map("".join, zip(known, reversed(known), strict=True))]
    words += ["".join(source.choices(letters, k=source.randrange(1, 12))) for _ in range(300)]
    stem = snowballstemmer.stemmer(language.lower()).stemWord
    assert list(map(plain.stemWord, words)) == list(map(stem, words))


def test_what_is_no_text_has_no_stem():
    """A lone half of a surrogate pair keeps its word as it is."""
    assert ["runnings\ud800"] == forms("runnings\ud800", base_tokenizer="raw")


def test_long_tokens_are_dropped():
    """39 bytes stay, 40 do not, and a character has as many as UTF-8 says."""
    assert ["x" * 39] == forms(f"{'x' * 39} {'x' * 40} {'é' * 20}", stem=False)
    assert ["x" * 40] == forms("x" * 40, stem=False, max_token_length=None)


def test_positions_count_what_is_dropped():
    """The word after two stop words lies at 2."""
    assert [("fox", 2)] == list(Analyzer(Analysis()).tokens("of the fox"))
    assert 3 == Analyzer(Analysis()).length("of the fox")
    ngrams = Analyzer(Analysis(base_tokenizer="ngram", stem=False))
    assert [("abc", 0), ("bcd", 0)] == list(ngrams.tokens("abcd"))
    assert (1, 0) == (ngrams.length("abcd"), ngrams.length("ab"))


def test_lower_case_is_by_character():
    """A sigma at the end becomes what one in the middle does."""
    assert "οδοσ" == lowered("ΟΔΟΣ")
    assert "i̇" == lowered("İ")
