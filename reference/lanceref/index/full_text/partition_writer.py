"""Partitions, written: documents are added one by one and get numbers in this order.

Tokens get numbers in the order in which they first appear.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.byte_runs import Counts, offsets_of
from lanceref.index.full_text.documents import Documents
from lanceref.index.full_text.fst_build import build_fst
from lanceref.index.full_text.occurrences import Kept, Occurrences, counted, gathered, keep
from lanceref.index.full_text.parameters import Settings
from lanceref.index.full_text.partition import BLOCKS, OFFSETS, Partition
from lanceref.index.full_text.posting_blocks import Postings
from lanceref.index.full_text.posting_rows import PostingRows
from lanceref.index.row_set import Keys
from lanceref.index.segment import SegmentWriter

READ_TOKENS = 1 << 10
"""Tokens whose postings are read together."""

BATCH_TOKENS = 1 << 13
"""Rows of postings that are written together."""

MOST_OCCURRENCES = 1 << 20
"""Occurrences that are encoded together, where one token has not more."""

TOKENS = pa.schema(
    [
        pa.field("_token_fst_bytes", pa.large_binary(), nullable=False),
        pa.field("_token_next_id", pa.uint32(), nullable=False),
        pa.field("_token_total_length", pa.uint64(), nullable=False),
    ]
)


class _Numbers(dict[str, int]):
    """Numbers of tokens, in the order in which they are asked for."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


class PartitionWriter:
    """Collects documents."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._numbers = _Numbers()
        self._held: list[Kept] = []
        self._keys: list[Keys] = []
        self._lengths: list[Numbers] = []
        self._elements: list[Numbers] = []
        self.num_documents = 0

    def add(self, keys: Keys, found: Documents) -> None:
        """Add the documents of a run of rows, whose keys are given."""
        first = self._begin(keys[found.rows], found.lengths, found.elements)
        tokens = np.fromiter(
            map(self._numbers.__getitem__, found.tokens), np.uint32, len(found.tokens)
        )
        numbers = np.arange(first, self.num_documents, dtype=np.uint32)
        positions = found.positions if self._settings.analysis.with_position else None
        self._held.append(keep(counted(tokens, np.repeat(numbers, found.lengths), positions)))

    def _begin(self, keys: Keys, lengths: Numbers, elements: Numbers) -> int:
        """Count documents and return the number of the first."""
        first = self.num_documents
        self._keys.append(keys)
        self._lengths.append(lengths)
        self._elements.append(elements)
        self.num_documents += len(keys)
        return first

    def add_partition(self, partition: Partition, kept: NDArray[np.int64], keys: Keys) -> None:
        """Add documents of another partition, by their numbers, with the keys of their rows."""
        elements = partition.elements
        own = np.zeros(len(kept), np.uint32) if elements is None else elements[kept]
        first = self._begin(keys, partition.lengths[kept].astype(np.uint32), own.astype(np.uint32))
        numbers = np.full(len(partition.keys), -1, np.int64)
        numbers[kept] = np.arange(first, self.num_documents)
        parts, tokens = [], sorted(partition.items(), key=lambda item: item[1])
        for begin in range(0, len(tokens), READ_TOKENS):
            run = tokens[begin : begin + READ_TOKENS]
            found = partition.many_postings(np.array([number for _, number in run]))
            for (token, number), postings in zip(run, found, strict=True):
                parts.append(self._left(partition, token, number, postings, numbers))
        self._held.append(keep(gathered(parts)))

    def _left(
        self,
        partition: Partition,
        token: str,
        number: int,
        postings: Postings,
        numbers: NDArray[np.int64],
    ) -> Occurrences:
        """Return what is left of a token's occurrences, in the documents' numbers here."""
        new = numbers[postings.documents]
        own = np.flatnonzero(new >= 0)
        places = [np.empty(0, np.uint32)]
        if self._settings.analysis.with_position and len(own):
            positions = partition.positions(number) or []
            places += [positions[at] for at in own.tolist()]
        return Occurrences(
            np.full(len(own), self._numbers[token] if len(own) else 0, np.uint32),
            new[own].astype(np.uint32),
            postings.frequencies[own],
            np.concatenate(places),
        )

    def write(self, writer: SegmentWriter, number: int, folder: str = "") -> None:
        """Write the files of the partition, `folder` below those of the segment."""
        prefix = f"{folder}part_{number}_"
        self._write_tokens(writer, f"{prefix}tokens.lance")
        self._write_documents(writer, f"{prefix}docs.lance")
        schema = postings_schema(self._settings)
        path = f"{prefix}invert.lance"
        writer.write_file(path, schema, self._batches(schema), self._settings.metadata)

    def _write_tokens(self, writer: SegmentWriter, path: str) -> None:
        numbered = sorted((token.encode(), number) for token, number in self._numbers.items())
        columns = [
            pa.array([build_fst(numbered)], pa.large_binary()),
            pa.array([len(numbered)], pa.uint32()),
            pa.array([sum(len(token) for token, _ in numbered)], pa.uint64()),
        ]
        writer.write_file(path, TOKENS, [pa.record_batch(columns, schema=TOKENS)])

    def _write_documents(self, writer: SegmentWriter, path: str) -> None:
        lengths = np.concatenate(self._lengths)
        columns = {"_rowid": np.concatenate(self._keys), "_num_tokens": lengths}
        if self._settings.list_elements:
            columns["_doc_index_0"] = np.concatenate(self._elements)
        arrays = {name: pa.array(column) for name, column in columns.items()}
        schema = pa.schema(
            [pa.field(name, column.type, nullable=False) for name, column in arrays.items()]
        )
        batch = pa.record_batch(list(arrays.values()), schema=schema)
        total = int(lengths.sum(dtype=np.uint64))
        writer.write_file(path, schema, [batch], {"total_tokens": f"{total}"})

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        lengths = np.concatenate(self._lengths)
        rows = PostingRows(self._settings, lengths)
        none = np.zeros(len(self._numbers), np.int64)
        counts = sum((one.counts(len(self._numbers)) for one in self._held), none)
        for start, end in cut_tokens(counts):
            held = gathered([one.of(start, end) for one in self._held])
            yield rows.batch(held, counts[start:end], schema)


def cut_tokens(counts: Counts) -> Iterator[tuple[int, int]]:
    """Yield runs of tokens, each from one to another, with not too many rows or occurrences."""
    ends, start = offsets_of(counts), 0
    while start < len(counts):
        limit = ends[start] + MOST_OCCURRENCES
        end = max(start + 1, int(np.searchsorted(ends, limit, side="right")) - 1)
        end = min(end, start + BATCH_TOKENS)
        yield start, end
        start = end


def postings_schema(settings: Settings) -> pa.Schema:
    """Return the columns of postings."""
    types = {
        "_posting": BLOCKS,
        "_max_score": pa.float32(),
        "_length": pa.uint32(),
        "_impacts": BLOCKS,
    }
    if settings.analysis.with_position and settings.format_version == 1:
        types["_position"] = pa.list_(BLOCKS)
    elif settings.analysis.with_position:
        types |= {"_compressed_position": pa.large_binary(), "_position_block_offset": OFFSETS}
    return pa.schema([pa.field(name, type_, nullable=False) for name, type_ in types.items()])
