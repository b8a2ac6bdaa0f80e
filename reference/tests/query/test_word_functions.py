"""Functions over words."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.query.word_functions import contains_tokens

TEXTS = pa.array(["hello world", "Hello", "world-hello x", "helloworld", None, "foo_bar", "日 語"])


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("hello", [True, False, True, False, None, False, False]),
        ("world,hello", [True, False, True, False, None, False, False]),
        ("foo", [False, False, False, False, None, True, False]),
        ("日", [False, False, False, False, None, False, True]),
        (" -", [True, True, True, True, None, True, True]),
        (None, [None] * 7),
    ],
)
def test_every_word_is_wanted(wanted, found):
    """As it is written, in any order."""
    assert contains_tokens(TEXTS, pa.scalar(wanted, pa.utf8())).to_pylist() == found


def test_either_side_may_be_a_column():
    """Numbers count as their text."""
    assert contains_tokens(TEXTS, TEXTS).to_pylist() == [True] * 4 + [None] + [True] * 2
    chunked = pa.chunked_array([[1, 12], [None]])
    assert contains_tokens(chunked, pa.scalar("12")).to_pylist() == [False, True, None]
    assert contains_tokens(pa.scalar("a b"), pa.scalar("b")).as_py() is True
