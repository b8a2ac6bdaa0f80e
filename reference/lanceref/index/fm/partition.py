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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import LimitExceeded
from lanceref.core.integers import unique
from lanceref.index.fm.wavelet import (
    BLOCK_BITS,
    BLOCK_WORDS,
    BYTES,
    HuffmanTree,
    NodeBits,
    Positions,
    WaveletTree,
    Words,
    build_tree,
    node_bits,
    packed,
    parse_topology,
)
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys
from lanceref.index.segment import SegmentWriter

SAMPLE_NODE = 0xFFFFFFFF
SAMPLE_RATE = 32
SIZE_LIMIT = 2**31
END_OF_TEXT = 0xFF
STORED = bytes(range(256)).translate(bytes.maketrans(b"\x00\xff", b"  "))
"""What each byte of a text is stored as."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Where every `rate`-th ending begins; blocks are read when they are needed."""

    file: IndexFile
    rate: int
    num_bytes: int
    first_row: int
    blocks: dict[int, Words]

    def at(self, numbers: Positions) -> Positions:
        """Return samples by their numbers. `numbers` and the result (n,). Raises CorruptPage."""
        samples = np.empty(len(numbers), np.int64)
        blocks = numbers // BLOCK_WORDS
        wanted = unique(blocks).tolist()
        missing = [block for block in wanted if block not in self.blocks]
        rows = [self.first_row + block for block in missing]
        for block, words in zip(missing, read_words(self.file, rows), strict=True):
            count = min(-(-self.num_bytes // self.rate) - block * BLOCK_WORDS, BLOCK_WORDS)
            if len(words) != count or np.any(words >= self.num_bytes):
                found = f"{len(words)} samples in block {block}, up to {max(words, default=0)}"
                raise self.file.corrupt(
                    "L.index.fm.samples", found, f"{count} below {self.num_bytes}"
                )
            self.blocks[block] = words
        for block in wanted:
            own = blocks == block
            samples[own] = self.blocks[block][numbers[own] - block * BLOCK_WORDS]
        return samples


@dataclass(frozen=True, slots=True)
class Partition:
    """An opened partition: `firsts` is the number of smaller bytes of each byte, int64[257]."""

    file: IndexFile
    num_bytes: int
    firsts: Positions
    row_ids: Keys
    starts: Positions
    tree: WaveletTree
    samples: Samples

    @property
    def ends(self) -> Positions:
        """Where each text ends, its FF not included; there may be no text: (texts,)."""
        return np.append(self.starts[1:], self.num_bytes - 1)[: len(self.starts)] - 1


def read_words(file: IndexFile, rows: Sequence[int]) -> Iterator[Words]:
    """Yield the words of each of some ascending rows, read together. Raises CorruptPage.

    Each is (words,).
    """
    places = np.array(rows, np.int64)
    for data in file.take("words", places, pa.large_binary()).to_pylist() if rows else ():
        if data is None or len(data) % 8:
            found = "no words" if data is None else f"{len(data)} bytes of words"
            raise file.corrupt("L.index.fm.node", found, "words of 8 bytes")
        yield np.frombuffer(data, "<u8").astype(np.uint64)


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
    nodes, num_rows = _nodes(file, tree, sizes, -(-size // rate))
    first_rows = np.cumsum([0, *(len(node.before) - 1 for node in nodes)])

    def load(numbers: Sequence[int]) -> Iterator[Words]:
        return read_words(file, first_rows[list(numbers)].tolist())

    wavelet = WaveletTree(tree, nodes, tree.paths(), load)
    row_ids = _numbers(file, "row_ids").astype(np.uint64)
    starts = _starts(file, firsts, len(row_ids), size)
    samples = Samples(file, rate, size, num_rows, {})
    return Partition(file, size, firsts, row_ids, starts, wavelet, samples)


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


def _nodes(
    file: IndexFile, tree: HuffmanTree, sizes: Sequence[tuple[int, int]], num_samples: int
) -> tuple[list[NodeBits], int]:
    """Return the bits of every node, and the number of their rows. Raises CorruptPage."""
    blocks = [-(-bits // BLOCK_BITS) for bits, _ in sizes]
    sample_blocks = -(-num_samples // BLOCK_WORDS)
    stated = [
        ("num_bwt_nodes", len(sizes)),
        ("num_sa_blocks", sample_blocks),
        ("total_wavelet_rows", sum(blocks)),
        ("sa_samples_len", num_samples),
        ("alphabet_size", BYTES),
    ]
    wrong = [(key, number) for key, number in stated if file.number(key) != number]
    if wrong or file.num_rows != sum(blocks) + sample_blocks:
        found = f"{[(key, file.number(key)) for key, _ in wrong]} and {file.num_rows} rows"
        wanted = f"{wrong} and {sum(blocks) + sample_blocks} rows"
        raise file.corrupt("L.index.fm.numbers", found, wanted)
    counts = [*blocks, *[sample_blocks] * bool(sample_blocks)]
    numbers = [*range(len(sizes)), SAMPLE_NODE][: len(counts)]
    bits = [*(bits for bits, _ in sizes), num_samples][: len(counts)]
    block_ids = np.concatenate([np.empty(0), *map(np.arange, counts)])
    expected = {
        "node_id": pa.array(np.repeat(np.array(numbers, np.uint32), counts)),
        "block_id": pa.array(block_ids.astype(np.uint32)),
        "bit_len": pa.array(np.repeat(np.array(bits, np.uint64), counts)),
    }
    for name, own in expected.items():
        column = file.read(name, own.type)
        if not column.equals(own):
            raise file.corrupt("L.index.fm.node", f"{name} {column}", own)
    return _with_ranks(file, sizes, blocks), sum(blocks)


def _with_ranks(
    file: IndexFile, sizes: Sequence[tuple[int, int]], blocks: Sequence[int]
) -> list[NodeBits]:
    column = file.read("prefix_rank", pa.uint64())
    ranks = np.asarray(column.fill_null(SIZE_LIMIT), np.uint64).astype(np.int64)
    nodes = []
    row = 0
    for (bits, ones), count in zip(sizes, blocks, strict=True):
        before = np.append(ranks[row : row + count], ones)
        if before[0] or np.any(np.diff(before) < 0):
            found = f"{before.tolist()} ones before the blocks of a node"
            raise file.corrupt("L.index.fm.rank", found, f"0 to {ones}, rising")

        def load(number: int, first: int = row) -> Words:
            (words,) = read_words(file, [first + number])
            return words

        nodes.append(NodeBits(bits, before, load, file.place))
        row += count
    return nodes


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
    size = len(text)
    keys = _first_keys(text)
    order = np.argsort(keys).astype(np.int64)
    starts = np.flatnonzero(_differs(keys[order]))
    rank = np.empty(size, np.int64)
    rank[order] = np.repeat(starts, np.diff(starts, append=size))
    equal = _in_groups(starts, np.arange(size))
    ahead = FIRST_BYTES
    while len(equal):
        endings = order[equal]
        follow = endings + ahead
        second = np.zeros(len(endings), np.int64)
        inside = follow < size
        second[inside] = rank[follow[inside]] + 1
        keys = rank[endings].astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)
        by_key = np.argsort(keys)
        endings, keys = endings[by_key], keys[by_key]
        order[equal] = endings
        starts = np.flatnonzero(_differs(keys))
        rank[endings] = np.repeat(equal[starts], np.diff(starts, append=len(equal)))
        equal = _in_groups(starts, equal)
        ahead *= 2
    return order


def _first_keys(text: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return of every ending its first bytes, and how many there are of them."""
    size = len(text)
    padded = np.concatenate([text, np.zeros(FIRST_BYTES, np.uint8)])
    keys = np.zeros(size, np.uint64)
    for place in range(FIRST_BYTES):
        keys = keys << np.uint64(8) | padded[place : place + size]
    left = np.minimum(np.arange(size, 0, -1), FIRST_BYTES)
    return keys << np.uint64(8) | left.astype(np.uint64)


def _differs(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return for each key whether it differs from the one before."""
    found = np.ones(len(keys), np.bool_)
    found[1:] = keys[1:] != keys[:-1]
    return found


def _in_groups(starts: Positions, places: Positions) -> Positions:
    """Return the places that belong to a group of more than one; groups begin at `starts`."""
    sizes = np.diff(starts, append=len(places))
    return places[np.repeat(sizes > 1, sizes)]


FINGERPRINT_START = 0x19EE4BC3E3726EC5
"""Initial state of the hash of a partition, known from the bytes of files."""

FINGERPRINT_PRIME = 0x100000001B3
U64 = 0xFFFFFFFFFFFFFFFF

SCHEMA = pa.schema(
    [
        pa.field("node_id", pa.uint32(), nullable=False),
        pa.field("block_id", pa.uint32(), nullable=False),
        pa.field("words", pa.large_binary(), nullable=False),
        pa.field("prefix_rank", pa.uint64(), nullable=False),
        pa.field("bit_len", pa.uint64(), nullable=False),
    ]
)

Row = tuple[int, int, bytes, int, int]
"""Values of a row, by column."""


def fingerprint(texts: Sequence[bytes], keys: Sequence[int]) -> int:
    """Return the hash of texts and their keys, FNV-1a over their number, and key, size, bytes."""
    found = FINGERPRINT_START
    pairs = zip(keys, texts, strict=True)
    parts = [struct.pack("<QQ", key, len(text)) + text for key, text in pairs]
    for byte in b"".join([struct.pack("<Q", len(texts)), *parts]):
        found = ((found ^ byte) * FINGERPRINT_PRIME) & U64
    return found


def write_partition(
    path: str, texts: Sequence[bytes], keys: Sequence[int], writer: SegmentWriter
) -> None:
    """Write a partition of texts, none of them null."""
    joined = b"".join(text + bytes([END_OF_TEXT]) for text in texts) + b"\x00" * bool(texts)
    text = np.frombuffer(joined, np.uint8)
    endings = suffix_array(text)
    before = text[endings - 1]
    counts = np.bincount(before, minlength=BYTES)
    tree = build_tree(counts)
    rows: list[Row] = []
    for node, bits in enumerate(node_bits(tree, before)):
        rows += _rows(node, *packed(bits), len(bits))
    samples = endings[::SAMPLE_RATE]
    blocks = -(-len(samples) // BLOCK_WORDS)
    num_nodes = len(rows)
    rows += _rows(SAMPLE_NODE, samples.astype(np.uint64), np.zeros(blocks, np.int64), len(samples))
    starts = np.concatenate([[0], np.cumsum([len(one) + 1 for one in texts])])[:-1]
    metadata = {
        "bwt_len": f"{len(text)}",
        "alphabet_size": f"{BYTES}",
        "sa_sample_rate": f"{SAMPLE_RATE}",
        "sa_samples_len": f"{len(samples)}",
        "num_bwt_nodes": f"{len(tree.sides)}",
        "num_sa_blocks": f"{blocks}",
        "total_wavelet_rows": f"{num_nodes}",
        "c_table": _digits(np.concatenate([[0], counts.cumsum()])),
        "row_ids": _digits(keys),
        "doc_start_positions": _digits(starts[: len(texts)]),
        "huffman_codes": tree.encode_codes().hex(),
        "tree_topology": tree.encode_topology().hex(),
        "partition_fingerprint": f"{fingerprint(texts, keys):016x}",
    }
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    arrays = [pa.array(one, field.type) for one, field in zip(columns, SCHEMA, strict=True)]
    writer.write_table(path, SCHEMA, arrays, metadata)


def _rows(node: int, words: Words, ranks: Positions, num_bits: int) -> Iterable[Row]:
    """Return the rows of a node, a block each."""
    for block, rank in enumerate(ranks.tolist()):
        part = words[block * BLOCK_WORDS : (block + 1) * BLOCK_WORDS]
        yield node, block, part.astype("<u8").tobytes(), rank, num_bits


def _digits(numbers: Sequence[int] | Positions) -> str:
    return np.asarray(numbers, np.uint64).astype("<u8").tobytes().hex()
