"""Text columns: the parts of a column that a full-text query searches.

Rows that segments of an index cover are searched in these; the others are read and made documents
the same way, in memory. Without an index all rows are read, and words are taken as they stand.

Clauses: L.index.fts.score.statistics, L.index.fts.unindexed, L.index.fts.unindexed.list,
L.index.fts.fuzzy-triple
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from lanceref.core.errors import QueryRefused
from lanceref.core.integers import is_in
from lanceref.file.schema import Field, project
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.bm25 import Corpus
from lanceref.index.full_text.documents import Document, as_text, documents, joined
from lanceref.index.full_text.inverted import INVERTED, Inverted, is_text
from lanceref.index.full_text.parameters import NO_LIST, Analysis, DocumentGranularity, is_list
from lanceref.index.full_text.posting_blocks import LARGE
from lanceref.index.indices import Index
from lanceref.index.segment import Segment
from lanceref.index.training import leaf, unnested
from lanceref.search.row_locator import locator
from lanceref.search.snapshot import Snapshot
from lanceref.search.text_parts import IndexedPart, Places, ReadPart, TextPart
from lanceref.table.rows import FragmentRows

RUN_ROWS = 1 << 14

UNINDEXED = Analysis(
    max_token_length=None,
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
)
"""How text becomes tokens where no index says."""


@dataclass
class TextColumn:
    """A column to be searched; `fast` leaves rows out that no index covers.

    Of these only the `allowed` ones count, by their positions in the table, ascending. `elements`
    says whether elements of lists are documents where no index does.
    """

    snapshot: Snapshot
    path: str
    field: Field
    index: Index | None
    fast: bool = False
    borrowed: Analyzer | None = None
    elements: bool = False
    allowed: Places | None = None

    @cached_property
    def opened(self) -> list[tuple[Segment, Inverted, bool]]:
        """The segments, opened, and whether their keys are addresses."""
        found = []
        for segment in self.index.segments if self.index is not None else ():
            assert self.index is not None
            one = self.index.open(segment)
            assert isinstance(one.index, Inverted)
            found.append((segment, one.index, one.by_address))
        return found

    @cached_property
    def analyzer(self) -> Analyzer:
        """What makes tokens of documents and of what is asked."""
        if self.opened:
            return self.opened[0][1].analyzer
        return Analyzer(UNINDEXED) if self.borrowed is None else self.borrowed

    @property
    def list_elements(self) -> bool:
        """Whether elements of lists are documents."""
        return self.opened[0][1].settings.list_elements if self.opened else self.elements

    @cached_property
    def indexed(self) -> tuple[IndexedPart, ...]:
        """The partitions of all segments."""
        parts = []
        for segment, index, by_address in self.opened:
            moves = segment.moves if by_address else None
            locate = locator(self._covered(segment), moves, index.deleted_fragments, by_address)
            rounded = index.settings.analysis.block_size == LARGE
            parts += [IndexedPart(one, locate, rounded) for one in index.partitions]
        return tuple(parts)

    @property
    def covered(self) -> Places:
        """Positions of the rows that segments cover, all rows where there is no index."""
        every = list(self.snapshot.fragments)
        if self.opened:
            every = [rows for one, _, _ in self.opened for rows in self._covered(one)]
        parts = [np.arange(rows.num_rows) + rows.rows_before for rows in every]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def _covered(self, segment: Segment) -> list[FragmentRows]:
        covers = segment.covers
        return [rows for rows in self.snapshot.fragments if rows.fragment.id in covers]

    @cached_property
    def read(self) -> ReadPart:
        """The documents of rows that no segment covers, of allowed ones only."""
        return self.everywhere if self.allowed is None else self._read(self.allowed)

    @cached_property
    def everywhere(self) -> ReadPart:
        """The documents of all rows that no segment covers."""
        return self._read(None)

    @property
    def unindexed(self) -> list[FragmentRows]:
        """The fragments whose documents are read, as no segment covers them."""
        covered = {id(rows) for one, _, _ in self.opened for rows in self._covered(one)}
        rest = [rows for rows in self.snapshot.fragments if id(rows) not in covered]
        return [] if self.fast else rest

    def _read(self, allowed: Places | None) -> ReadPart:
        part = ReadPart()
        for rows in self.unindexed:
            start = rows.rows_before
            for count, (values,) in rows.scan((self.field,), (), RUN_ROWS, 0, rows.num_rows):
                own = np.arange(start, start + count)
                kept = own if allowed is None else own[is_in(own, allowed)]
                chosen = values.take(pa.array(kept - start)) if len(kept) < count else values
                part.add(self._documents(unnested(chosen, self.field)), kept)
                start += count
        return part

    def _documents(self, values: pa.Array) -> Iterator[Document]:
        if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
            values = values if self.list_elements else joined(values)  # L.index.fts.unindexed.list
        elif not self.analyzer.analysis.is_json:
            values = pa.array(as_text(values), pa.large_string())  # JSON without an index is text
        return documents(values, self.analyzer, list_elements=self.list_elements)

    @property
    def everything(self) -> list[TextPart]:
        """All parts, with rows that no segment covers only where they are allowed."""
        return [*self.indexed, self.read]

    @property
    def whole(self) -> list[TextPart]:
        """All parts with all rows."""
        return [*self.indexed, self.everywhere]

    def parts(self) -> Iterator[tuple[TextPart, Sequence[TextPart]]]:
        """Yield each part and those whose statistics it is scored by."""
        indexed: list[TextPart] = [*self.indexed]
        for part in indexed:
            yield part, self.everything if self.list_elements else indexed
        yield self.read, self.everything

    def tokens(self, text: str, *, plain: bool = False) -> list[tuple[str, int]]:
        """Return the tokens of what is asked, and their positions. Raises QueryRefused.

        `plain` words are taken as they stand.
        """
        analyzer = Analyzer(UNINDEXED) if plain else self.analyzer
        if not self.analyzer.analysis.is_json:
            return analyzer.tokens(text)
        path, *rest = text.split(",", 2)
        if len(rest) < 2:
            raise QueryRefused(f"Invalid triple format: {text}")
        kind, value = rest
        if kind not in ("str", "number", "bool", "null"):
            raise QueryRefused(f"Invalid triple type: {kind}")
        if kind != "str":
            return [(text, 0)]
        words = analyzer.tokens(value)
        return [(f"{path},str,{token}", number) for number, (token, _) in enumerate(words)]

    def beginning(self, token: str, length: int) -> str:
        """Return what is asked of the beginning of tokens near one: of a triple its value's."""
        if not self.analyzer.analysis.is_json:
            return token[:length]
        path, kind, value = token.split(",", 2)
        return f"{path},{kind},{value[:length]}"


