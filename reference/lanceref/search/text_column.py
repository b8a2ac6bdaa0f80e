"""Text columns: the documents of a column that a full-text query searches.

Rows that segments of an index cover are searched in its partitions; the others are read and become
documents the same way, in memory. Without an index all rows are read, and words are taken as they
are. The place of a document is the position of its row in the table, and of a list's element the
place there: position << 32 | element. Where several lists are around a document, their places share
the bits.

Clauses: L.index.fts.score.statistics, L.index.fts.unindexed, L.index.fts.fuzzy-triple
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import QueryRefused
from lanceref.core.integers import is_in
from lanceref.index.full_text.analyzer import Analyzer, gather
from lanceref.index.full_text.bm25 import Corpus, rounded_lengths
from lanceref.index.full_text.inverted import Inverted, is_text
from lanceref.index.full_text.packed_integers import Numbers, offsets_of
from lanceref.index.full_text.parameters import NO_LIST, Analysis, DocumentGranularity, Settings
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.partition_writer import Occurrences, PartitionWriter
from lanceref.index.full_text.posting_blocks import LARGE, Postings
from lanceref.index.indices import Index, indexed_column, indexed_path
from lanceref.index.row_set import Keys
from lanceref.index.training import IndexedColumn
from lanceref.search.row_locator import Locate, Places, locator
from lanceref.search.snapshot import Snapshot
from lanceref.table.rows import FragmentRows

RUN_ROWS = 1 << 14

ELEMENT_BITS = 32

UNINDEXED = Analysis(
    max_token_length=None,
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
)
"""How text becomes tokens without an index."""


class ReadDocuments(PartitionWriter):
    """Documents of rows that have been read, with the attributes of a partition.

    The keys of their rows are positions in the table.
    """

    def __init__(self, levels: int) -> None:
        super().__init__(Settings(Analysis(with_position=True)), levels)

    @cached_property
    def _every(self) -> Occurrences:
        return self.occurrences()

    @property
    def corpus(self) -> Corpus:
        """The number of documents and of their tokens."""
        return Corpus(self.num_documents, int(self.lengths.sum(dtype=np.uint64)))

    @cached_property
    def keys(self) -> Keys:
        """Positions of the rows of documents in the table: (documents,)."""
        return np.concatenate(self._keys)

    @cached_property
    def elements(self) -> Numbers:
        """Places of the documents in the lists around them: (documents, levels)."""
        return np.concatenate(self._elements)

    @cached_property
    def lengths(self) -> Numbers:
        """Number of tokens of each document: (documents,)."""
        return np.concatenate(self._lengths)

    @property
    def tokens(self) -> Mapping[str, int]:
        """The numbers of tokens that documents hold."""
        return self._numbers

    def number_of(self, token: str) -> int | None:
        """Return the number of a token, None when no document holds it."""
        return self._numbers.get(token)

    def _range(self, number: int) -> slice:
        return slice(*np.searchsorted(self._every.tokens, [number, number + 1]).tolist())

    def document_count(self, number: int) -> int:
        """Return how many documents hold a token."""
        return len(self.postings(number).documents)

    def postings(self, number: int) -> Postings:
        """Return the documents that hold a token."""
        own = self._range(number)
        return Postings(self._every.documents[own], self._every.frequencies[own])

    def positions(self, number: int) -> list[Numbers]:
        """Return the positions of a token in its documents. Each is (occurrences,)."""
        own, ends = self._range(number), offsets_of(self._every.frequencies.astype(np.int64))
        return np.split(self._every.positions, ends[own.start : own.stop + 1])[1:-1]


@dataclass
class TextPart:
    """A partition, or documents that were read; `locate` returns the positions of their rows."""

    documents: Partition | ReadDocuments
    locate: Locate
    rounded: bool = False

    @property
    def is_indexed(self) -> bool:
        """Whether these are documents of an index."""
        return not isinstance(self.documents, ReadDocuments)

    @cached_property
    def lengths(self) -> Numbers:
        """Lengths of documents as they are scored, rounded where blocks are large: (documents,)."""
        own = self.documents.lengths
        return rounded_lengths(own) if self.rounded else own  # L.index.fts.score.rounded-length

    def places(self, numbers: NDArray[np.integer]) -> Places:
        """Return the places of documents, -1 for those that are deleted.

        `numbers` and the result (n,). Raises QueryRefused for places in lists that are too many.
        """
        rows = self.locate(self.documents.keys[numbers])
        own, levels = np.zeros(len(rows), np.int64), self.documents.elements[numbers].T
        bits = ELEMENT_BITS // max(len(levels), 1)
        for level in levels:
            if (level >> bits).any():
                raise QueryRefused(f"a list of nested lists has more than {1 << bits} elements")
            own = own << bits | level.astype(np.int64)
        return np.where(rows < 0, -1, rows << ELEMENT_BITS | own)


def places_in_lists(places: Places, levels: int) -> NDArray[np.uint32]:
    """Return the places in so many lists that places (n,) hold: (n, levels)."""
    bits = ELEMENT_BITS // max(levels, 1)
    shifts = np.arange(levels - 1, -1, -1) * bits
    return (places[:, None] >> shifts & (1 << bits) - 1).astype(np.uint32)


@dataclass
class TextColumn:
    """A column to be searched; `fast` leaves rows out that no index covers.

    Of these only the `allowed` ones count, by their positions in the table, ascending. `elements`
    says whether elements of lists are documents where no index does.
    """

    snapshot: Snapshot
    path: str
    column: IndexedColumn
    index: Index | None
    fast: bool = False
    borrowed: Analyzer | None = None
    elements: bool = False
    allowed: Places | None = None

    @cached_property
    def opened(self) -> list[tuple[Inverted, list[FragmentRows]]]:
        """The segments, opened, and the fragments that each covers."""
        opened: list[tuple[Inverted, list[FragmentRows]]] = []
        if self.index is None:
            return opened
        for segment in self.index.segments:
            one, covers = self.index.open(segment), segment.covers
            assert isinstance(one, Inverted)
            own = [rows for rows in self.snapshot.fragments if rows.fragment.id in covers]
            opened.append((one, own))
        return opened

    @cached_property
    def analyzer(self) -> Analyzer:
        """What makes tokens of documents and of queries."""
        if self.opened:
            return self.opened[0][0].analyzer
        return Analyzer(UNINDEXED) if self.borrowed is None else self.borrowed

    @property
    def list_elements(self) -> bool:
        """Whether each element of a list is a document of its own."""
        return self.opened[0][0].settings.list_elements if self.opened else self.elements

    @property
    def levels(self) -> int:
        """Number of lists around each of the documents."""
        return self.column.levels if self.list_elements else 0

    @cached_property
    def indexed(self) -> tuple[TextPart, ...]:
        """The partitions of all segments of the index."""
        parts = []
        for index, rows in self.opened:
            locate = locator(index, rows, index.deleted_fragments.astype(np.uint64))
            rounded = index.settings.analysis.block_size == LARGE
            parts += [TextPart(one, locate, rounded) for one in index.parts(self.levels)]
        return tuple(parts)

    @property
    def covered(self) -> Places:
        """Positions of the rows that segments cover, all rows where there is no index: (rows,)."""
        every = [rows for _, own in self.opened for rows in own]
        every = every if self.opened else [*self.snapshot.fragments]
        parts = [np.arange(rows.num_rows) + rows.rows_before for rows in every]
        return np.concatenate([np.empty(0, np.int64), *parts])

    @property
    def unindexed(self) -> list[FragmentRows]:
        """The fragments whose documents are read, as no segment covers them."""
        covered = {id(rows) for _, own in self.opened for rows in own}
        rest = [rows for rows in self.snapshot.fragments if id(rows) not in covered]
        return [] if self.fast else rest

    @cached_property
    def read(self) -> TextPart:
        """The documents of rows that no segment covers, of allowed ones only."""
        return self.everywhere if self.allowed is None else self._read(self.allowed)

    @cached_property
    def everywhere(self) -> TextPart:
        """The documents of all rows that no segment covers."""
        return self._read(None)  # L.index.fts.score.statistics

    def _read(self, allowed: Places | None) -> TextPart:
        # L.index.fts.unindexed
        read = ReadDocuments(self.levels)
        for rows in self.unindexed:
            start = rows.rows_before
            scan = rows.scan((self.column.top,), (), RUN_ROWS, 0, rows.num_rows)
            for count, (values,) in scan:
                own = np.arange(start, start + count)
                taken = own if allowed is None else own[is_in(own, allowed)]
                chosen = values.take(pa.array(taken - start)) if len(taken) < count else values
                texts = self.column.unnested(chosen)
                documents = gather(texts, self.analyzer, list_elements=self.list_elements)
                read.add(taken.astype(np.uint64), documents)
                start += count
        return TextPart(read, lambda keys: keys.astype(np.int64))

    @property
    def whole(self) -> list[TextPart]:
        """All parts, and the one that has the rows without an index."""
        return [*self.indexed, self.everywhere]

    def parts(self) -> Iterator[tuple[TextPart, Sequence[TextPart]]]:
        """Yield each part and those whose statistics it is scored by.

        Of the rows that no segment covers, only allowed ones are documents.
        """
        for part in self.indexed:
            yield part, [*self.indexed, self.read] if self.list_elements else self.indexed
        yield self.read, [*self.indexed, self.read]

    def tokens(self, text: str, *, plain: bool = False) -> list[tuple[str, int]]:
        """Return the tokens of a query, and their positions. Raises QueryRefused.

        A query of documents is triples of path, type and value, with `;` between them.
        `plain` words are taken as they are.
        """
        analyzer = Analyzer(UNINDEXED) if plain else self.analyzer
        if not self.analyzer.analysis.is_json:
            return analyzer.tokens(text)
        found: list[str] = []
        for triple in text.split(";"):
            path, *rest = triple.split(",", 2)
            if len(rest) < 2:
                raise QueryRefused(f"Invalid triple format: {triple}")
            kind, value = rest
            if kind not in ("str", "number", "bool", "null"):
                raise QueryRefused(f"Invalid triple type: {kind}")
            if kind == "str":
                found += (f"{path},str,{token}" for token, _ in analyzer.tokens(value))
            else:
                found.append(triple)
        return [(token, number) for number, token in enumerate(found)]

    def prefix(self, token: str, length: int) -> str:
        """Return the common beginning of tokens near one: of a triple, so much of its value."""
        # L.index.fts.fuzzy-triple
        if not self.analyzer.analysis.is_json:
            return token[:length]
        path, kind, value = token.split(",", 2)
        return f"{path},{kind},{value[:length]}"


def corpus_of(parts: Sequence[TextPart]) -> Corpus:
    """Return the statistics of the documents of several parts together."""
    return sum((part.documents.corpus for part in parts), Corpus())


def count_of(parts: Sequence[TextPart], token: str) -> int:
    """Return how many documents of parts hold a token."""
    numbers = [(part.documents, part.documents.number_of(token)) for part in parts]
    return sum(one.document_count(number) for one, number in numbers if number is not None)


def text_indices(snapshot: Snapshot, path: str, *, fast: bool = False) -> list[TextColumn]:
    """Return a column once for each full-text index over it."""
    indexed = indexed_column(snapshot.manifest.schema, path, lists=True)
    known = snapshot.indices.by_path.get(path, ())
    kinds = [one for one in known if one.kind.details == Inverted.details]
    return [TextColumn(snapshot, path, indexed, one, fast) for one in kinds]


def text_column(
    snapshot: Snapshot, path: str, granularity: DocumentGranularity | None, *, fast: bool
) -> TextColumn:
    """Find a column and the index that a query means. Raises QueryRefused."""
    try:
        path, _ = indexed_path(snapshot.manifest.schema, path, lists=True)
    except LookupError as error:
        found = f"'{path}' does not exist in the dataset schema"
        raise QueryRefused(f"FTS field path {found}") from error
    indexed = indexed_column(snapshot.manifest.schema, path, lists=True)
    type_ = indexed.field.arrow.type
    if not is_text(indexed.field):
        raise QueryRefused(
            f"FTS field '{path}' must resolve to Utf8, LargeUtf8, Utf8View, or JSON, got {type_}"
        )
    per_element = granularity is DocumentGranularity.LIST_ELEMENT
    if per_element and not indexed.levels:
        raise QueryRefused(NO_LIST.format(path))
    columns = text_indices(snapshot, path, fast=fast)
    if granularity is not None and columns:
        wanted = [one for one in columns if one.list_elements == per_element]
        if not wanted:
            raise QueryRefused(
                f"FTS query for field '{path}' requested {granularity.shown} document "
                f"granularity, but the existing FTS index uses a different granularity: "
                f"{_named(columns)}"
            )
        columns = wanted
    if len({one.list_elements for one in columns}) > 1:
        raise QueryRefused(
            f"Invalid user input: FTS query for field '{path}' is ambiguous because Row and "
            f"ListElement indexes coexist: {_named(columns)}; specify document_granularity"
        )
    if columns:
        return columns[0]
    return TextColumn(snapshot, path, indexed, None, fast, elements=per_element)


def _named(columns: Sequence[TextColumn]) -> str:
    kinds = {False: DocumentGranularity.ROW, True: DocumentGranularity.LIST_ELEMENT}
    names = ((one.index.name, kinds[one.list_elements]) for one in columns if one.index is not None)
    return ", ".join(f"'{name}' ({kind.shown})" for name, kind in sorted(names))
