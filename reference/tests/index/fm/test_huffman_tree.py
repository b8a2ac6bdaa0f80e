"""Huffman trees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError
from lanceref.index.fm.wavelet import BYTE, NODE, HuffmanTree, build_tree, parse_topology


def tree_of(text: bytes) -> HuffmanTree:
    """Return the tree over the bytes of a text."""
    return build_tree(np.bincount(np.frombuffer(text, np.uint8), minlength=256))


def parsed(data: bytes) -> HuffmanTree:
    """Parse a topology."""
    return parse_topology(Cursor(memoryview(data), 0, Context("x")))


def test_worked_example():
    """Of "banana" twice n and once b are joined, then with three times a: the older part first."""
    tree = tree_of(b"banana")
    assert [((BYTE, ord("a")), (NODE, 1)), ((BYTE, ord("b")), (BYTE, ord("n")))] == tree.sides
    assert {ord("a"): [(0, 0)], ord("b"): [(0, 1), (1, 0)], ord("n"): [(0, 1), (1, 1)]} == (
        tree.paths()
    )
    assert tree.encode_topology().hex() == (
        "02000000" + "0161000000" + "0001000000" + "0162000000" + "016e000000"
    )
    codes = tree.encode_codes()
    assert codes[: 97 * 7] == bytes(97 * 7)
    assert (
        codes[97 * 7 :][:37].hex()
        == (
            "00000000010100" + "00000000"  # a: 0 at node 0
            "02000000020200"
            + "00000000"
            + "01000000"  # b: 10 at nodes 0 and 1
            + "00000000000000"  # c
        )
        + codes[97 * 7 + 33 :][:4].hex()
    )


def test_no_text_has_no_tree():
    """No nodes, codes of no bits."""
    tree = build_tree(np.zeros(256, np.int64))
    assert tree.encode_topology() == bytes(4)
    assert tree.encode_codes() == bytes(256 * 7)
    assert parsed(bytes(4)) == HuffmanTree([])


@given(st.binary(min_size=2).filter(lambda text: len(set(text)) > 1))
def test_what_is_written_is_parsed(text):
    """And every byte has a path of its own, no longer than that of a rarer byte."""
    tree = tree_of(text)
    assert parsed(tree.encode_topology()) == tree
    paths = tree.paths()
    assert set(paths) == set(text)
    lengths = sorted((-text.count(byte), len(path)) for byte, path in paths.items())
    assert all(a[1] <= b[1] for a, b in pairwise(lengths) if a[0] < b[0])


@pytest.mark.parametrize(
    "data",
    [
        "",
        "01000000",
        "ffffffff",
        "01000000" + "0161000000" + "0161000000",
        "01000000" + "0161000000" + "0100010000",
        "01000000" + "0161000000" + "0000000000",
        "01000000" + "0161000000" + "0001000000",
        "01000000" + "0161000000" + "0262000000",
        "02000000" + "0161000000" + "0162000000" + "0163000000" + "0164000000",
        "01000000" + "0161000000" + "0162000000" + "00",
    ],
)
def test_damage_is_refused(data):
    """Too short, a byte or a node twice, none such, another kind, nodes or bytes left over."""
    with pytest.raises(FormatError) as caught:
        parsed(bytes.fromhex(data))
    assert caught.value.clause == "L.index.fm.topology"
