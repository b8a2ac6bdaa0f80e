"""FM partition, written: from texts to the columns and metadata of a file.

Clauses: L.index.fm.fingerprint, L.index.fm.partition
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from lanceref.index.fm.partition import END_OF_TEXT, SAMPLE_NODE, SAMPLE_RATE
from lanceref.index.fm.suffix_array import suffix_array
from lanceref.index.fm.wavelet import (
    BLOCK_WORDS,
    BYTES,
    Positions,
    Words,
    build_tree,
    node_bits,
    packed,
)
from lanceref.index.segment import SegmentWriter

FINGERPRINT_START = 0x19EE4BC3E3726EC5
"""What the hash of a partition begins with: found in the files."""

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
        words, ranks = packed(bits)
        rows += _rows(node, words, ranks, len(bits))
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
        "c_table": _hex(np.concatenate([[0], counts.cumsum()])),
        "row_ids": _hex(keys),
        "doc_start_positions": _hex(starts[: len(texts)]),
        "huffman_codes": tree.encode_codes().hex(),
        "tree_topology": tree.encode_topology().hex(),
        "partition_fingerprint": f"{fingerprint(texts, keys):016x}",
    }
    columns = [pa.array(one, field.type) for one, field in zip(_columns(rows), SCHEMA, strict=True)]
    writer.write_file(path, SCHEMA, [pa.record_batch(columns, schema=SCHEMA)], metadata)


def _rows(node: int, words: Words, ranks: Positions, num_bits: int) -> Iterable[Row]:
    """Return the rows of a node, a block each."""
    for block, rank in enumerate(ranks.tolist()):
        part = words[block * BLOCK_WORDS : (block + 1) * BLOCK_WORDS]
        yield node, block, part.astype("<u8").tobytes(), rank, num_bits


def _columns(rows: Sequence[Row]) -> Iterable[Sequence[object]]:
    return list(zip(*rows, strict=True)) if rows else [[]] * len(SCHEMA)


def _hex(numbers: Sequence[int] | Positions) -> str:
    return np.asarray(numbers, np.uint64).astype("<u8").tobytes().hex()
