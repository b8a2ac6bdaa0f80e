"""Texts of messages."""

from lanceref.core.errors import SHOWN, short


def test_a_short_text_stays():
    """A text of the most characters is shown whole."""
    assert "x" * SHOWN == short("x" * SHOWN)


def test_a_long_text_is_cut():
    """Beginning and end of a long text are shown, and how much is left out."""
    shown = short("a" * 10_000 + "b" * 10_000)

    assert f"a [{20_000 - SHOWN} characters] b" in shown
    assert len(shown) < SHOWN + 40


def test_every_message_has_utf_8():
    """A surrogate is shown by its number."""
    assert "a\\ud800" == short("a\ud800")
