"""INVERTED: which documents hold a word, how often, and where.

Full-text queries search an index; filters only where its tokens are the words of its text. A
segment has partitions that know nothing of each other.

Layout: `metadata.lance`, one row `deleted_fragments`, a Roaring bitmap; metadata params (JSON),
partitions (a JSON list of numbers), format_version, token_set_format, posting_block_size,
posting_tail_codec; of each partition three files. A segment that is not finished has all below
`staging/`, with a `part_{n}_metadata.lance` for each partition. Early ones have `tokens.lance`,
`docs.lance` and `invert.lance` and no other file.

Clauses: L.index.fts.partitions, L.index.fts.token-set-format, L.index.fts.deleted-fragments,
L.index.fts.staging, L.index.fts.early, L.index.fts.words, L.index.fts.tokens,
L.index.fts.impacts.count, L.index.fts.impacts.pairs, L.index.segment.complete
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, FormatError, Place, UnknownIndex
from lanceref.core.integers import intersection
from lanceref.file.schema import Field
from lanceref.index.entries import compare
from lanceref.index.full_text.analyzer import Analyzer, earlier_stop_words, gather
from lanceref.index.full_text.bm25 import impact_runs
from lanceref.index.full_text.parameters import (
    Details,
    Settings,
    is_list,
    parse_analysis,
    parse_details,
    parse_settings,
    requested,
    tokenizes_words,
)
from lanceref.index.full_text.partition import EarlyPartition, Partition, integer_list
from lanceref.index.full_text.partition_writer import PartitionWriter
from lanceref.index.full_text.posting_blocks import BlockLayout
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, IndexType, Kind, Parameters, Sources
from lanceref.index.predicate import HasWords, Predicate
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys, RowSet
from lanceref.index.segment import Moved, Segment, SegmentWriter, composed_moves
from lanceref.index.training import BINARY, TEXT, Training, is_any
from lanceref.proto.table_pb2 import IndexMetadata
from lanceref.table.roaring import parse_bitmap

METADATA = "metadata.lance"
STAGING = "staging/"
EARLY_TOKENS = "tokens.lance"

_STAGED = re.compile(STAGING + r"part_(empty_)?(\d{1,20})_metadata\.lance")

ROWS = 1 << 14
"""Rows whose documents are kept as words together."""

TOKEN_SETS = ("fst", "arrow")


def staged(entry: IndexMetadata) -> list[str]:
    """Return those of the files of a segment that describe staged partitions."""
    return sorted(file.path for file in entry.files if _STAGED.fullmatch(file.path))


def _opened(segment: Segment) -> tuple[IndexFile | None, Settings, tuple[Partition, ...]]:
    """Return the file with the metadata, parameters and partitions. Raises FormatError."""
    parts = staged(segment.entry)
    if not parts and segment.has(EARLY_TOKENS) and not segment.has(METADATA):
        early = segment.file(EARLY_TOKENS)  # L.index.fts.early
        analysis = parse_analysis(early.metadata.get("tokenizer", "{}"), early.place)
        return None, Settings(analysis, 1), (EarlyPartition(segment),)
    files = [segment.file(path) for path in parts or [METADATA]]
    settings = parse_settings(files[0].metadata, files[0].place)
    numbers: list[int] = []
    for file in files:
        if parse_settings(file.metadata, file.place) != settings:
            wanted = f"those of {parts[0]}"
            raise FormatError("L.index.fts.staging", file.place, "other parameters", wanted)
        listed = integer_list(file, "partitions")
        if listed is None:
            found, wanted = file.text("partitions")[:40], "a list of numbers"
            raise FormatError("L.index.fts.partitions", file.place, found, wanted)
        numbers += listed
    folder, numbers = (STAGING, sorted(set(numbers))) if parts else ("", numbers)
    partitions = [Partition(segment, one, settings.layout, folder) for one in numbers]
    return files[0], settings, tuple(partitions)


def is_text(field: Field) -> bool:
    """Return whether a field holds text, lists of text, or JSON documents."""
    type_ = field.arrow.type
    if is_any(type_, *BINARY):
        return field.logical_type == "json"
    if is_list(type_):
        type_ = type_.value_type
    return is_any(type_, *TEXT)


class Inverted(IndexType):
    """The type; `file` has the metadata of an opened segment, None for an early one."""

    name, shown, details = "INVERTED", "Inverted", "lance.table.InvertedIndexDetails"
    version = 3
    accepts = staticmethod(is_text)
    inherits = "always"
    stages = True
    below_lists = True

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self.file, self.settings, self.partitions = _opened(segment)
        if self.file is not None:
            format_ = self.file.metadata.get("token_set_format", "arrow")
            if format_ not in TOKEN_SETS:
                place, wanted = self.file.place, f"one of {TOKEN_SETS}"
                raise UnknownIndex("L.index.fts.token-set-format", place, format_[:40], wanted)
        if segment.entry.index_details.value:
            details = parse_details(segment.entry.index_details.value, segment.place)
            per_element = details.document_granularity == Details.LIST_ELEMENT
            self.settings = replace(self.settings, list_elements=per_element)

    @property
    def levels(self) -> int:
        """Number of lists around a document of the first partition; one without partitions."""
        return self.partitions[0].levels if self.partitions else int(self.settings.list_elements)

    def parts(self, levels: int) -> Sequence[Partition]:
        """Return the partitions, whose documents are below so many lists. Raises FormatError."""
        for one in self.partitions:
            if one.levels != levels:
                origin = self.segment if self.file is None else self.file
                found, wanted = f"documents below {one.levels} lists", levels
                raise FormatError("L.index.fts.docs", origin.place, found, wanted)
        return self.partitions

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that cuts text into tokens, as the parameters say."""
        return Analyzer(self.settings.analysis)

    @cached_property
    def deleted_fragments(self) -> NDArray[np.uint32]:
        """Fragments (n,) whose documents are to be ignored, ascending. Raises FormatError."""
        file = self.file
        if file is None or "deleted_fragments" not in file.names:
            return np.empty(0, np.uint32)
        rows = file.read("deleted_fragments", pa.binary())
        if len(rows) > 1 or rows.null_count:
            clause = "L.index.fts.deleted-fragments"
            raise CorruptPage(clause, file.place, f"{len(rows)} rows", "one bitmap")
        if not len(rows):
            return np.empty(0, np.uint32)
        return parse_bitmap(Cursor(memoryview(rows[0].as_buffer()), 0, file.ctx))

    def search(self, predicate: Predicate) -> RowSet | None:
        """Return the rows that hold some words, None where tokens are something else."""
        assert isinstance(predicate, HasWords)
        if not predicate.words or not self.settings.analysis.keeps_words:
            return None  # L.index.fts.words
        gone = self.deleted_fragments.astype(np.uint64)
        return rows_with(predicate.words, self.partitions, gone)

    def warm(self, *, positions: bool = False) -> None:
        """Keep all postings in memory, with their positions on demand. Raises FormatError."""
        for one in self.partitions:
            one.warm(positions=positions)

    @classmethod
    def build(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Build the index over the rows of a training. Raises TypeError, ValueError."""
        settings = requested(parameters, json_documents=is_any(training.type, *BINARY))
        return _write(settings, [_collect(training, settings)], writer)

    @classmethod
    def stage(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Build over rows of some fragments, to be finished later. Raises TypeError, ValueError."""
        settings = requested(parameters, json_documents=is_any(training.type, *BINARY))
        partition = _collect(training, settings)
        number = min((rows.fragment.id for rows in training.fragments), default=0) << int(SHIFT)
        name, numbers = f"empty_{number}", []
        if partition.num_documents:
            partition.write(writer, number, STAGING)
            name, numbers = f"{number}", [number]
        path = f"{STAGING}part_{name}_metadata.lance"
        writer.write_file(path, pa.schema([]), [], _metadata(settings, numbers))
        return Built(settings.details, settings.index_version)

    @classmethod
    def is_staged(cls, entry: IndexMetadata) -> bool:
        """Return whether partitions of the segment are staged."""
        return bool(staged(entry))

    @classmethod
    def finish(cls, segment: Segment, writer: SegmentWriter) -> Built:
        """Write a staged segment, which may have been built by many, as one partition."""
        index = cls(segment)
        merged = _merged([(index, composed_moves())], index.settings, index.levels)
        return _write(index.settings, [merged], writer)

    @classmethod
    def rewrite(cls, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        """Write what is left of segments as one partition, and new rows as another.

        A segment whose rows just moved keeps a partition without documents.
        """
        opened = [(cls(segment), moved) for segment, moved in sources]
        settings = opened[0][0].settings
        merged = _merged(opened, settings, _levels(training, settings))
        if len(opened) == 1 and opened[0][0].partitions and not training.fragments:
            return _write(settings, [merged], writer, keep_empty=True)
        return _write(settings, [merged, _collect(training, settings)], writer)

    @classmethod
    def of_details(cls, details: bytes) -> Kind:
        """Return the type of an entry: whether filters search it for words."""
        return OfWords if tokenizes_words(details) else Inverted

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Read all partitions, and report what is wrong and no query has to look at."""
        index = cls(segment)
        origin = segment if index.file is None else index.file
        _ = index.deleted_fragments
        for partition in index.partitions:
            _ = partition.keys, partition.elements
            _check_partition(partition, index.settings.layout, origin.ctx, origin.place)

    @classmethod
    def check_rows(cls, segment: Segment, training: Training) -> None:
        """Report a live row whose tokens are not those of its text; not of early releases."""
        index = cls(segment)
        if index.file is not None:
            wanted, origin = _levels(training, index.settings), index.file
            if index.partitions and index.levels != wanted:
                found = f"documents below {index.levels} lists"
                origin.ctx.lint("L.index.fts.docs", origin.place, found, wanted)
            stored = _merged([(index, composed_moves())], index.settings, index.levels)
            analysis = index.settings.analysis
            skipped = Analyzer(analysis).stop_words  # releases up to 7 had fewer
            if skipped and analysis.custom_stop_words is None:
                skipped |= earlier_stop_words(analysis.language)
            # releases up to 8 made a document of each text of a list
            early = training.indexed.levels > index.levels == 0 and stored.has_many_of_a_row()
            settings = replace(index.settings, list_elements=True) if early else index.settings
            expected = _collect(training, settings)
            both = (one.entries(skipped, by_row=early) for one in (stored, expected))
            compare(segment, training, *both)


class OfWords(Inverted):
    """The same where its tokens are words, which filters search."""

    exact = (HasWords,)


def rows_with(words: Sequence[str], parts: Sequence[Partition], gone: Keys) -> RowSet:
    """Return the rows that hold every word, without those of fragments that are `gone` (n,)."""
    keys = [NO_KEYS]
    for part in parts:
        numbers = [part.number_of(word) for word in words]
        known = [part.postings(one).documents for one in numbers if one is not None]
        if known and len(known) == len(words):
            keys.append(part.keys[reduce(intersection, known)])
    every = np.concatenate(keys)
    return RowSet.of(every[~np.isin(every >> SHIFT, gone)])


def _metadata(settings: Settings, numbers: Sequence[int]) -> dict[str, str]:
    return {
        "posting_tail_codec": "fixed32_v1",
        **settings.metadata,
        "params": settings.analysis.text,
        "partitions": json.dumps(list(numbers), separators=(",", ":")),
        "token_set_format": "fst",
    }


def _write(
    settings: Settings,
    partitions: Sequence[PartitionWriter],
    writer: SegmentWriter,
    *,
    keep_empty: bool = False,
) -> Built:
    """Write partitions, those without documents on demand, then the file that lists them.

    That elements of lists are the documents only the columns of a partition say: one is written.
    """
    written = [one for one in partitions if keep_empty or one.num_documents]
    if not written and settings.list_elements:
        written = [partitions[-1]]
    for number, one in enumerate(written):
        one.write(writer, number)
    none = {"deleted_fragments": pa.array([bitmaps.BitMap().serialize()], pa.binary())}
    writer.write_columns(METADATA, none, _metadata(settings, range(len(written))))
    return Built(settings.details, settings.index_version)


def _collect(training: Training, settings: Settings) -> PartitionWriter:
    into = PartitionWriter(settings, _levels(training, settings))
    analyzer = Analyzer(settings.analysis)
    for run in training.runs():
        for first in range(0, len(run.keys), ROWS):
            values = run.values.slice(first, ROWS)
            documents = gather(values, analyzer, list_elements=settings.list_elements)
            into.add(run.keys[first : first + ROWS], documents)
    return into


def _levels(training: Training, settings: Settings) -> int:
    return training.indexed.levels if settings.list_elements else 0


def _merged(
    opened: Sequence[tuple[Inverted, Moved]], settings: Settings, levels: int
) -> PartitionWriter:
    """Return what is left of segments as one partition. Raises FormatError."""
    merged = PartitionWriter(settings, levels)
    for index, moved in opened:
        for partition in index.parts(levels):
            mask, keys = moved(partition.keys)
            gone = np.isin(partition.keys[mask] >> SHIFT, index.deleted_fragments)
            merged.add_partition(partition, np.flatnonzero(mask)[~gone], keys[~gone])
    return merged


def _check_partition(partition: Partition, layout: BlockLayout, ctx: Context, place: Place) -> None:
    """Read all documents and postings; report numbers that are not those of the tokens, once each.

    Impacts that are not those of the documents are reported too. Raises FormatError.
    """
    lengths = partition.lengths
    numbers = []
    for token, number in partition.items():
        numbers.append(number)
        postings = partition.postings(number)
        partition.positions(number)
        impacts, count = partition.impacts(number), len(postings.documents)
        if impacts is None:
            continue
        wanted: list[bytes] = []
        if count:
            own = lengths[postings.documents]
            wanted = impact_runs(postings, np.array([count]), own, layout)[0].as_bytes()
        found = f"{len(impacts)} impacts of {token!r}"
        if len(impacts) != len(wanted):
            ctx.lint("L.index.fts.impacts.count", place, found, len(wanted))
        elif impacts != wanted:
            ctx.lint("L.index.fts.impacts.pairs", place, found, "pairs that no document exceeds")
    if sorted(numbers) != list(range(partition.num_tokens)):
        found, each = f"numbers {sorted(numbers)[:8]}", f"each below {partition.num_tokens} once"
        ctx.lint("L.index.fts.tokens", place, found, each)
