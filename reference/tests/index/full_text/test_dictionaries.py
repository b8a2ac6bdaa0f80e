"""Token dictionaries, exact and near; partitions of a segment: postings, merged, staged, early."""

import contextlib
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import FormatError, LanceError
from lanceref.index.full_text import partition_writer
from lanceref.index.full_text.fst import (
    END,
    Fst,
    Node,
    build_fst,
    checksum,
    encode_node,
    near,
    parse_fst,
    parse_node,
)
from lanceref.index.full_text.inverted import Inverted
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.partition_writer import (
    CompactOccurrences,
    Occurrences,
    count_occurrences,
    cut_tokens,
    merge_occurrences,
)
from lanceref.index.full_text.posting_blocks import BlockLayout
from pylanceref.transactions import index_message

from ..tables import write
from .test_codes import cursor, u32

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


@pytest.mark.parametrize("first", [0, 70_000])
@pytest.mark.parametrize("often", [1, 300])
def test_what_is_kept_comes_back(first, often):
    """Of all tokens and of some; far documents, and many words in one."""
    tokens, documents = u32(*[3] * often, 9, 3, 5), u32(*[0] * often, 0, 1, 2)
    found = count_occurrences(
        tokens, documents + np.uint32(first), np.arange(often + 3, dtype=np.uint32)
    )
    kept = CompactOccurrences.of(found)
    assert shown(kept.between(0, 10)) == shown(found)
    parts = [kept.between(0, 3), kept.between(3, 4), kept.between(4, 9), kept.between(9, 10)]
    assert [0, 2, 1, 1] == [len(part.tokens) for part in parts]
    assert shown(merge_occurrences(parts)) == shown(found)
    assert kept.documents.dtype == np.uint8


def shown(found: Occurrences) -> list[list[int]]:
    """Return the columns of occurrences."""
    columns = (found.tokens, found.documents, found.frequencies, found.positions)
    assert all(column.dtype == np.uint32 for column in columns)
    return [column.tolist() for column in columns]


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_a_worked_partition(tmp_path, format_version):
    """Tokens are numbered as they come, documents without a token are none."""
    dataset = write(pa.table({"s": ["red fox", "red red dog", None, "cow"]}), tmp_path)
    dataset.create_scalar_index("s", "INVERTED", with_position=True, format_version=format_version)
    (segment,) = dataset._snapshot.indices.segments
    segment.entry.ClearField("files")
    partition = Partition(segment, 0, BlockLayout(fixed_tail=format_version == 1))
    assert [("cow", 3), ("dog", 2), ("fox", 1), ("red", 0)] == list(partition.items())
    assert [0, 1, 3] == partition.keys.tolist()
    assert [2, 3, 1] == partition.lengths.tolist()
    red = partition.postings(partition.number_of("red"))
    assert ([0, 1], [1, 2]) == (red.documents.tolist(), red.frequencies.tolist())
    assert [[0], [0, 1]] == [one.tolist() for one in partition.positions(0)]
    assert partition.number_of("re") is None
    assert (3, 6) == (partition.corpus.num_documents, partition.corpus.num_tokens)
    assert isinstance(partition.tokens, Fst)


def test_tokens_are_cut_by_rows_and_by_occurrences(monkeypatch):
    """A token with more occurrences than are encoded together stands alone."""
    monkeypatch.setattr(partition_writer, "MOST_OCCURRENCES", 10)
    monkeypatch.setattr(partition_writer, "BATCH_TOKENS", 3)
    counts = np.array([4, 6, 1, 99, 1, 1, 1, 1])
    assert [(0, 2), (2, 3), (3, 4), (4, 7), (7, 8)] == list(cut_tokens(counts))
    assert [] == list(cut_tokens(counts[:0]))


@pytest.mark.parametrize(
    ("texts", "name", "partitions"),
    [
        (["c1", "d1"], "part_4294967296_docs.lance", [[("c1", 0), ("d1", 1)]]),
        (["", None], "part_empty_4294967296_metadata.lance", []),
    ],
)
def test_a_staged_segment_is_read(tmp_path, texts, name, partitions):
    """Its partition has the number of the first fragment; without documents there is none."""
    dataset = write(pa.table({"s": ["a1", "b1", *texts]}), tmp_path, max_rows_per_file=2)
    for number in range(2):  # by two builders
        part = dataset.create_index_uncommitted("s", "INVERTED", fragment_ids=[number])
    files = [file.path for file in part.files]
    assert f"staging/{name}" in files
    assert partitions or 1 == len(files)
    (segment,) = dataset._snapshot.indices.of([index_message(part)]).segments
    assert partitions == [list(one.items()) for one in Inverted(segment).partitions]


def test_partitions_of_other_parameters_are_refused(tmp_path):
    """Those who build a segment together agree."""
    dataset = write(pa.table({"s": ["a1", "b1"]}), tmp_path, max_rows_per_file=1)
    name = "12345678-1234-1234-1234-123456789abc"
    for fragment, stem in ((0, True), (1, False)):
        given = {"fragment_ids": [fragment], "index_uuid": name, "stem": stem}
        dataset.create_scalar_index("s", "INVERTED", name="x", **given)
    with pytest.raises(FormatError, match=r"L\.index\.fts\.staging"):
        dataset.merge_index_metadata(name, "INVERTED")
