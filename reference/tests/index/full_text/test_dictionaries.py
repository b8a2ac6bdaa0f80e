"""Token dictionaries: nodes, building, reading, and tokens that are nearly others."""

import contextlib
import struct

from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import LanceError
from lanceref.index.full_text.fst import (
    END,
    Node,
    build_fst,
    checksum,
    encode_node,
    near,
    parse_fst,
    parse_node,
)

from .test_codes import cursor

WAY = st.integers(0, 255), st.tuples(st.integers(0, 2**40), st.integers(16, 99))
ways = st.dictionaries(*WAY) | st.dictionaries(*WAY, min_size=30)
"""Ways on by their bytes: few, and about as many as a node has a table of their places for."""


def test_worked_nodes():
    """A frequent byte to the node before is one byte; "e" is the second frequent one."""
    assert b"\xc2" == encode_node(Node(ways=((ord("e"), 0, 16),)), 17, 16)
    assert b"Z\xc0" == encode_node(Node(ways=((ord("Z"), 0, 16),)), 17, 16)
    assert b"\x05\x11\x82" == encode_node(Node(ways=((ord("e"), 5, 0),)), 17, 16)[:1] + b"\x11\x82"
    assert b"\x07\x01\x00\x40" == encode_node(Node(True, 7), 16, 1)


@given(st.booleans(), st.integers(0, 2**63), ways, st.integers(100, 5000))
def test_nodes_come_back(final, output, found, start):
    """Every form, with up to 256 ways on."""
    node = Node(
        final,
        output if final else 0,
        tuple((octet, out, target) for octet, (out, target) in sorted(found.items())),
    )
    data = bytes(start) + encode_node(node, start, start - 1)
    if node != END:
        assert node == parse_node(cursor(data), len(data) - 1)


@given(st.dictionaries(st.binary(max_size=6), st.integers(0, 2**32 - 1), max_size=60))
def test_what_is_built_is_read(tokens):
    """Whatever the tokens and their numbers."""
    wanted = sorted(tokens.items())
    fst = parse_fst(cursor(build_fst(wanted)))
    assert wanted == list(fst.items())
    assert all(fst.get(token) == number for token, number in wanted)


WORDS = [(word.encode(), number) for number, word in enumerate(["ant", "bee", "beetle", "été"])]


def sealed(data: bytes) -> bytes:
    """Return a dictionary with the checksum of what it is now."""
    return data[:-4] + struct.pack("<I", checksum(data[:-4]))


@given(st.data())
def test_any_bytes_are_tokens_or_an_error(data):
    """Whatever the nodes, the walk ends, and nothing but a LanceError escapes."""
    found = bytearray(build_fst(WORDS))
    for _ in range(data.draw(st.integers(1, 4))):
        found[data.draw(st.integers(16, len(found) - 5))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(LanceError):
        assert len(list(parse_fst(cursor(sealed(bytes(found)))).items())) < 1 << 16


text = st.text("abé", max_size=5)


def found(tokens, wanted, edits, prefix="") -> list[str]:
    """Return the tokens near another, by a dictionary and by a list, which must agree."""
    numbered = {token: number for number, token in enumerate(sorted(tokens, key=str.encode))}
    fst = parse_fst(cursor(build_fst((token.encode(), n) for token, n in numbered.items())))
    own = list(near(fst, wanted, edits, prefix))
    assert sorted(own) == sorted(near(numbered, wanted, edits, prefix))
    return own


def distance(one: str, other: str) -> int:
    """Return the edits between two texts, slowly."""
    if not one or not other:
        return len(one) + len(other)
    same = distance(one[1:], other[1:])
    if one[0] == other[0]:
        return same
    return 1 + min(same, distance(one[1:], other), distance(one, other[1:]))


def test_worked_words():
    """An exchange of neighbours is two edits; a prefix must be there."""
    words = ["box", "fix", "fo", "fox", "foxes", "ofx"]
    assert ["box", "fix", "fo", "fox"] == found(words, "fox", 1)
    assert ["fix", "fo", "fox"] == found(words, "fox", 1, "f")
    assert words == found(words, "fox", 2)


@given(st.sets(text.filter(bool), max_size=12), text, st.integers(0, 3))
def test_all_near_tokens_are_found(tokens, wanted, edits):
    """Exactly those that are so many edits away."""
    near_ones = [one for one in tokens if distance(one, wanted) <= edits]
    assert sorted(near_ones, key=str.encode) == found(tokens, wanted, edits)
