"""FM partition: concatenated texts that can be searched for any part of them.

Each text ends with FF, the whole with 00; such bytes of the texts are blanks here. The file has the
byte before every ending of that, in the order of the endings, as a wavelet tree, and where every
32nd of these endings begins. The endings that begin with a byte are neighbours, and so are those
that begin with a text: a search narrows them down from the last byte of the text to its first.

Layout: `part_{n}_fm.lance`: node_id u32, block_id u32, words large binary, prefix_rank u64, bit_len
u64; the blocks of the nodes, then, as node FFFFFFFF, the samples: u64, 4096 in a block. Numbers in
the metadata are text, arrays the hexadecimal digits of their bytes (little-endian): row_ids u64,
doc_start_positions u64, c_table u64[257], huffman_codes, tree_topology.

Clauses: L.index.fm.node, L.index.fm.rank, L.index.fm.counts, L.index.fm.texts, L.index.fm.samples,
L.index.fm.codes, L.index.fm.numbers, L.index.fm.fingerprint, L.index.fm.partition
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.context import specified
from lanceref.core.cursor import Cursor
from lanceref.core.errors import LimitExceeded
from lanceref.index.fm.wavelet import (
    BYTES,
    WORD_BITS,
    HuffmanTree,
    Positions,
    WaveletTree,
    Words,
    build_tree,
    node_bits,
    packed,
    parse_topology,
)
from lanceref.index.full_text.packed_integers import offsets_of, split_groups
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys
from lanceref.index.segment import SegmentWriter

SAMPLE_NODE = 0xFFFFFFFF
SAMPLE_RATE = 32
BLOCK_WORDS = 4096
SIZE_LIMIT = 2**31
END_OF_TEXT = 0xFF
STORED = bytes(range(256)).translate(bytes.maketrans(b"\x00\xff", b"  "))
"""What each byte of a text is stored as."""


@dataclass(frozen=True)
class Partition:
    """An opened partition: `firsts` is the number of smaller bytes of each byte, int64[257].

    `sizes` are the numbers of bits and ones of each node; it is known where every `rate`-th ending
    begins.
    """

    file: IndexFile
    num_bytes: int
    rate: int
    firsts: Positions
    row_ids: Keys
    starts: Positions
    codes: HuffmanTree
    sizes: Sequence[tuple[int, int]]

    @property
    def ends(self) -> Positions:
        """Where each text ends, its FF not included; there may be no text: (texts,)."""
        return np.append(self.starts[1:], self.num_bytes - 1)[: len(self.starts)] - 1

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks([bits for bits, _ in self.sizes], -(-self.num_bytes // self.rate))

    @cached_property
    def _ranks(self) -> Keys:
        return self.file.numbers("prefix_rank", np.uint64)

    @cached_property
    def tree(self) -> WaveletTree:
        """The text, as the bits of all nodes; what is read of them may raise CorruptPage."""
        return WaveletTree(self.codes, self._nodes)

    def _nodes(self, start: int, end: int) -> list[Words]:
        """Return the words of nodes from one to another. Raises CorruptPage."""
        blocks = self._blocks
        rows = blocks.rows[start : end + 1]
        words = self._words(rows[0], rows[-1], "L.index.fm.node")
        ranks, ones = blocks.ranks(words, start, end)
        stated = self._ranks[rows[0] : rows[-1]]
        wanted = [ones for _, ones in self.sizes[start:end]]
        if stated.tolist() != ranks.tolist() or ones.tolist() != wanted:
            found = f"{ones[:8]} ones in nodes, {stated[:8]} before blocks"
            raise self.file.corrupt("L.index.fm.rank", found, f"{wanted[:8]} and {ranks[:8]}")
        return np.split(words, blocks.num_words[start : end - 1].cumsum())

    @cached_property
    def samples(self) -> Positions:
        """Where every `rate`-th ending begins: (samples,). Raises CorruptPage."""
        words = self._words(self._blocks.rows[-1], self.file.num_rows, "L.index.fm.samples")
        if np.any(words >= self.num_bytes):
            found, wanted = f"samples up to {words.max()}", f"below {self.num_bytes}"
            raise self.file.corrupt("L.index.fm.samples", found, wanted)
        return words.astype(np.int64)

    def check_rows(self) -> None:
        """Raise CorruptPage unless the rows are the blocks of the nodes and of samples."""
        file, blocks = self.file, self._blocks
        wrong = {key: own for key, own in blocks.stated.items() if file.number(key) != own}
        if wrong or file.num_rows != len(blocks.sizes):
            found = f"{[file.number(key) for key in wrong]} and {file.num_rows} rows"
            wanted = f"{wrong} and {len(blocks.sizes)} rows"
            raise file.corrupt("L.index.fm.numbers", found, wanted)
        for name, own in blocks.columns.items():
            column = file.read(name, own.type)
            if not column.equals(own):
                raise file.corrupt("L.index.fm.node", f"{name} {column}", own)

    def _words(self, start: int, end: int, clause: str) -> Words:
        """Return the words of rows, one after the other. Raises CorruptPage."""
        data = self.file.read("words", pa.large_binary(), start, end, "L.index.fm.node")
        sizes = np.asarray(pc.binary_length(data), np.int64)
        if np.any(sizes % 8):
            found = f"{sizes[sizes % 8 > 0][0]} bytes of words"
            raise self.file.corrupt("L.index.fm.node", found, "words of 8 bytes")
        wanted = self._blocks.sizes[start:end]
        if not np.array_equal(sizes // 8, wanted):
            found = f"blocks of {(sizes // 8)[:8]} words"
            raise self.file.corrupt(clause, found, f"{wanted[:8]}")
        return np.frombuffer(b"".join(data.to_pylist()), "<u8").astype(np.uint64)


class Blocks:
    """The rows of a partition: the blocks of nodes of so many bits, and then those of samples.

    Of each row `nodes` is its node, `numbers` the number of the block in it, `sizes` its words:
    (rows,). `rows` are the first ones, `num_words` the words of each node and of the samples:
    (nodes + 1,).
    """

    def __init__(self, bits: Sequence[int], num_samples: int) -> None:
        lengths = np.array([*bits, num_samples], np.int64)
        self.num_words = np.append(-(-lengths[:-1] // WORD_BITS), num_samples)
        _, self.sizes, blocks = split_groups(self.num_words, BLOCK_WORDS)
        self.rows = offsets_of(blocks)[:-1]
        self.nodes, self._lengths = np.repeat([np.arange(len(blocks)), lengths], blocks, axis=1)
        self.numbers = np.arange(blocks.sum()) - np.repeat(self.rows, blocks)
        self.stated = {
            "num_bwt_nodes": len(bits),
            "num_sa_blocks": int(blocks[-1]),
            "total_wavelet_rows": int(self.rows[-1]),
            "sa_samples_len": num_samples,
            "alphabet_size": BYTES,
        }

    @property
    def columns(self) -> dict[str, pa.Array]:
        """The columns of the file that tell rows apart."""
        is_sample = np.arange(len(self.nodes)) >= self.rows[-1]
        return {
            "node_id": pa.array(np.where(is_sample, SAMPLE_NODE, self.nodes).astype(np.uint32)),
            "block_id": pa.array(self.numbers.astype(np.uint32)),
            "bit_len": pa.array(self._lengths.astype(np.uint64)),
        }

    def ranks(self, words: Words, start: int, end: int) -> tuple[Positions, Positions]:
        """Return the ones before each block in its node (rows,), and of the nodes (nodes,).

        The nodes go from one to another and have the words (n,) given.
        """
        bounds = self.rows[start : end + 1] - self.rows[start]
        sizes = self.sizes[self.rows[start] : self.rows[end]]
        before = offsets_of(np.bitwise_count(words).astype(np.int64))[offsets_of(sizes)]
        first = np.repeat(before[bounds[:-1]], np.diff(bounds))
        return before[:-1] - first, np.diff(before[bounds])


def open_partition(file: IndexFile) -> Partition:
    """Open the file of one partition. Raises FormatError."""
    size, rate = file.number("bwt_len"), file.number("sa_sample_rate")
    most = file.ctx.limits.expansion_factor * file.source.size
    if size > most:
        clause = "L.index.fm.numbers"
        raise LimitExceeded(clause, file.place, f"{size} bytes", f"at most {most}")
    firsts = _numbers(file, "c_table")
    if len(firsts) != BYTES + 1 or firsts[0] or np.any(np.diff(firsts) < 0) or firsts[-1] != size:
        found = f"{len(firsts)} numbers that end with {firsts[-1:].tolist()}"
        wanted = f"{BYTES + 1} that rise from 0 to {size}"
        raise file.corrupt("L.index.fm.counts", found, wanted)
    tree = parse_topology(Cursor(memoryview(file.digits("tree_topology")), 0, file.ctx))
    sizes = _node_sizes(tree, np.diff(firsts), file)
    if file.digits("huffman_codes") != tree.encode_codes():
        raise file.corrupt("L.index.fm.codes", "other codes", "those of the tree")
    if not 1 <= rate <= SIZE_LIMIT:
        raise file.corrupt("L.index.fm.samples", f"every {rate}th", "at least each")
    file.hold()
    row_ids = _numbers(file, "row_ids").astype(np.uint64)
    starts = _starts(file, firsts, len(row_ids), size)
    partition = Partition(file, size, rate, firsts, row_ids, starts, tree, sizes)
    partition.check_rows()
    return partition


def _starts(file: IndexFile, firsts: Positions, count: int, size: int) -> Positions:
    """Return the first byte of each text, of which the bytes that end them are as many."""
    starts = _numbers(file, "doc_start_positions")
    first = starts[:1].tolist()
    right = len(starts) == count and first == [0] * bool(size)
    if not right or np.any(np.diff(starts) < 1) or np.any(starts > size - 2):
        found = f"{len(starts)} texts from {first} on"
        wanted = f"{count} that begin one after the other below {size - 1}"
        raise file.corrupt("L.index.fm.texts", found, wanted)
    ends = int(firsts[END_OF_TEXT + 1] - firsts[END_OF_TEXT])
    if ends != count or firsts[1] != bool(count):
        found = f"{ends} bytes FF and {firsts[1]} bytes 00"
        raise file.corrupt("L.index.fm.texts", found, f"one for each of {count} texts, and one")
    return starts


def _node_sizes(tree: HuffmanTree, counts: Positions, file: IndexFile) -> list[tuple[int, int]]:
    """Return the number of bits of each node, and of its ones. Raises CorruptPage."""
    paths = tree.paths()
    if sorted(paths) != np.flatnonzero(counts).tolist():
        found = f"a tree over bytes {sorted(paths)[:8]}"
        raise file.corrupt("L.index.fm.topology", found, "every byte of the text")
    sizes = [[0, 0] for _ in tree.sides]
    for byte, path in paths.items():
        for node, bit in path:
            sizes[node][bit] += int(counts[byte])
    return [(zeros + ones, ones) for zeros, ones in sizes]


def _numbers(file: IndexFile, key: str) -> Positions:
    """Return an entry of the metadata as numbers. Raises CorruptPage."""
    data = file.digits(key)
    if len(data) % 8:
        found = f"{len(data)} bytes of {key!r}"
        raise file.corrupt("L.index.files.metadata", found, "numbers of 8 bytes")
    return np.frombuffer(data, "<i8").astype(np.int64)


FIRST_BYTES = 7
"""Bytes that the first order looks at; the eighth of a key says how many of them there are."""


def suffix_array(text: NDArray[np.uint8]) -> Positions:
    """Return the first byte of every ending of a text below 2**31 bytes, endings ascending.

    An ending that another one begins with comes before it. Endings are first ordered by seven
    bytes; those that are equal so far by the rank of what follows, twice as far each time (prefix
    doubling). `text` and the result (n,).
    """
    size, ahead = len(text), FIRST_BYTES
    order, places, keys = np.arange(size), np.arange(size), _first_keys(text)
    rank = np.full(size + 1, -1, np.int64)  # what follows the end is the least
    while len(places):
        by_key = np.argsort(keys, kind="stable")  # runs of one character are in order already
        order[places] = endings = order[places[by_key]]
        starts = np.flatnonzero(np.append(True, np.diff(keys[by_key])))
        sizes = np.diff(starts, append=len(places))
        rank[endings] = np.repeat(places[starts], sizes)
        places = places[np.repeat(sizes > 1, sizes)]
        endings = order[places]
        second = (rank[np.minimum(endings + ahead, size)] + 1).astype(np.uint64)
        keys = rank[endings].astype(np.uint64) << np.uint64(32) | second
        ahead *= 2
    return order


def _first_keys(text: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the first bytes of every ending, and their number."""
    size = len(text)
    padded = np.concatenate([text, np.zeros(FIRST_BYTES, np.uint8)])
    keys = np.zeros(size, np.uint64)
    for place in range(FIRST_BYTES):
        keys = keys << np.uint64(8) | padded[place : place + size]
    counts = np.minimum(np.arange(size, 0, -1), FIRST_BYTES)
    return keys << np.uint64(8) | counts.astype(np.uint64)


