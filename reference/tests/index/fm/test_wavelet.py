"""Wavelet trees."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import FormatError, Place
from lanceref.index.fm.wavelet import (
    BLOCK_BITS,
    BLOCK_WORDS,
    NodeBits,
    WaveletTree,
    build_tree,
    node_bits,
    packed,
)


def held(bits: np.ndarray, change: int = 0) -> NodeBits:
    """Return bits as a file would hold them, with a bit of the first word changed."""
    words, before = packed(bits)
    if change:
        words[0] ^= np.uint64(change)
    blocks = [words[at : at + BLOCK_WORDS] for at in range(0, len(words), BLOCK_WORDS)]
    return NodeBits(len(bits), np.append(before, bits.sum()), blocks.__getitem__, Place("x", 0))


def tree_over(text: bytes) -> WaveletTree:
    """Return the wavelet tree of a text."""
    array = np.frombuffer(text, np.uint8)
    tree = build_tree(np.bincount(array, minlength=256))
    nodes = [held(bits) for bits in node_bits(tree, array)]
    return WaveletTree(
        tree, nodes, tree.paths(), lambda numbers: [nodes[number].load(0) for number in numbers]
    )


def test_worked_example():
    """The root of banana says where no a is, the node below where n is among the others."""
    tree = build_tree(np.bincount(np.frombuffer(b"banana", np.uint8), minlength=256))
    root, below = node_bits(tree, np.frombuffer(b"banana", np.uint8))
    assert root.astype(int).tolist() == [1, 0, 1, 0, 1, 0]
    assert below.astype(int).tolist() == [0, 1, 1]
    words, before = packed(root)
    assert (words.tolist(), before.tolist()) == ([0b010101], [0])


def test_blocks_know_the_ones_before():
    """Places in the second block, at its end, and at both ends of all."""
    bits = np.arange(BLOCK_BITS + 100) % 3 == 0
    places = np.array([0, 1, 64, BLOCK_BITS - 1, BLOCK_BITS, BLOCK_BITS + 7, len(bits)])
    expected = [int(bits[:place].sum()) for place in places]
    assert held(bits).ones(places).tolist() == expected
    whole = np.ones(BLOCK_BITS, np.bool_)
    assert held(whole).ones(np.array([BLOCK_BITS])).tolist() == [BLOCK_BITS]


def test_a_block_with_other_ones_is_refused():
    """Its ones are counted against the next block, or the whole."""
    with pytest.raises(FormatError) as caught:
        held(np.ones(70, np.bool_), change=1).ones(np.array([3]))
    assert caught.value.clause == "L.index.fm.rank"


def test_nodes_are_read_together():
    """Those of a byte with what is between them, then what is left; each once."""
    tree = tree_over(bytes(range(8)) * 2)
    runs: list[list[int]] = []
    load = tree.load

    def told(numbers):
        runs.append(list(numbers))
        return load(numbers)

    told_tree = dataclasses.replace(tree, load=told)
    told_tree.prepare([5, 99])
    of_byte = [node for node, _ in tree.paths[5]]
    assert runs == [list(range(of_byte[0], of_byte[-1] + 1))]
    told_tree.prepare()
    told_tree.prepare()
    assert sorted(node for run in runs for node in run) == list(range(7))


@given(st.binary(min_size=2, max_size=300).filter(lambda text: len(set(text)) > 1))
def test_as_counted_by_hand(text):
    """Bytes at places, and how often each byte occurs before every place."""
    tree = tree_over(text)
    places = np.arange(len(text))
    found, before = tree.bytes_at(places)
    assert found.tobytes() == text
    assert before.tolist() == [text[:at].count(text[at : at + 1]) for at in range(len(text))]
    for byte in set(text):
        expected = [text[:at].count(bytes([byte])) for at in range(len(text) + 1)]
        assert tree.count(byte, np.arange(len(text) + 1)).tolist() == expected
