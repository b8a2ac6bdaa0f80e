"""Codes of postings, positions and impacts: worked bytes, and what is written comes back."""

import contextlib

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, LanceError, Place
from lanceref.fast.indices import full_postings, unpack_rows
from lanceref.index.full_text import packed_integers
from lanceref.index.full_text.bm25 import impact_runs, length_codes, rounded_lengths
from lanceref.index.full_text.posting_blocks import (
    Blobs,
    BlockLayout,
    Postings,
    encode_position_blobs,
    parse_position_blobs,
    parse_positions,
    parse_postings,
    position_runs,
    posting_runs,
)

SCORED, FIXED_TAIL, WIDE = BlockLayout(), BlockLayout(fixed_tail=True), BlockLayout(256)
LAYOUTS = [SCORED, FIXED_TAIL, WIDE]
PLACE = Place("f", 0, 0, "open")


def cursor(data: bytes) -> Cursor:
    """Return a cursor over bytes."""
    return Cursor(memoryview(data), 0, Context("f"))


def u32(*values: int) -> np.ndarray:
    """Return numbers as they are encoded."""
    return np.array(values, np.uint32)


@given(st.integers(0, 32), st.sampled_from([4, 8]), st.integers(0, 2**32))
def test_groups_come_back(width, lanes, seed):
    """For every width and both numbers of lanes, as many rows at once as there are."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 2**width, (3, 32 * lanes)).astype(np.uint32)
    found = [
        packed_integers.parse_group(cursor(one), lanes, "n").tolist()
        for one in packed_integers.group_runs(rows).as_bytes()
    ]
    assert rows.tolist() == found
    if width:
        packed = packed_integers.pack_rows(rows, width)
        assert rows.tolist() == unpack_rows(packed, width, lanes).tolist()


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_varints_come_back(values):
    """Whatever the numbers."""
    data = b"".join(packed_integers.varint_runs(u32(*values)).as_bytes())
    assert values == packed_integers.parse_varints(cursor(data), len(values), "n").tolist()


def encoded(own: Postings, layout: BlockLayout, *, score: float = 0) -> list[bytes]:
    """Return the blocks of one token, all of the same highest score."""
    count = len(own.documents)
    scores = np.full(layout.num_blocks(count), score, np.float32)
    return posting_runs(own, np.array([count]), layout, scores).as_bytes()


def parsed(blocks: list[bytes], length: int, num_documents: int, layout: BlockLayout) -> Postings:
    """Parse blocks of bytes."""
    return parse_postings(of_blocks(blocks), length, num_documents, layout, PLACE)


def of_blocks(blocks: list[bytes]) -> Blobs:
    """Return blocks as they are handed over: the rest of an array."""
    array = pa.array([b"before", *blocks], pa.large_binary())
    return Blobs.of(array.slice(1), Context("f"))


def test_a_worked_patched_block():
    """One frequency of 1000 among ones is an exception: place 5, high bits 500."""
    frequencies = np.ones(256, np.uint32)
    frequencies[5] = 1000
    (block,) = encoded(Postings(np.arange(256, dtype=np.uint32), frequencies), WIDE)
    assert bytes.fromhex("01 01") == block[4 + 1 + 32 :][:2]
    assert bytes.fromhex("05 f403") == block[-3:]


@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.sampled_from([1, 2, 127, 128, 129, 256, 257, 600]), min_size=1, max_size=5),
    st.integers(0, 2**32),
)
@settings(max_examples=50)
def test_blocks_come_back(layout, counts, seed):
    """Those of many tokens are those of each, with steps and frequencies of few bits and many."""
    random, own, blocks = np.random.default_rng(seed), [], []
    for count in counts:
        kinds = u32(1, 1, 1, 2, 9, 300, 2**32 - 1)[: random.integers(1, 8)]
        chosen = np.sort(random.choice(2000, count, replace=False)).astype(np.uint32)
        own.append(Postings(chosen, random.choice(kinds, count)))
        blocks += encoded(own[-1], layout)
        found = parsed(encoded(own[-1], layout), count, 2000, layout)
        assert own[-1].documents.tolist() == found.documents.tolist()
        assert own[-1].frequencies.tolist() == found.frequencies.tolist()
    every = Postings(*(np.concatenate(one) for one in zip(*map(_columns, own), strict=True)))
    scores = np.zeros(sum(map(layout.num_blocks, counts)), np.float32)
    assert blocks == posting_runs(every, np.array(counts), layout, scores).as_bytes()


def _columns(own: Postings) -> tuple[np.ndarray, np.ndarray]:
    return own.documents, own.frequencies


@given(st.sampled_from(LAYOUTS), st.binary(max_size=90), st.integers(0, 300))
def test_any_bytes_are_postings_or_an_error(layout, data, length):
    """Nothing but a LanceError escapes."""
    with contextlib.suppress(LanceError):
        parsed([data] * layout.num_blocks(length), length, 400, layout)


@given(st.integers(0, 41), st.integers(0, 255), st.integers(128, 400))
def test_full_blocks_together_are_the_blocks_of_each(at, byte, total):
    """With any byte changed the same postings come back, or both ways refuse them."""
    own = Postings(np.arange(8, 136, dtype=np.uint32), np.ones(128, np.uint32))
    (block,) = encoded(own, SCORED)
    block = block[:at] + bytes([byte]) + block[at + 1 :]
    second = block[:4] + (200).to_bytes(4, "little") + block[8:]
    for blocks in ([block], [block, second]):
        found = full_postings(of_blocks(blocks), total)
        try:
            wanted = parsed(blocks, 128 * len(blocks), total, SCORED)
        except FormatError:
            assert found is None
        else:
            assert found is not None
            assert np.array_equal(found.documents, wanted.documents)


lists = st.lists(st.sets(st.integers(0, 5000), min_size=1, max_size=300), min_size=1, max_size=4)


@given(st.lists(lists, min_size=1, max_size=3))
def test_positions_come_back(blocks):
    """In both layouts, whether a block fills groups or not."""
    own = [[u32(*sorted(one)) for one in block] for block in blocks]
    every = [one for block in own for one in block]
    counts, sizes = u32(*map(len, every)), np.array([len(block) for block in own])
    data = position_runs(np.concatenate(every), counts, sizes).as_bytes()
    for block, written in zip(own, data, strict=True):
        found = parse_positions(cursor(written), u32(*map(len, block)))
        assert [one.tolist() for one in block] == [one.tolist() for one in found]
    for one in every:
        blobs = [cursor(blob) for blob in encode_position_blobs(one)]
        assert one.tolist() == parse_position_blobs(blobs, len(one), PLACE).tolist()


def test_worked_lengths():
    """Up to 15 a length is its code; 16 and 17 are one, 0b1_0000 and 0b1_0001."""
    assert [0, 7, 8, 15, 16, 16, 17] == length_codes(np.array([0, 7, 8, 15, 16, 17, 18])).tolist()
    assert [0, 15, 16, 16, 18, 960] == rounded_lengths(u32(0, 15, 16, 17, 18, 1023)).tolist()


def test_worked_impacts():
    """Of two documents that hold a token once the shorter counts; more often and longer counts.

    The pairs (1, 4) and (3, 6) are the steps 2 * (1 - 0 - 1) + 1 and 4, 2 * (3 - 1 - 1) + 1 and 2.
    A block has an entry, and so has the group that it is in.
    """
    own = Postings(u32(2, 5, 7, 9), u32(1, 1, 3, 2))
    found, entries = impact_runs(own, np.array([4]), u32(5, 4, 6, 7), SCORED)
    assert [bytes.fromhex("09 02 0104 0302")] * 2 == found.as_bytes()
    assert [2] == entries.tolist()


@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.sampled_from([1, 2, 128, 129, 600, 9000]), min_size=1, max_size=4),
    st.integers(0, 2**32),
)
@settings(max_examples=20)
def test_impacts_of_many_tokens_are_those_of_each(layout, counts, seed):
    """With equal frequencies and lengths, and with others: one for each block and each group."""
    random, total = np.random.default_rng(seed), sum(counts)
    frequencies = random.choice(u32(1, 1, 2, 7, 300, 2**32 - 1), total)
    lengths = random.choice(u32(0, 3, 7, 8, 15, 16, 17, 500, 2**20), total)
    every = Postings(np.arange(total, dtype=np.uint32), frequencies)
    found, entries = impact_runs(every, np.array(counts), lengths, layout)
    wanted, start = [], 0
    for count in counts:
        own = slice(start, start + count)
        one = Postings(every.documents[own], frequencies[own])
        wanted += impact_runs(one, np.array([count]), lengths[own], layout)[0].as_bytes()
        start += count
    assert wanted == found.as_bytes()
    assert [
        layout.num_blocks(count) + -(-layout.num_blocks(count) // 32) for count in counts
    ] == entries.tolist()
