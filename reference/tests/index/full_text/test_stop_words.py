"""Stop words."""

from __future__ import annotations

from lanceref.index.full_text.analyzer import every_stop_word, stop_words
from lanceref.index.full_text.parameters import LANGUAGES


def test_every_language_has_a_list():
    """Some words that are known, and some that are none."""
    assert all(len(stop_words(language)) > 40 for language in LANGUAGES)
    assert {"the", "i'm", "very"} <= stop_words("English")
    assert not {"no", "not", "s"} & stop_words("English")
    assert "und" in stop_words("German")


def test_ambiguous_words_are_in_no_common_list():
    """Words that say little in one language say much in another: `die`, `war`, `man`."""
    every = every_stop_word()
    assert {"the", "und", "och", "그리고"} <= every
    assert not {"die", "war", "man", "y", "t"} & every
