"""FM partition: some texts, one behind the other, that can be searched for any part of them.

Each text ends with FF, the whole with 00; such bytes of the texts are blanks here. The file has the
byte before every ending of that, in the order of the endings, as a wavelet tree, and where every
32nd of these endings begins. The endings that begin with a byte are neighbours, and so are those
that begin with a text: a search narrows them down from the last byte of the text to its first.

Layout: `part_{n}_fm.lance`: node_id u32, block_id u32, words large binary, prefix_rank u64, bit_len
u64; the blocks of the nodes, then, as node FFFFFFFF, the samples: u64, 4096 in a block. Numbers in
the metadata are text, arrays the hexadecimal digits of their bytes (little-endian): row_ids u64,
doc_start_positions u64, c_table u64[257], huffman_codes, tree_topology.

Clauses: L.index.fm.node, L.index.fm.rank, L.index.fm.counts, L.index.fm.texts, L.index.fm.samples,
L.index.fm.codes, L.index.fm.numbers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, LimitExceeded
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
    parse_topology,
)
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys

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
        """Return samples by their numbers. Raises CorruptPage."""
        found = np.empty(len(numbers), np.int64)
        blocks = numbers // BLOCK_WORDS
        wanted = unique(blocks).tolist()
        self._read([block for block in wanted if block not in self.blocks])
        for block in wanted:
            own = blocks == block
            found[own] = self.blocks[block][numbers[own] - block * BLOCK_WORDS]
        return found

    def _read(self, numbers: Sequence[int]) -> None:
        """Read blocks together. Raises CorruptPage."""
        read = read_words(self.file, [self.first_row + block for block in numbers])
        for block, words in zip(numbers, read, strict=True):
            count = -(-self.num_bytes // self.rate) - block * BLOCK_WORDS
            if len(words) != min(count, BLOCK_WORDS) or np.any(words >= self.num_bytes):
                raise CorruptPage(
                    "L.index.fm.samples",
                    self.file.place,
                    found=f"{len(words)} samples in block {block}, the largest {words.max()}"
                    if len(words)
                    else "no samples",
                    wanted=f"{min(count, BLOCK_WORDS)} below {self.num_bytes}",
                )
            self.blocks[block] = words


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
        """Where each text ends, its FF not included; there may be no text."""
        return np.append(self.starts[1:], self.num_bytes - 1)[: len(self.starts)] - 1


def read_words(file: IndexFile, rows: Sequence[int]) -> Iterator[Words]:
    """Yield the words of each of some ascending rows, read together. Raises CorruptPage."""
    places = np.array(rows, np.int64)
    for data in file.take("words", places, pa.large_binary()).to_pylist() if rows else ():
        if data is None or len(data) % 8:
            raise CorruptPage(
                "L.index.fm.node",
                file.place,
                found="no words" if data is None else f"{len(data)} bytes of words",
                wanted="words of 8 bytes",
            )
        yield np.frombuffer(data, "<u8").astype(np.uint64)


def open_partition(file: IndexFile) -> Partition:
    """Open a partition. Raises FormatError."""
    size, rate = file.number("bwt_len"), file.number("sa_sample_rate")
    most = file.ctx.limits.expansion_factor * file.source.size
    if size > most:
        raise LimitExceeded(
            "L.index.fm.numbers", file.place, found=f"{size} bytes", wanted=f"at most {most}"
        )
    firsts = _numbers(file, "c_table")
    if len(firsts) != BYTES + 1 or firsts[0] or np.any(np.diff(firsts) < 0) or firsts[-1] != size:
        raise CorruptPage(
            "L.index.fm.counts",
            file.place,
            found=f"{len(firsts)} numbers that end with {firsts[-1:].tolist()}",
            wanted=f"{BYTES + 1} that rise from 0 to {size}",
        )
    tree = parse_topology(_cursor(file, "tree_topology"))
    sizes = _node_sizes(tree, np.diff(firsts), file)
    if bytes(_hex(file, "huffman_codes")) != tree.encode_codes():
        raise CorruptPage(
            "L.index.fm.codes", file.place, found="other codes", wanted="those of the tree"
        )
    if not 1 <= rate <= SIZE_LIMIT:
        raise CorruptPage(
            "L.index.fm.samples", file.place, found=f"every {rate}th", wanted="at least each"
        )
    file.hold()
    nodes, num_rows = _nodes(file, tree, sizes, -(-size // rate))
    first_rows = np.cumsum([0, *(len(node.before) - 1 for node in nodes)])

    def load(numbers: Sequence[int]) -> Iterator[Words]:
        return read_words(file, first_rows[list(numbers)].tolist())

    wavelet = WaveletTree(tree, nodes, tree.paths(), load)
    row_ids = _numbers(file, "row_ids").astype(np.uint64)
    starts = _starts(file, len(row_ids), size)
    _check_ends(file, firsts, len(row_ids))
    return Partition(
        file, size, firsts, row_ids, starts, wavelet, Samples(file, rate, size, num_rows, {})
    )


def _starts(file: IndexFile, count: int, size: int) -> Positions:
    """Return the first byte of each text."""
    starts = _numbers(file, "doc_start_positions")
    first = starts[:1].tolist()
    right = len(starts) == count and first == [0] * bool(size)
    if not right or np.any(np.diff(starts) < 1) or np.any(starts > size - 2):
        raise CorruptPage(
            "L.index.fm.texts",
            file.place,
            found=f"{len(starts)} texts from {first} on",
            wanted=f"{count} that begin one after the other below {size - 1}",
        )
    return starts


def _check_ends(file: IndexFile, firsts: Positions, count: int) -> None:
    """Raise CorruptPage unless the bytes that end texts occur as often as texts do."""
    ends = int(firsts[END_OF_TEXT + 1] - firsts[END_OF_TEXT])
    if ends != count or firsts[1] != bool(count):
        raise CorruptPage(
            "L.index.fm.texts",
            file.place,
            found=f"{ends} bytes FF and {firsts[1]} bytes 00",
            wanted=f"one for each of {count} texts, and one",
        )


def _node_sizes(tree: HuffmanTree, counts: Positions, file: IndexFile) -> list[tuple[int, int]]:
    """Return the number of bits of each node, and of its ones. Raises CorruptPage."""
    paths = tree.paths()
    if sorted(paths) != np.flatnonzero(counts).tolist():
        raise CorruptPage(
            "L.index.fm.topology",
            file.place,
            found=f"a tree over bytes {sorted(paths)[:8]}",
            wanted="every byte of the text",
        )
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
        raise CorruptPage(
            "L.index.fm.numbers",
            file.place,
            found=f"{[(key, file.number(key)) for key, _ in wrong]} and {file.num_rows} rows",
            wanted=f"{wrong} and {sum(blocks) + sample_blocks} rows",
        )
    counts = [*blocks, *[sample_blocks] * bool(sample_blocks)]
    numbers = [*range(len(sizes)), SAMPLE_NODE][: len(counts)]
    bits = [*(bits for bits, _ in sizes), num_samples][: len(counts)]
    block_ids = np.concatenate([np.empty(0), *map(np.arange, counts)])
    expected = {
        "node_id": pa.array(np.repeat(np.array(numbers, np.uint32), counts)),
        "block_id": pa.array(block_ids.astype(np.uint32)),
        "bit_len": pa.array(np.repeat(np.array(bits, np.uint64), counts)),
    }
    for name, wanted in expected.items():
        column = file.read(name, wanted.type)
        if not column.equals(wanted):
            raise CorruptPage(
                "L.index.fm.node", file.place, found=f"{name} {column}", wanted=f"{wanted}"
            )
    return _with_ranks(file, sizes, blocks), sum(blocks)


def _with_ranks(
    file: IndexFile, sizes: Sequence[tuple[int, int]], blocks: Sequence[int]
) -> list[NodeBits]:
    column = file.read("prefix_rank", pa.uint64())
    ranks = np.asarray(column.fill_null(SIZE_LIMIT), np.uint64).astype(np.int64)
    found = []
    row = 0
    for (bits, ones), count in zip(sizes, blocks, strict=True):
        before = np.append(ranks[row : row + count], ones)
        if before[0] or np.any(np.diff(before) < 0):
            raise CorruptPage(
                "L.index.fm.rank",
                file.place,
                found=f"{before.tolist()} ones before the blocks of a node",
                wanted=f"0 to {ones}, rising",
            )

        def load(number: int, first: int = row) -> Words:
            (words,) = read_words(file, [first + number])
            return words

        found.append(NodeBits(bits, before, load, file.place))
        row += count
    return found


def _hex(file: IndexFile, key: str) -> bytes:
    """Return an entry of the metadata that is hexadecimal digits. Raises CorruptPage."""
    text = file.text(key)
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise CorruptPage(
            "L.index.files.metadata",
            file.place,
            found=f"{key!r} = {text[:40]!r}",
            wanted="hexadecimal digits",
        ) from error


def _cursor(file: IndexFile, key: str) -> Cursor:
    return Cursor(memoryview(_hex(file, key)), 0, file.ctx)


def _numbers(file: IndexFile, key: str) -> Positions:
    """Return an entry of the metadata as numbers. Raises CorruptPage."""
    data = _hex(file, key)
    if len(data) % 8:
        raise CorruptPage(
            "L.index.files.metadata",
            file.place,
            found=f"{len(data)} bytes of {key!r}",
            wanted="numbers of 8 bytes",
        )
    return np.frombuffer(data, "<i8").astype(np.int64)
