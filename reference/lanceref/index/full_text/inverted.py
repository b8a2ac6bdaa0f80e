"""INVERTED: which documents hold a word, how often, and where.

An index is asked by full-text queries; by filters only where its tokens are the words of its text.
A segment has partitions that know nothing of each other.

Layout: `metadata.lance`, one row `deleted_fragments`, a Roaring bitmap; metadata params (JSON),
partitions (a JSON list of numbers), format_version, token_set_format, posting_block_size,
posting_tail_codec; of each partition three files.

Clauses: L.index.fts.partitions, L.index.fts.token-set-format, L.index.fts.deleted-fragments
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Place, UnknownIndex
from lanceref.file.schema import Field
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.bm25 import Corpus
from lanceref.index.full_text.check import check_partition, check_texts
from lanceref.index.full_text.details import Details, describe_full_text, parse_details
from lanceref.index.full_text.documents import gather
from lanceref.index.full_text.layouts import (
    METADATA,
    STAGING,
    first_number,
    is_staged,
    layout_of,
    staged,
)
from lanceref.index.full_text.parameters import Settings, requested
from lanceref.index.full_text.partition_writer import PartitionWriter
from lanceref.index.full_text.word_rows import keeps_words, rows_with, says_words
from lanceref.index.index_type import Built, Kind, Parameters, Staging
from lanceref.index.predicate import HasWords, Predicate
from lanceref.index.row_set import Keys, RowSet
from lanceref.index.segment import Moved, Segment, SegmentWriter, Stages
from lanceref.index.training import Training, leaf
from lanceref.table.roaring import parse_bitmap

ROWS = 1 << 14
"""Rows whose documents are held as words together."""

PARTITION_FILES = 3
"""Files of a partition: tokens, documents and postings."""

TOKEN_SETS = ("fst", "arrow")
SCHEMA = pa.schema([pa.field("deleted_fragments", pa.binary(), nullable=False)])


class Inverted:
    """An opened segment: its parameters are known, partitions are opened when they are asked."""

    def __init__(self, segment: Segment) -> None:
        self._segment, layout = segment, layout_of(segment)
        self._file, self.settings, self.partitions = (
            layout.file,
            layout.settings,
            layout.partitions,
        )
        if self._file is not None:
            format_ = self._file.metadata.get("token_set_format", "arrow")
            if format_ not in TOKEN_SETS:
                raise UnknownIndex(
                    "L.index.fts.token-set-format",
                    self._file.place,
                    found=format_[:40],
                    wanted=f"one of {TOKEN_SETS}",
                )
        if segment.entry.index_details.value:
            details = _is_of_elements(segment)
            self.settings = replace(self.settings, list_elements=details)

    @cached_property
    def analyzer(self) -> Analyzer:
        """What makes tokens of text."""
        return Analyzer(self.settings.analysis)

    @cached_property
    def deleted_fragments(self) -> NDArray[np.uint32]:
        """Fragments whose documents are to be ignored. Raises FormatError."""
        file = self._file
        if file is None or "deleted_fragments" not in file.names:
            return np.empty(0, np.uint32)
        rows = file.read("deleted_fragments", pa.binary())
        if len(rows) > 1 or (len(rows) and not rows[0].is_valid):
            raise CorruptPage(
                "L.index.fts.deleted-fragments",
                file.place,
                found=f"{len(rows)} rows",
                wanted="one bitmap",
            )
        if not len(rows):
            return np.empty(0, np.uint32)
        return parse_bitmap(Cursor(memoryview(rows[0].as_buffer()), 0, file.ctx))

    @property
    def origin(self) -> tuple[Context, Place]:
        """Where the parameters are said; of an early segment that it is there."""
        if self._file is None:
            return self._segment.ctx, self._segment.place
        return self._file.ctx, self._file.place

    @property
    def is_early(self) -> bool:
        """Whether the segment is of a release that had one partition."""
        return self._file is None

    @property
    def corpus(self) -> Corpus:
        """The documents of all partitions."""
        return sum((one.corpus for one in self.partitions), Corpus())

    def search(self, predicate: Predicate) -> RowSet | None:
        """Return the rows that hold some words, None where tokens are something else."""
        assert isinstance(predicate, HasWords)
        if not predicate.words or not keeps_words(self.settings.analysis):
            return None  # L.index.fts.words
        gone = self.deleted_fragments.astype(np.uint64)
        return rows_with(predicate.words, self.partitions, gone)

    def warm(self, *, positions: bool = False) -> int:
        """Keep all postings in memory; return how many parts there are. Raises FormatError."""
        return sum(one.warm(positions=positions) for one in self.partitions)

    def statistics(self) -> dict[str, object]:
        """Return the parameters, and the numbers of tokens and documents."""
        return {
            "params": self.settings.analysis.as_dict(),
            "num_tokens": sum(one.num_tokens for one in self.partitions),
            "num_docs": self.corpus.num_documents,
        }


def _is_of_elements(segment: Segment) -> bool:
    """Return whether the details say that elements of lists are documents. Raises BadProto."""
    found = parse_details(segment.entry.index_details.value, segment.place)
    return found.document_granularity == Details.LIST_ELEMENT


def _metadata(settings: Settings, numbers: Sequence[int]) -> dict[str, str]:
    """Return what is said of partitions."""
    found = {
        **settings.metadata,
        "params": settings.analysis.text,
        "partitions": json.dumps(list(numbers), separators=(",", ":")),
        "token_set_format": "fst",
    }
    found.setdefault("posting_tail_codec", "fixed32_v1")
    return found


def _write(
    settings: Settings, partitions: Sequence[PartitionWriter], writer: SegmentWriter
) -> Built:
    """Write partitions, then what says which there are."""
    with writer.stages.stage("copy_partitions", len(partitions), "partitions") as stage:
        for number, one in enumerate(partitions):
            one.write(writer, number)
            stage.more()
    with writer.stages.stage("write_metadata", 1, "files") as stage:
        none = pa.record_batch([pa.array([BitMap().serialize()], pa.binary())], schema=SCHEMA)
        writer.write_file(METADATA, SCHEMA, [none], _metadata(settings, range(len(partitions))))
        stage.more()
    return Built(settings.details, settings.index_version)


def _collect(training: Training, settings: Settings, stages: Stages) -> PartitionWriter:
    """Return a partition of the documents of rows."""
    into, analyzer = PartitionWriter(settings), Analyzer(settings.analysis)
    with stages.stage("tokenize_docs", unit="rows") as stage:
        for run in training.runs():
            for first in range(0, len(run.keys), ROWS):
                values = run.values.slice(first, ROWS)
                found = gather(values, analyzer, list_elements=settings.list_elements)
                into.add(run.keys[first : first + ROWS], found)
            stage.more(len(run.keys))
    return into


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows. Raises TypeError, ValueError."""
    settings = requested(parameters, json_documents=_is_json(training.type))
    return _write(settings, _filled(_collect(training, settings, writer.stages)), writer)


