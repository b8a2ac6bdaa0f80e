"""File versions."""

from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1, V2_0, V2_1, V2_3


def test_versions_are_ordered_by_age():
    """Later versions compare greater, so that a gate can say `since`."""
    assert [V0_1, V2_0, V2_1, V2_3] == sorted([V2_3, V2_1, V0_1, V2_0])


def test_footer_words_read_back():
    """What a writer puts into a footer names the version it came from."""
    assert all(version == FROM_WORDS[words] for version, words in FOOTER_WORDS.items())


def test_2_0_has_two_spellings():
    """(0, 3) and (2, 0) are the same version, written as (0, 3)."""
    assert V2_0 == FROM_WORDS[0, 3] == FROM_WORDS[2, 0]
    assert (0, 3) == FOOTER_WORDS[V2_0]