def corpus_of(parts: Sequence[TextPart]) -> Corpus:
    """Return the documents of parts together."""
    return sum((part.corpus for part in parts), Corpus())


def count_of(parts: Sequence[TextPart], token: str) -> int:
    """Return how many documents of parts hold a token."""
    numbers = [(part, part.number_of(token)) for part in parts]
    return sum(part.document_count(one) for part, one in numbers if one is not None)


def text_indices(snapshot: Snapshot, path: str, *, fast: bool = False) -> list[TextColumn]:
    """Return a column once for each full-text index over it."""
    known = [
        one
        for one in snapshot.indices.by_path.get(path, ())
        if one.kind.details == INVERTED.details
    ]
    (field,) = project(snapshot.manifest.schema, [path])
    return [TextColumn(snapshot, path, field, one, fast) for one in known]


def text_column(
    snapshot: Snapshot, path: str, granularity: DocumentGranularity | None, *, fast: bool
) -> TextColumn:
    """Find a column and the index that a query means. Raises QueryRefused."""
    try:
        (field,) = project(snapshot.manifest.schema, [path])
    except LookupError as error:
        raise QueryRefused(
            f"FTS field path '{path}' does not exist in the dataset schema"
        ) from error
    if not is_text(field):
        raise QueryRefused(
            f"FTS field '{path}' must resolve to Utf8, LargeUtf8, Utf8View, or JSON, "
            f"got {leaf(field).arrow.type}"
        )
    per_element = granularity is DocumentGranularity.LIST_ELEMENT
    if per_element and not is_list(leaf(field).arrow.type):
        raise QueryRefused(NO_LIST.format(path))
    columns = text_indices(snapshot, path, fast=fast)
    if granularity is not None and columns:
        found = [one for one in columns if one.list_elements == per_element]
        if not found:
            raise QueryRefused(
                f"FTS query for field '{path}' requested {granularity.shown} document "
                f"granularity, but the existing FTS index uses a different granularity: "
                f"{_named(columns)}"
            )
        columns = found
    if len({one.list_elements for one in columns}) > 1:
        raise QueryRefused(
            f"Invalid user input: FTS query for field '{path}' is ambiguous because Row and "
            f"ListElement indexes coexist: {_named(columns)}; specify document_granularity"
        )
    if columns:
        return columns[0]
    return TextColumn(snapshot, path, field, None, fast, elements=per_element)


def _named(columns: Sequence[TextColumn]) -> str:
    """Return the names of the indices of a column, with their granularity."""
    kinds = {False: DocumentGranularity.ROW, True: DocumentGranularity.LIST_ELEMENT}
    names = ((one.index.name, kinds[one.list_elements]) for one in columns if one.index is not None)
    return ", ".join(f"'{name}' ({kind.shown})" for name, kind in sorted(names))
