"""Search in an FM partition: the texts that hold a text, and all texts as they were.

A step goes from an ending to the one that is a byte longer: its place is the number of smaller
bytes, and of the same byte before. Steps from an ending lead to one of which is known where it
begins; the number of steps is how far behind that the first one begins.

Clauses: L.index.fm.samples, L.index.fm.fingerprint
"""

from __future__ import annotations

import numpy as np

from lanceref.core.errors import CorruptPage
from lanceref.core.integers import unique
from lanceref.index.fm.partition import Partition
from lanceref.index.fm.wavelet import Positions
from lanceref.index.fm.writer import fingerprint
from lanceref.index.row_set import Keys

RUN = 1 << 16
"""Endings that are looked at together."""

MOST_STEPS = 1024
"""Steps one by one; who needs more goes twice as far each time, from all endings together."""


def rows_with(partition: Partition, text: bytes) -> Keys:
    """Return the keys of the rows whose text holds another, in any order, repeated."""
    if not text:
        return partition.row_ids
    first, end = endings_with(partition, text)
    if first >= end:
        return partition.row_ids[:0]
    places = beginnings(partition, first, end)
    texts = np.searchsorted(partition.starts, places, side="right") - 1
    return partition.row_ids[unique(texts)]


def endings_with(partition: Partition, text: bytes) -> tuple[int, int]:
    """Return the first ending that begins with a text, and the one behind the last."""
    ends = np.array([0, partition.num_bytes], np.int64)
    partition.tree.prepare(text)
    for byte in reversed(text):
        if byte not in partition.tree.paths or ends[0] >= ends[1]:
            return 0, 0
        ends = partition.firsts[byte] + partition.tree.count(byte, ends)
    return int(ends[0]), int(ends[1])


def step(partition: Partition, endings: Positions) -> Positions:
    """Return the endings that are a byte longer."""
    bytes_, before = partition.tree.bytes_at(endings)
    return partition.firsts[bytes_] + before


def beginnings(partition: Partition, first: int, end: int) -> Positions:
    """Return where neighbouring endings begin, in any order. Raises CorruptPage."""
    rate = partition.samples.rate
    if (end - first) * rate > partition.num_bytes:
        return all_beginnings(partition)[first:end]
    partition.tree.prepare()
    endings = np.arange(first, end)
    found = []
    for count in range(MOST_STEPS):
        known = endings % rate == 0
        found.append(partition.samples.at(endings[known] // rate) + count)
        endings = endings[~known]
        if not len(endings):
            return np.concatenate(found) % partition.num_bytes
        endings = step(partition, endings)
    return all_beginnings(partition)[first:end]


def all_beginnings(partition: Partition) -> Positions:
    """Return where each ending begins. Raises CorruptPage when steps do not lead to a sample."""
    size, rate = partition.num_bytes, partition.samples.rate
    ends = np.empty(size, np.int64)
    partition.tree.prepare()
    for first in range(0, size, RUN):
        run = np.arange(first, min(first + RUN, size))
        ends[run] = step(partition, run)
    steps = np.ones(size, np.int64)
    ends[::rate] = np.arange(0, size, rate)
    steps[::rate] = 0
    for _ in range(size.bit_length() + 1):
        left = ends % rate != 0
        if not left.any():
            return (partition.samples.at(ends // rate) + steps) % size
        steps += steps[ends]
        ends = ends[ends]
    raise CorruptPage(
        "L.index.fm.samples",
        partition.file.place,
        found="endings from which no step leads to a sample",
        wanted="a sample for every byte of the text",
    )


def texts_of(partition: Partition) -> list[bytes]:
    """Bring the texts back and compare them with their fingerprint. Raises CorruptPage."""
    size = partition.num_bytes
    begins = all_beginnings(partition)
    text = np.zeros(size, np.uint8)
    for first in range(0, size, RUN):
        run = np.arange(first, min(first + RUN, size))
        text[begins[run] - 1] = partition.tree.bytes_at(run)[0]
    ends = zip(partition.starts.tolist(), partition.ends.tolist(), strict=True)
    texts = [text[start:end].tobytes() for start, end in ends]
    found = f"{fingerprint(texts, partition.row_ids.tolist()):016x}"
    wanted = partition.file.text("partition_fingerprint")
    if found != wanted or len(unique(begins)) != size:
        raise CorruptPage(
            "L.index.fm.fingerprint",
            partition.file.place,
            found=f"texts of fingerprint {found}",
            wanted=f"{wanted[:40]}, as the file says",
        )
    return texts