FINGERPRINT_START = 0x19EE4BC3E3726EC5
"""Initial state of the hash of a partition, known from the bytes of files."""

FINGERPRINT_PRIME = 0x100000001B3
U64 = 0xFFFFFFFFFFFFFFFF


def fingerprint(texts: Sequence[bytes], keys: Sequence[int]) -> int:
    """Return the hash of texts and their keys, FNV-1a over their number, and key, size, bytes."""
    pairs = zip(keys, texts, strict=True)
    parts = [struct.pack("<QQ", key, len(text)) + text for key, text in pairs]
    return fnv_hash(b"".join([struct.pack("<Q", len(texts)), *parts]))


@specified
def fnv_hash(data: bytes) -> int:
    """Return the hash of bytes, FNV-1a of 64 bits from the state of a fingerprint on."""
    state = FINGERPRINT_START
    for byte in data:
        state = ((state ^ byte) * FINGERPRINT_PRIME) & U64
    return state


def write_partition(
    path: str, texts: Sequence[bytes], keys: Sequence[int], writer: SegmentWriter
) -> None:
    """Write a partition of texts, none of them null."""
    joined = b"".join(text + bytes([END_OF_TEXT]) for text in texts) + b"\x00" * bool(texts)
    text = np.frombuffer(joined, np.uint8)
    endings = suffix_array(text)
    # the Burrows-Wheeler transform: the byte before each suffix, in the order of suffixes
    before = text[endings - 1]
    counts = np.bincount(before, minlength=BYTES)
    tree, samples = build_tree(counts), endings[::SAMPLE_RATE].astype(np.uint64)
    bits = node_bits(tree, before)
    blocks = Blocks([len(one) for one in bits], len(samples))
    words = np.concatenate([samples[:0], *map(packed, bits)])
    ranks, _ = blocks.ranks(words, 0, len(bits))
    starts = offsets_of(np.array([len(one) + 1 for one in texts], np.int64))[:-1]
    metadata = {
        "bwt_len": f"{len(text)}",
        "sa_sample_rate": f"{SAMPLE_RATE}",
        **{name: f"{number}" for name, number in blocks.stated.items()},
        "c_table": _digits(np.concatenate([[0], counts.cumsum()])),
        "row_ids": _digits(keys),
        "doc_start_positions": _digits(starts),
        "huffman_codes": tree.encode_codes().hex(),
        "tree_topology": tree.encode_topology().hex(),
        "partition_fingerprint": f"{fingerprint(texts, keys):016x}",
    }
    data = pa.py_buffer(np.concatenate([words, samples]).astype("<u8"))
    buffers = [None, pa.py_buffer(offsets_of(8 * blocks.sizes)), data]
    prefix_ranks = np.append(ranks, 0 * blocks.sizes[len(ranks) :]).astype(np.uint64)
    columns = {
        **blocks.columns,
        "words": pa.Array.from_buffers(pa.large_binary(), len(blocks.sizes), buffers),
        "prefix_rank": pa.array(prefix_ranks),
    }
    order = ("node_id", "block_id", "words", "prefix_rank", "bit_len")
    writer.write_columns(path, {name: columns[name] for name in order}, metadata)


def _digits(numbers: Sequence[int] | Positions) -> str:
    return np.asarray(numbers, np.uint64).astype("<u8").tobytes().hex()
