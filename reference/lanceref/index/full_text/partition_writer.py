"""Partitions, written: documents are added one by one and get numbers in this order.

Tokens get numbers in the order in which they first appear. Occurrences of tokens in documents are
held by rising number of the token, those of a token by rising document, until a partition is
written; its rows of postings are made for many tokens at once.

Clauses: L.index.fts.postings
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.entries import Entries
from lanceref.index.full_text.analyzer import Documents
from lanceref.index.full_text.bm25 import Corpus, bounds, impact_runs, norms, weights
from lanceref.index.full_text.fst import build_fst
from lanceref.index.full_text.packed_integers import (
    ByteRuns,
    Counts,
    Numbers,
    offsets_of,
    ranges,
    split_groups,
)
from lanceref.index.full_text.parameters import Settings
from lanceref.index.full_text.partition import BLOCKS, DOC_INDEX, OFFSETS, Partition
from lanceref.index.full_text.posting_blocks import (
    Postings,
    encode_position_blobs,
    position_runs,
    posting_runs,
)
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.segment import SegmentWriter

READ_TOKENS = 1 << 10
"""Tokens whose postings are read together."""

BATCH_TOKENS = 1 << 13
"""Rows of postings that are written together."""

MOST_OCCURRENCES = 1 << 20
"""Occurrences that are encoded together, where one token has not more."""

NONE = np.empty(0, np.uint32)

SPREAD, TURN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
"""Odd numbers that spread what they multiply over 64 bits."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Of each token and document: their numbers, and how often one is in the other, uint32.

    `positions` are those of all, one after the other; empty where none are kept.
    """

    tokens: Numbers
    documents: Numbers
    frequencies: Numbers
    positions: Numbers


def _token_order(tokens: Numbers) -> NDArray[np.uint64]:
    """Return the places of tokens, equal ones in their order, by rising token."""
    order = np.arange(len(tokens), dtype=np.uint64)
    order |= tokens.astype(np.uint64) << np.uint64(32)
    order.sort()
    order &= np.uint64(0xFFFFFFFF)
    return order


def count_occurrences(
    tokens: Numbers, documents: Numbers, positions: Numbers | None
) -> Occurrences:
    """Return the occurrences of tokens [n], in the order of the text, in rising documents [n]."""
    order = _token_order(tokens)
    own, owners = tokens[order], documents[order]
    first = np.ones(len(own), np.bool_)
    first[1:] = (own[1:] != own[:-1]) | (owners[1:] != owners[:-1])
    starts = np.flatnonzero(first)
    frequencies = np.diff(starts, append=len(own)).astype(np.uint32)
    places = NONE if positions is None else positions[order]
    return Occurrences(own[starts], owners[starts], frequencies, places)


def merge_occurrences(parts: Sequence[Occurrences]) -> Occurrences:
    """Return the occurrences of all parts, whose documents follow each other."""
    columns = ([getattr(part, one.name) for part in parts] for one in fields(Occurrences))
    every = Occurrences(*(np.concatenate([NONE, *column]) for column in columns))
    if len(parts) < 2:
        return every
    order = _token_order(every.tokens)
    frequencies, places = every.frequencies[order], every.positions
    if len(places):
        starts = offsets_of(every.frequencies.astype(np.int64))[:-1]
        places = places[ranges(starts[order], frequencies.astype(np.int64))]
    return Occurrences(every.tokens[order], every.documents[order], frequencies, places)


@dataclass(frozen=True, slots=True)
class CompactOccurrences:
    """Occurrences until they are written, in numbers as narrow as hold them.

    `names` are the tokens, each once; of those before the i-th there are `ends[i]`. Documents count
    from `first` on.
    """

    names: Numbers
    ends: Counts
    first: int
    documents: NDArray[np.unsignedinteger]
    frequencies: NDArray[np.unsignedinteger]
    positions: Numbers

    @staticmethod
    def of(every: Occurrences) -> CompactOccurrences:
        """Return occurrences in the smallest integer types that hold them."""
        starts = np.flatnonzero(np.diff(every.tokens, prepend=np.uint32(0xFFFFFFFF)))
        first = int(every.documents.min(initial=0xFFFFFFFF)) if len(every.documents) else 0
        return CompactOccurrences(
            every.tokens[starts],
            np.append(starts, len(every.tokens)),
            first,
            _narrow(every.documents - np.uint32(first)),
            _narrow(every.frequencies),
            every.positions,
        )

    def counts(self, num_tokens: int) -> Counts:
        """Return in how many of the documents each token is: (tokens,)."""
        counts = np.zeros(num_tokens, np.int64)
        counts[self.names] = np.diff(self.ends)
        return counts

    def between(self, start: int, end: int) -> Occurrences:
        """Return the occurrences of the tokens from one to another."""
        low, high = np.searchsorted(self.names, [start, end]).tolist()
        own = slice(*self.ends[[low, high]].tolist())
        places = np.zeros(2, np.int64)
        if len(self.positions):
            places[0] = self.frequencies[: own.start].sum(dtype=np.int64)
            places[1] = places[0] + self.frequencies[own].sum(dtype=np.int64)
        return Occurrences(
            np.repeat(self.names[low:high], np.diff(self.ends[low : high + 1])),
            self.documents[own].astype(np.uint32) + np.uint32(self.first),
            self.frequencies[own].astype(np.uint32),
            self.positions[slice(*places.tolist())],
        )


def _narrow(numbers: Numbers) -> NDArray[np.unsignedinteger]:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


class PartitionWriter:
    """Collects the tokens of documents, and writes them as one partition.

    A document is a row, or an element below so many `levels` of lists.
    """

    def __init__(self, settings: Settings, levels: int = 0) -> None:
        self._settings = settings
        self._numbers = defaultdict[str, int](count().__next__)
        self._held: list[CompactOccurrences] = []
        self._keys: list[Keys] = [NO_KEYS]
        self._lengths: list[Numbers] = [NONE]
        self._elements: list[Numbers] = [np.empty((0, levels), np.uint32)]
        self.num_documents = 0

    def add(self, keys: Keys, documents: Documents) -> None:
        """Add the documents of a run of rows, whose keys are given. `keys` (rows,)."""
        first = self._begin(keys[documents.rows], documents.lengths, documents.elements)
        numbered = map(self._numbers.__getitem__, documents.tokens)
        tokens = np.fromiter(numbered, np.uint32, len(documents.tokens))
        numbers = np.arange(first, self.num_documents, dtype=np.uint32)
        positions = documents.positions if self._settings.analysis.with_position else None
        own = count_occurrences(tokens, np.repeat(numbers, documents.lengths), positions)
        self._held.append(CompactOccurrences.of(own))

    def _begin(self, keys: Keys, lengths: Numbers, elements: Numbers) -> int:
        """Count documents and return the number of the first."""
        first = self.num_documents
        self._keys.append(keys)
        self._lengths.append(lengths)
        self._elements.append(elements)
        self.num_documents += len(keys)
        return first

    def add_partition(self, partition: Partition, chosen: Counts, keys: Keys) -> None:
        """Add documents `chosen` (n,) of another partition, with the keys (n,) of their rows."""
        first = self._begin(keys, partition.lengths[chosen], partition.elements[chosen])
        numbers = np.full(len(partition.keys), -1, np.int64)
        numbers[chosen] = np.arange(first, self.num_documents)
        parts, tokens = [], sorted(partition.items(), key=lambda item: item[1])
        for begin in range(0, len(tokens), READ_TOKENS):
            run = tokens[begin : begin + READ_TOKENS]
            every = partition.many_postings(np.array([number for _, number in run]))
            for (token, number), postings in zip(run, every, strict=True):
                parts.append(self._remaining(partition, token, number, postings, numbers))
        self._held.append(CompactOccurrences.of(merge_occurrences(parts)))

    def _remaining(
        self, partition: Partition, token: str, number: int, postings: Postings, numbers: Counts
    ) -> Occurrences:
        """Return the occurrences of a token in the documents that stay, by their `numbers` here."""
        new = numbers[postings.documents]
        own = np.flatnonzero(new >= 0)
        places = [NONE]
        if self._settings.analysis.with_position and len(own):
            positions = partition.stored_positions(number)
            places += [positions[at] for at in own.tolist()]
        return Occurrences(
            np.full(len(own), self._numbers[token] if len(own) else 0, np.uint32),
            new[own].astype(np.uint32),
            postings.frequencies[own],
            np.concatenate(places),
        )

    def occurrences(self) -> Occurrences:
        """Return the occurrences of all tokens in all documents."""
        return merge_occurrences([one.between(0, len(self._numbers)) for one in self._held])

    def entries(self, skipped: frozenset[str], *, by_row: bool = False) -> Entries:
        """Return a number for each document of tokens not `skipped`: they, their places and its.

        One number for the documents of each row together, without places, with `by_row`.
        """
        every, keys = self.occurrences(), np.concatenate(self._keys)
        rows, documents = keys, every.documents
        if by_row:
            rows, numbers = np.unique(keys, return_inverse=True)
            documents = numbers.astype(np.uint32)[documents]
        tokens = np.fromiter(map(hash, self._numbers), np.int64, len(self._numbers))
        counted = np.array([one not in skipped for one in self._numbers], np.bool_)[every.tokens]
        own = np.repeat(tokens.view(np.uint64)[every.tokens], every.frequencies)
        if len(every.positions) and not by_row:
            own ^= every.positions * TURN
        own *= np.repeat(counted, every.frequencies)
        sums = np.zeros(len(rows), np.uint64)
        np.add.at(sums, np.repeat(documents, every.frequencies), own * SPREAD)
        for level in () if by_row else np.concatenate(self._elements).T:
            sums = (sums ^ level * TURN) * SPREAD
        kept = np.unique(documents[counted])
        return Entries(sums[kept] * SPREAD, rows[kept])

    def has_many_of_a_row(self) -> bool:
        """Whether a row has more than one document."""
        keys = np.concatenate(self._keys)
        return len(np.unique(keys)) < len(keys)

    def write(self, writer: SegmentWriter, number: int, folder: str = "") -> None:
        """Write the files of the partition, `folder` below those of the segment."""
        prefix = f"{folder}part_{number}_"
        numbered = sorted((token.encode(), number) for token, number in self._numbers.items())
        tokens = {
            "_token_fst_bytes": pa.array([build_fst(numbered)], pa.large_binary()),
            "_token_next_id": pa.array([len(numbered)], pa.uint32()),
            "_token_total_length": pa.array([sum(len(one) for one, _ in numbered)], pa.uint64()),
        }
        writer.write_columns(f"{prefix}tokens.lance", tokens)
        lengths = np.concatenate(self._lengths)
        documents = {"_rowid": np.concatenate(self._keys), "_num_tokens": lengths}
        for level, places in enumerate(np.concatenate(self._elements).T):
            documents[DOC_INDEX.format(level)] = places
        arrays = {name: pa.array(column) for name, column in documents.items()}
        total = {"total_tokens": f"{int(lengths.sum(dtype=np.uint64))}"}
        writer.write_columns(f"{prefix}docs.lance", arrays, total)
        schema = postings_schema(self._settings)
        batches = self._batches(schema, lengths)
        writer.write_file(f"{prefix}invert.lance", schema, batches, self._settings.metadata)

    def _batches(self, schema: pa.Schema, lengths: Numbers) -> Iterator[pa.RecordBatch]:
        none = np.zeros(len(self._numbers), np.int64)
        counts = sum((one.counts(len(self._numbers)) for one in self._held), none)
        for start, end in cut_tokens(counts):
            own = merge_occurrences([one.between(start, end) for one in self._held])
            yield self._rows(own, counts[start:end], lengths, schema)

    def _rows(
        self, own: Occurrences, counts: Counts, lengths: Numbers, schema: pa.Schema
    ) -> pa.RecordBatch:
        """Return the rows of tokens, in so many documents each: `counts` (tokens,)."""
        layout, documents = self._settings.layout, own.documents
        corpus = Corpus(len(lengths), int(lengths.sum(dtype=np.uint64)))
        norm = norms(lengths[documents], corpus.mean_length)
        postings = Postings(documents, own.frequencies)
        starts, sizes, blocks = split_groups(counts, layout.size)
        block_weights = np.repeat(weights(len(lengths), counts), blocks)
        scores = bounds(own.frequencies, norm, starts, block_weights)
        impacts, entries = impact_runs(postings, counts, lengths[documents], layout)
        columns = {
            "_posting": _lists(posting_runs(postings, counts, layout, scores), blocks),
            "_max_score": pa.array(np.maximum.reduceat(scores, offsets_of(blocks)[:-1])),
            "_length": pa.array(counts.astype(np.uint32)),
            "_impacts": _lists(impacts, entries),
        }
        if "_position" in schema.names:
            ends = np.cumsum(own.frequencies, dtype=np.int64)[:-1]
            blobs = [encode_position_blobs(one) for one in np.split(own.positions, ends)]
            lists = pa.array(blobs, pa.list_(pa.large_binary()))
            columns["_position"] = pa.ListArray.from_arrays(_list_offsets(counts), lists)
        elif "_compressed_position" in schema.names:
            runs = position_runs(own.positions, own.frequencies, sizes)
            ends, firsts = runs.ends[:-1], offsets_of(blocks)[:-1]
            begins = pa.array((ends - np.repeat(ends[firsts], blocks)).astype(np.uint32))
            columns["_compressed_position"] = _binaries(runs.merged(blocks))
            offsets = pa.ListArray.from_arrays(_list_offsets(blocks), begins, type=OFFSETS)
            columns["_position_block_offset"] = offsets
        return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def cut_tokens(counts: Counts) -> Iterator[tuple[int, int]]:
    """Yield runs of tokens with not too many rows or occurrences, by the `counts` (tokens,)."""
    ends, start = offsets_of(counts), 0
    while start < len(counts):
        limit = ends[start] + MOST_OCCURRENCES
        end = max(start + 1, int(np.searchsorted(ends, limit, side="right")) - 1)
        end = min(end, start + BATCH_TOKENS)
        yield start, end
        start = end


def postings_schema(settings: Settings) -> pa.Schema:
    """Return the schema of the file that holds postings."""
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


def _list_offsets(counts: Counts) -> pa.Array:
    return pa.array(offsets_of(counts).astype(np.int32))


def _binaries(runs: ByteRuns) -> pa.Array:
    buffers = [None, pa.py_buffer(runs.ends), pa.py_buffer(np.ascontiguousarray(runs.data))]
    return pa.Array.from_buffers(pa.large_binary(), len(runs.sizes), buffers)


def _lists(runs: ByteRuns, counts: Counts) -> pa.Array:
    return pa.ListArray.from_arrays(_list_offsets(counts), _binaries(runs))
