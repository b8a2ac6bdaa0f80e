"""Nodes of token dictionaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage
from lanceref.index.full_text.fst import END, Node, encode_node, parse_node

from .test_bit_packer import cursor

ways = st.dictionaries(st.integers(0, 255), st.tuples(st.integers(0, 2**40), st.integers(16, 99)))


def test_worked_nodes():
    """A frequent byte to the node before is one byte; "e" is the second frequent one."""
    assert b"\xc2" == encode_node(Node(ways=((ord("e"), 0, 16),)), 17, 16)
    assert b"Z\xc0" == encode_node(Node(ways=((ord("Z"), 0, 16),)), 17, 16)
    assert b"\x05\x11\x82" == encode_node(Node(ways=((ord("e"), 5, 0),)), 17, 16)[:1] + b"\x11\x82"
    assert b"\x07\x01\x00\x40" == encode_node(Node(True, 7), 16, 1)


@given(st.booleans(), st.integers(0, 2**63), ways, st.integers(100, 5000))
def test_what_is_written_is_read(final, output, found, start):
    """Every form, with up to 256 ways on."""
    node = Node(
        final,
        output if final else 0,
        tuple((octet, out, target) for octet, (out, target) in sorted(found.items())),
    )
    data = bytes(start) + encode_node(node, start, start - 1)
    if node != END:
        assert node == parse_node(cursor(data), len(data) - 1)


def test_many_ways_have_a_table():
    """From 33 ways on 256 bytes say where each is; 256 ways are counted as 1."""
    few = Node(ways=tuple((octet, 0, 16) for octet in range(32)))
    many = Node(ways=tuple((octet, 0, 16) for octet in range(256)))
    assert 32 + 32 + 2 == len(encode_node(few, 20, 16))
    data = bytes(20) + encode_node(many, 20, 16)
    assert b"\x01\x00" == data[-2:]
    assert many == parse_node(cursor(data), len(data) - 1)


@pytest.mark.parametrize("data", ["c2", "00ff1182", "0001114001"])
def test_ways_out_of_the_dictionary_are_refused(data):
    """A way leads to an earlier node after the header, and a node begins there too."""
    found = bytes(16) + bytes.fromhex(data)
    with pytest.raises(CorruptPage, match=r"L\.index\.fts\.fst\."):
        parse_node(cursor(found), len(found) - 1)
