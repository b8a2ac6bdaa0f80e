"""The dictionary block of 2.3: frames, items without payload, damage."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from lanceref.codecs import blocks
from lanceref.core.errors import CorruptPage

from .encodings import dictionary, flat, range_
from .runs import damaged, gives_values_or_refuses, leaves, plain, recording, run_of, words

ENCODING = dictionary(flat(32), flat(64), 3)


def frame(indices, items):
    """Write both sizes, indices of 32 bits, items of 64."""
    first, second = words(indices, 32), words(items, 64)
    return words([len(first), len(second)], 64) + first + second


def test_indices_name_the_items_of_their_own_chunk():
    """Every chunk has its items."""
    run = run_of([frame([2, 0, 2], [5, 6, 7]), frame([1], [8, 9, 1])], counts=[3, 1])

    assert [7, 5, 7, 9] == plain(blocks.decode_blocks(ENCODING, run))


def test_items_may_need_no_bytes():
    """Items that are a range have size 0."""
    run = run_of([frame([2, 0], [])], counts=[2])

    assert [30, 10] == plain(blocks.decode_blocks(dictionary(flat(32), range_(10, 10), 3), run))


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (bytes(15), "L.codec.dictionary.frame"),
        (frame([1, 2], [5, 6, 7]) + b"\0", "L.codec.dictionary.frame"),
        (words([2**63, 2**63], 64), "L.codec.dictionary.frame"),
        (frame([1, 3], [5, 6, 7]), "L.codec.dictionary.index-range"),
        (frame([1, 2], [5, 6]), "L.codec.flat.size"),
    ],
)
def test_faulty_frames_are_refused(data, clause):
    """The sizes fill the block, and every index has an item."""
    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        blocks.decode_blocks(ENCODING, run_of([data], counts=[2]))


def test_explain_owns_every_part():
    """Sizes, indices and items are leaves."""
    ctx = recording()

    blocks.decode_blocks(ENCODING, run_of([frame([1], [5, 6, 7])], counts=[1], ctx=ctx))

    names = [name for _, _, name, _ in leaves(ctx)]
    assert ["size of indices", "size of items", "indices", "items"] == names


@given(st.data())
@settings(max_examples=200)
def test_damaged_frames_are_refused_or_read(draw):
    """Any bytes give values or a LanceError."""
    run = run_of([frame([2, 0, 2], [5, 6, 7]), frame([1], [8, 9, 1])], counts=[3, 1])

    gives_values_or_refuses(lambda part: blocks.decode_blocks(ENCODING, part), damaged(draw, run))