def stage(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows of some fragments, to be finished later. Raises TypeError, ValueError."""
    settings = requested(parameters, json_documents=_is_json(training.type))
    partition = _collect(training, settings, writer.stages)
    number = first_number(min((rows.fragment.id for rows in training.fragments), default=0))
    name, numbers = f"empty_{number}", []
    if partition.num_documents:
        partition.write(writer, number, STAGING)
        name, numbers = f"{number}", [number]
    path = f"{STAGING}part_{name}_metadata.lance"
    writer.write_file(path, pa.schema([]), [], _metadata(settings, numbers))
    return Built(settings.details, settings.index_version)


def finish(segment: Segment, writer: SegmentWriter) -> Built:
    """Write a staged segment, which may have been built by many, as one partition."""

    def unmoved(keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
        return np.ones(len(keys), np.bool_), keys

    stages, paths = writer.stages, staged([file.path for file in segment.entry.files])
    with stages.stage("read_partition_metadata", len(paths), "files") as stage:
        index = Inverted(segment)
        for _ in paths:
            stage.more()
    count = PARTITION_FILES * len(index.partitions)
    with stages.stage("remap_partition_files", count, "files") as stage:
        merged = _merged([(index, unmoved)], index.settings)
        stage.more(count)
    with stages.stage("write_merged_metadata", 1, "files") as stage:
        built = _write(index.settings, _filled(merged), writer)
        stage.more()
    return built


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments as one partition, and new rows as another.

    A segment whose rows just moved keeps a partition without documents.
    """
    opened = [(Inverted(segment), moved) for segment, moved in segments]
    settings = opened[0][0].settings
    merged = _merged(opened, settings)
    if len(opened) == 1 and opened[0][0].partitions and not training.fragments:
        return _write(settings, [merged], writer)
    added = _collect(training, settings, writer.stages)
    return _write(settings, [*_filled(merged), *_filled(added)], writer)


def _filled(partition: PartitionWriter) -> list[PartitionWriter]:
    """Return the partition when it has documents: others are not written."""
    return [partition] if partition.num_documents else []


def _merged(opened: Sequence[tuple[Inverted, Moved]], settings: Settings) -> PartitionWriter:
    """Return what is left of segments as one partition."""
    merged = PartitionWriter(settings)
    for index, moved in opened:
        for partition in index.partitions:
            kept, keys = _left(index, partition.keys, moved)
            merged.add_partition(partition, kept, keys)
    return merged


def _left(index: Inverted, keys: Keys, moved: Moved) -> tuple[NDArray[np.int64], Keys]:
    """Return the numbers of the documents that are left, and the keys of their rows now."""
    kept, left = moved(keys)
    gone = np.isin(keys[kept] >> np.uint64(32), index.deleted_fragments)
    return np.flatnonzero(kept)[~gone], left[~gone]


def _is_json(type_: pa.DataType) -> bool:
    return bool(pa.types.is_binary(type_) or pa.types.is_large_binary(type_))


def is_text(field: Field) -> bool:
    """Return whether a column holds text, lists of text, or JSON documents."""
    own = leaf(field)
    type_ = own.arrow.type
    if _is_json(type_):
        return own.logical_type == "json"
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        type_ = type_.value_type
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def check(segment: Segment) -> None:
    """Read all partitions, and report what is wrong and no query has to look at."""
    index = Inverted(segment)
    ctx, place = index.origin
    _ = index.deleted_fragments
    for partition in index.partitions:
        _ = partition.keys, partition.elements
        check_partition(partition, index.settings.layout, ctx, place)


def check_rows(segment: Segment, training: Training) -> None:
    """Hold the tokens against the texts of rows, but for those of early releases."""
    index = Inverted(segment)
    if not index.is_early:
        check_texts(segment, index.settings, index.partitions, training)


def kind_at(details: bytes) -> Kind:
    """Return the type of an entry: one that filters ask for words, or one that they do not."""
    return _OF_WORDS if says_words(details) else INVERTED


INVERTED = Kind(
    name="INVERTED",
    shown="Inverted",
    details="lance.table.InvertedIndexDetails",
    version=3,
    exact=(),
    inexact=(),
    accepts=is_text,
    open=Inverted,
    build=build,
    rewrite=rewrite,
    inherits="always",
    check=check,
    staging=Staging(stage, is_staged, finish),
    of_details=kind_at,
    describe=describe_full_text,
    check_rows=check_rows,
)
"""The index type."""

_OF_WORDS = replace(INVERTED, exact=(HasWords,))
"""The same where its tokens are words."""
