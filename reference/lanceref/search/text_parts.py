"""Text parts: documents that can be searched, whether an index holds them or not.

A partition of an index is a part; so are the documents of rows that no index covers, which are made
when they are asked for. The place of a document is the position of its row in the table, and of a
list's element the place there: position << 32 | element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.bm25 import Corpus
from lanceref.index.full_text.documents import Document
from lanceref.index.full_text.fst import Fst
from lanceref.index.full_text.impacts import rounded_lengths
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.posting_blocks import Postings
from lanceref.index.row_set import Keys

Places = NDArray[np.int64]
"""Places of documents, -1 for one that is not there."""

ELEMENT_BITS = 32


class TextPart(Protocol):
    """Documents, by number, and the tokens they hold."""

    @property
    def corpus(self) -> Corpus:
        """The documents and their tokens together."""

    @property
    def tokens(self) -> Mapping[str, int] | Fst:
        """Numbers of tokens."""

    @property
    def lengths(self) -> Numbers:
        """Lengths of documents, as they are scored."""

    def number_of(self, token: str) -> int | None:
        """Return the number of a token, None when no document holds it."""

    def document_count(self, number: int) -> int:
        """Return how many documents hold a token."""

    def postings(self, number: int) -> Postings:
        """Return the documents that hold a token."""

    def positions(self, number: int) -> list[Numbers] | None:
        """Return where a token stands in its documents, None if that is not known."""

    def places(self, documents: NDArray[np.integer]) -> Places:
        """Return where documents are."""


@dataclass
class IndexedPart:
    """A partition; `locate` says of keys of rows at which positions these are."""

    partition: Partition
    locate: Callable[[Keys], Places]
    rounded: bool

    @property
    def corpus(self) -> Corpus:
        """The documents, deleted ones too, and their tokens together."""
        return self.partition.corpus

    @property
    def tokens(self) -> Mapping[str, int] | Fst:
        """Numbers of tokens."""
        return self.partition.tokens

    @cached_property
    def lengths(self) -> Numbers:
        """Lengths of documents, rounded where blocks are large."""
        own = self.partition.lengths
        return rounded_lengths(own) if self.rounded else own  # L.index.fts.score.rounded-length

    def number_of(self, token: str) -> int | None:
        """Return the number of a token, None when no document holds it."""
        return self.partition.number_of(token)

    def document_count(self, number: int) -> int:
        """Return how many documents hold a token."""
        return self.partition.document_count(number)

    def postings(self, number: int) -> Postings:
        """Return the documents that hold a token."""
        return self.partition.postings(number)

    def positions(self, number: int) -> list[Numbers] | None:
        """Return where a token stands in its documents, None if that is not stored."""
        return self.partition.positions(number)

    def places(self, documents: NDArray[np.integer]) -> Places:
        """Return where documents are, -1 for those that are gone."""
        found = self.locate(self.partition.keys[documents])
        elements = self.partition.elements
        own = np.zeros(len(found), np.int64) if elements is None else elements[documents]
        return np.where(found < 0, -1, found << ELEMENT_BITS | own.astype(np.int64))


@dataclass
class _Token:
    documents: list[int] = field(default_factory=list)
    positions: list[list[int]] = field(default_factory=list)


class ReadPart:
    """Documents of rows that have been read."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._lengths: list[int] = []
        self._tokens: list[_Token] = []
        self._numbers: dict[str, int] = {}

    def add(self, documents: Iterator[Document], rows: Places) -> None:
        """Add the documents of rows at some positions."""
        for one in documents:
            number = len(self._places)
            self._places.append(int(rows[one.row]) << ELEMENT_BITS | one.element)
            self._lengths.append(len(one.tokens))
            for token, position in one.tokens:
                if token not in self._numbers:
                    self._numbers[token] = len(self._tokens)
                    self._tokens.append(_Token())
                held = self._tokens[self._numbers[token]]
                if held.documents[-1:] != [number]:
                    held.documents.append(number)
                    held.positions.append([])
                held.positions[-1].append(position)

    @property
    def corpus(self) -> Corpus:
        """The documents and their tokens together."""
        return Corpus(len(self._places), sum(self._lengths))

    @property
    def tokens(self) -> Mapping[str, int]:
        """Numbers of tokens."""
        return self._numbers

    @cached_property
    def lengths(self) -> Numbers:
        """Lengths of documents."""
        return np.array(self._lengths, np.uint32)

    def number_of(self, token: str) -> int | None:
        """Return the number of a token, None when no document holds it."""
        return self._numbers.get(token)

    def document_count(self, number: int) -> int:
        """Return how many documents hold a token."""
        return len(self._tokens[number].documents)

    def postings(self, number: int) -> Postings:
        """Return the documents that hold a token."""
        held = self._tokens[number]
        frequencies = np.array([len(one) for one in held.positions], np.uint32)
        return Postings(np.array(held.documents, np.uint32), frequencies)

    def positions(self, number: int) -> list[Numbers]:
        """Return where a token stands in its documents."""
        return [np.array(one, np.uint32) for one in self._tokens[number].positions]

    def places(self, documents: NDArray[np.integer]) -> Places:
        """Return where documents are."""
        found: Places = np.array(self._places, np.int64)[documents]
        return found
