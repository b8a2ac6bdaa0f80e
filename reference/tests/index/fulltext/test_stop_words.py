"""Stop words."""

from __future__ import annotations

from lanceref.index.fulltext.stop_words import LANGUAGES, stop_words


def test_every_language_has_a_list():
    """Some words that are known, and some that are none."""
    assert all(len(stop_words(language)) > 40 for language in LANGUAGES)
    assert {"the", "i'm", "very"} <= stop_words("English")
    assert not {"no", "not", "s"} & stop_words("English")
    assert "und" in stop_words("German")
