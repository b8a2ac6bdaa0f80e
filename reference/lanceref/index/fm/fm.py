"""FM: the rows whose text holds another, however short, from the texts themselves.

A partition ends with the row that brings it to 10 000 texts, or to 16 MiB with a byte behind each.
Rows that are null are nowhere: what is denied has to be looked at. So have rows that hold a text
with a blank, which may be another byte there.

Clauses: L.index.fm.partition
Divergences: D.index.fm-not-contains, D.index.fm-blank, D.index.fm-empty-text
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.errors import FormatError
from lanceref.file.schema import Field
from lanceref.index.fm.partition import STORED, Partition, open_partition
from lanceref.index.fm.search import rows_with, texts_of
from lanceref.index.fm.writer import write_partition
from lanceref.index.index_type import Built, Found, Kind, Parameters
from lanceref.index.predicate import Contains, Predicate
from lanceref.index.row_set import NO_KEYS, Keys, row_set
from lanceref.index.segment import Moved, Segment
from lanceref.index.segment_writer import SegmentWriter
from lanceref.index.training import Training, leaf
from lanceref.proto import index_pb2

VERSION = 10
PARTITION_ROWS = 10_000
PARTITION_BYTES = 16 * 2**20

_PATH = re.compile(r"part_\d+_fm\.lance")


class FmIndex:
    """An opened segment; of the texts it reads what a search needs."""

    def __init__(self, segment: Segment) -> None:
        paths = [one.path for one in segment.entry.files if _PATH.fullmatch(one.path)]
        if not paths:
            raise FormatError(
                "L.index.fm.partition",
                segment.place,
                found=f"files {[one.path for one in segment.entry.files]}",
                wanted="a partition",
            )
        self.partitions: list[Partition] = [open_partition(segment.file(path)) for path in paths]

    def search(self, predicate: Predicate) -> Found:
        """Return the rows whose text holds another, as both are stored."""
        assert isinstance(predicate, Contains)
        text = predicate.text.encode().translate(STORED)
        return row_set(
            np.concatenate([NO_KEYS, *(rows_with(one, text) for one in self.partitions)])
        )

    def statistics(self) -> dict[str, object]:
        """Return the number of partitions, of their bytes and texts."""
        return {
            "type": "Fm",
            "num_partitions": len(self.partitions),
            "total_bwt_len": sum(one.num_bytes for one in self.partitions),
            "total_docs": sum(len(one.row_ids) for one in self.partitions),
        }


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows."""
    for number, (texts, keys) in enumerate(_parts(training)):
        write_partition(f"part_{number}_fm.lance", texts, keys, writer)
    return Built(index_pb2.FMIndexDetails(), VERSION)


def _parts(training: Training) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield the texts of each partition, and their keys; one without any when there are none."""
    texts: list[bytes] = []
    keys: list[int] = []
    size, is_first = 0, True
    for run in training.runs():
        for value, key in zip(run.values.cast(pa.large_binary()), run.keys.tolist(), strict=True):
            if not value.is_valid:
                continue
            texts.append(value.as_py().translate(STORED))
            keys.append(key)
            size += len(texts[-1]) + 1
            if len(texts) == PARTITION_ROWS or size >= PARTITION_BYTES:
                yield texts, keys
                texts, keys, size, is_first = [], [], 0, False
    if texts or is_first:
        yield texts, keys


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Build over all rows anew."""
    return build(training, writer, {})


def has_blank(predicate: Predicate) -> bool:
    """Return whether a text that is looked for may be found where another is."""
    return isinstance(predicate, Contains) and b" " in predicate.text.encode().translate(STORED)


def has_bytes(field: Field) -> bool:
    """Return whether a column holds text or bytes."""
    type_, checks = leaf(field).arrow.type, pa.types
    return bool(
        checks.is_string(type_)
        or checks.is_large_string(type_)
        or checks.is_binary(type_)
        or checks.is_large_binary(type_)
    )


def check(segment: Segment) -> None:
    """Bring all texts back."""
    for partition in FmIndex(segment).partitions:
        texts_of(partition)


def entries(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return the texts, as they are stored, and the keys of their rows."""
    partitions = FmIndex(segment).partitions
    texts = [text for one in partitions for text in texts_of(one)]
    keys = np.concatenate([NO_KEYS, *(one.row_ids for one in partitions)])
    return pa.array(texts, pa.large_binary()), keys


def rows_of(training: Training, segment: Segment) -> Training:
    """Return rows with their texts as they are stored; of a null nothing is."""
    held = []
    for run in training.runs():
        values = run.values.cast(pa.large_binary()).to_pylist()
        texts = [(value or b"").translate(STORED) for value in values]
        held.append(replace(run, values=pa.array(texts, pa.large_binary())))
    return training.of(held)


FM = Kind(
    name="FM",
    shown="Fm",
    details="lance.index.pb.FMIndexDetails",
    version=VERSION,
    exact=(Contains,),
    inexact=(),
    accepts=has_bytes,
    open=FmIndex,
    build=build,
    rewrite=rewrite,
    address_version=0,
    rewrite_on_move=False,
    rebuilt=True,
    doubts=has_blank,
    check=check,
    entries=entries,
    rows_of=rows_of,
)
"""The index type."""
