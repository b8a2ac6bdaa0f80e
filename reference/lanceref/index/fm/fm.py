"""FM: the rows whose text contains another, however short, from the texts themselves.

A partition ends with the row that brings it to 10 000 texts, or to 16 MiB with a byte after each.
Rows that are null are in none, so that a negated predicate needs a scan. Rows found for a text with
a blank are candidates: the blank may be another byte there.

A step goes from an ending to the one that is a byte longer: its place is the number of smaller
bytes, and of the same byte before. Steps from an ending lead to a sample, of which is known where
it begins; the number of steps is how far after that the first one begins.

Clauses: L.index.fm.partition, L.index.fm.samples, L.index.fm.fingerprint

Divergences: D.index.fm-not-contains, D.index.fm-blank, D.index.fm-empty-text
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from lanceref.core.errors import FormatError
from lanceref.core.integers import unique
from lanceref.index.entries import Entries, compare
from lanceref.index.fm import partition as fm_partition
from lanceref.index.fm.wavelet import Positions
from lanceref.index.index_type import Built, Found, IndexType, Parameters, Sources
from lanceref.index.predicate import Contains, Predicate
from lanceref.index.row_set import NO_KEYS, Keys, RowSet
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import BINARY, TEXT, Training, accepts_types, mask_of
from lanceref.proto import index_pb2

RUN = 1 << 16
"""Endings that are looked at together."""

MOST_STEPS = 1024
"""Steps one by one; who needs more goes twice as far each time, from all endings together."""


def rows_with(partition: fm_partition.Partition, text: bytes) -> Keys:
    """Return the keys (occurrences,) of rows whose text holds another, in any order, repeated."""
    if not text:
        return partition.row_ids
    first, end = endings_with(partition, text)
    if first >= end:
        return partition.row_ids[:0]
    places = beginnings(partition, first, end)
    texts = np.searchsorted(partition.starts, places, side="right") - 1
    return partition.row_ids[unique(texts)]


def endings_with(partition: fm_partition.Partition, text: bytes) -> tuple[int, int]:
    """Return the first ending that begins with a text, and the one after the last."""
    ends = np.array([0, partition.num_bytes], np.int64)
    for byte in reversed(text):
        if byte not in partition.tree.paths or ends[0] >= ends[1]:
            return 0, 0
        ends = partition.firsts[byte] + partition.tree.count(byte, ends)
    return int(ends[0]), int(ends[1])


def step(partition: fm_partition.Partition, endings: Positions) -> Positions:
    """Return the endings that are a byte longer. `endings` and the result (n,)."""
    bytes_, before = partition.tree.bytes_at(endings)
    return partition.firsts[bytes_] + before


def beginnings(partition: fm_partition.Partition, first: int, end: int) -> Positions:
    """Return where neighbouring endings begin, in any order: (end - first,). Raises CorruptPage."""
    rate = partition.rate
    if (end - first) * rate > partition.num_bytes:
        return all_beginnings(partition)[first:end]
    endings = np.arange(first, end)
    found = []
    for count in range(MOST_STEPS):
        known = endings % rate == 0
        found.append(partition.samples[endings[known] // rate] + count)
        endings = endings[~known]
        if not len(endings):
            return np.concatenate(found) % partition.num_bytes
        endings = step(partition, endings)
    return all_beginnings(partition)[first:end]  # twice as far each time, from all endings


def all_beginnings(partition: fm_partition.Partition) -> Positions:
    """Return where endings begin: (endings,). Raises CorruptPage when no step leads to a sample."""
    size, rate = partition.num_bytes, partition.rate
    ends = np.empty(size, np.int64)
    for first in range(0, size, RUN):
        run = np.arange(first, min(first + RUN, size))
        ends[run] = step(partition, run)
    steps = np.ones(size, np.int64)
    ends[::rate] = np.arange(0, size, rate)
    steps[::rate] = 0
    for _ in range(size.bit_length() + 1):
        open_endings = ends % rate != 0
        if not open_endings.any():
            return (partition.samples[ends // rate] + steps) % size
        steps += steps[ends]
        ends = ends[ends]
    found = "endings from which no step leads to a sample"
    raise partition.file.corrupt("L.index.fm.samples", found, "a sample for every byte")


def texts_of(partition: fm_partition.Partition) -> list[bytes]:
    """Bring the texts back and compare them with their fingerprint. Raises CorruptPage."""
    size = partition.num_bytes
    begins = all_beginnings(partition)
    text = np.zeros(size, np.uint8)
    for first in range(0, size, RUN):
        run = np.arange(first, min(first + RUN, size))
        text[begins[run] - 1] = partition.tree.bytes_at(run)[0]
    ends = zip(partition.starts.tolist(), partition.ends.tolist(), strict=True)
    texts = [text[start:end].tobytes() for start, end in ends]
    found = f"{fm_partition.fingerprint(texts, partition.row_ids.tolist()):016x}"
    wanted = partition.file.text("partition_fingerprint")
    if found != wanted or len(unique(begins)) != size:
        clause = "L.index.fm.fingerprint"
        raise partition.file.corrupt(clause, f"texts of fingerprint {found}", wanted[:40])
    return texts


VERSION = 10
PARTITION_ROWS = 10_000
PARTITION_BYTES = 16 * 2**20

_PATH = re.compile(r"part_\d+_fm\.lance")


class Fm(IndexType):
    """The type; of the texts an opened segment reads what a search needs."""

    name, shown, details = "FM", "Fm", "lance.index.pb.FMIndexDetails"
    version = VERSION
    exact = (Contains,)
    accepts = staticmethod(accepts_types(*TEXT, *BINARY))
    address_version = 0
    rewrite_on_move = False
    rebuilt = True

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        paths = [one.path for one in segment.entry.files if _PATH.fullmatch(one.path)]
        if not paths:
            found = f"files {[one.path for one in segment.entry.files]}"
            raise FormatError("L.index.fm.partition", segment.place, found, "a partition")
        self.partitions: list[fm_partition.Partition] = [
            fm_partition.open_partition(segment.file(path)) for path in paths
        ]

    def search(self, predicate: Predicate) -> Found:
        """Return the rows whose text holds another, as both are stored."""
        assert isinstance(predicate, Contains)
        text = predicate.text.encode().translate(fm_partition.STORED)
        keys = [rows_with(one, text) for one in self.partitions]
        return RowSet.of(np.concatenate([NO_KEYS, *keys]))

    @classmethod
    def build(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Write the texts of rows, partition after partition."""
        for number, (texts, keys) in enumerate(_parts(training)):
            fm_partition.write_partition(f"part_{number}_fm.lance", texts, keys, writer)
        return Built(index_pb2.FMIndexDetails(), VERSION)

    @classmethod
    def rewrite(cls, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        """Build the index again over the rows of all sources."""
        return cls.build(training, writer, {})

    @classmethod
    def has_false_positives(cls, predicate: Predicate) -> bool:
        """Return whether the rows found for a text are candidates, since a blank is in it."""
        assert isinstance(predicate, Contains)
        return b" " in predicate.text.encode().translate(fm_partition.STORED)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Restore every text of every partition, which checks what is stored."""
        for partition in cls(segment).partitions:
            texts_of(partition)

    @classmethod
    def check_rows(cls, segment: Segment, training: Training) -> None:
        """Report a live row whose text, as it is stored, the index does not hold."""
        partitions = cls(segment).partitions
        texts = [text for one in partitions for text in texts_of(one)]
        keys = np.concatenate([NO_KEYS, *(one.row_ids for one in partitions)])
        stored = Entries(pa.array(texts, pa.large_binary()), keys)
        rows = [*_texts(training)]
        values = pa.array([text for text, _ in rows], pa.large_binary())
        wanted = Entries(values, np.array([key for _, key in rows], np.uint64))
        compare(segment, training, stored, wanted)


def _texts(training: Training) -> Iterator[tuple[bytes, int]]:
    """Yield each text as it is stored, and the key of its row."""
    for run in training.runs():
        values = run.values.drop_null().cast(pa.large_binary()).to_pylist()
        keys = run.keys[mask_of(run.values.is_valid())].tolist()
        for value, key in zip(values, keys, strict=True):
            yield value.translate(fm_partition.STORED), key


def _parts(training: Training) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield the texts of each partition, and their keys; one without any when there are none."""
    texts: list[bytes] = []
    keys: list[int] = []
    size, is_first = 0, True
    for text, key in _texts(training):
        texts.append(text)
        keys.append(key)
        size += len(text) + 1
        if len(texts) == PARTITION_ROWS or size >= PARTITION_BYTES:
            yield texts, keys
            texts, keys, size, is_first = [], [], 0, False
    if texts or is_first:
        yield texts, keys
