"""Partitions: a part of an index with tokens, documents and postings of its own.

A number of a token is a row of the postings, a number of a document a row of the documents. Only
the postings of tokens that are asked for are read.

Layout: `part_{n}_tokens.lance`, one row: `_token_fst_bytes`, `_token_next_id`,
`_token_total_length` (older: a row for each token, `_token`, `_token_id`); `part_{n}_docs.lance`:
`_rowid`, `_num_tokens`, `_doc_index_{level}` where elements of lists are documents;
`part_{n}_invert.lance`: `_posting`, `_max_score`, `_length`, `_impacts`, and positions.

Early indices have one part: `tokens.lance`, a row for each token: `_token`, `_token_id`, and the
parameters as `tokenizer` in its metadata; `docs.lance`: `_rowid`, `_num_tokens`; `invert.lance`, a
row for each document of each token: `_rowid`, `_frequency` (a float), and `_position`, a list; its
metadata `offsets`, a JSON list, has of each token the row where its rows begin.

Clauses: L.index.fts.tokens, L.index.fts.docs, L.index.fts.total-tokens, L.index.fts.postings,
L.index.fts.positions.offsets, L.index.fts.early.offsets, L.index.fts.early.documents
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import expect
from lanceref.core.errors import CorruptPage, FormatError, OutOfRange
from lanceref.index.full_text.bm25 import Corpus
from lanceref.index.full_text.fst import Fst, parse_fst
from lanceref.index.full_text.packed_integers import Counts, Numbers
from lanceref.index.full_text.posting_blocks import (
    Blobs,
    BlockLayout,
    Postings,
    parse_position_blobs,
    parse_positions,
    parse_postings,
)
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment

KEPT_TOKENS = 1 << 12
"""Tokens whose numbers are kept."""
DOC_INDEX = "_doc_index_{}"
"""Name of the column with the places in a list, by its level."""

BLOCKS = pa.list_(pa.large_binary())
OFFSETS = pa.list_(pa.uint32())
TOKENS = "L.index.fts.tokens"
POSTINGS = "L.index.fts.postings"
POSITION_OFFSETS = "L.index.fts.positions.offsets"
EARLY_DOCUMENTS = "L.index.fts.early.documents"


class Partition:
    """An opened partition; `folder` is where its files lie below the segment's."""

    def __init__(
        self, segment: Segment, number: int, layout: BlockLayout, folder: str = ""
    ) -> None:
        self._segment, self._layout = segment, layout
        self._prefix = f"{folder}part_{number}_"
        self._postings: dict[int, Postings] = {}
        self._positions: dict[int, list[Numbers] | None] = {}
        self.number_of = lru_cache(KEPT_TOKENS)(self._number_of)

    def _file(self, part: str) -> IndexFile:
        return self._segment.file(f"{self._prefix}{part}.lance")

    @cached_property
    def tokens(self) -> Mapping[str, int] | Fst:
        """The dictionary, or the numbers of tokens where it is a list. Raises CorruptPage."""
        file = self._file("tokens")
        if "_token" in file.names:
            names = file.read("_token", pa.utf8(), whole=TOKENS).to_pylist()
            numbers = file.read("_token_id", pa.uint32(), whole=TOKENS).to_pylist()
            return dict(zip(names, numbers, strict=True))
        expect(TOKENS, f"dictionaries: {file.num_rows}", "dictionaries: 1", file.place)
        (data,) = _blobs(file.read("_token_fst_bytes", pa.large_binary()), file)
        fst = parse_fst(data)
        expect(TOKENS, f"{fst.count} tokens", f"{self.num_tokens} tokens", file.place)
        return fst

    def _number_of(self, token: str) -> int | None:
        """Return the number of a token, None when no document holds it. Raises FormatError."""
        tokens = self.tokens
        number = tokens.get(token.encode()) if isinstance(tokens, Fst) else tokens.get(token)
        return None if number is None else self._checked(number)

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield every token, ascending, and its number. Raises FormatError."""
        tokens = self.tokens
        if not isinstance(tokens, Fst):
            yield from ((token, self._checked(number)) for token, number in sorted(tokens.items()))
            return
        for data, number in tokens.items():
            try:
                token = data.decode()
            except UnicodeDecodeError as error:
                place = self._file("tokens").place
                raise CorruptPage(TOKENS, place, f"{data[:40]!r}", "UTF-8") from error
            yield token, self._checked(number)

    def _checked(self, number: int) -> int:
        if number >= self.num_tokens:
            place = self._file("tokens").place
            raise CorruptPage(TOKENS, place, f"token {number}", f"below {self.num_tokens}")
        return number

    @property
    def num_tokens(self) -> int:
        """Number of different tokens in the partition."""
        return self._file("invert").num_rows

    @property
    def corpus(self) -> Corpus:
        """The documents and their tokens together. Raises FormatError."""
        file = self._file("docs")
        if "total_tokens" in file.metadata:
            return Corpus(file.num_rows, file.number("total_tokens"))
        return Corpus(file.num_rows, int(self.lengths.sum(dtype=np.uint64)))

    @cached_property
    def keys(self) -> Keys:
        """Keys of the rows of the documents: (documents,)."""
        return self._numbers("_rowid", pa.uint64())

    @cached_property
    def lengths(self) -> Numbers:
        """Number of tokens of each document: (documents,). Raises FormatError."""
        file, lengths = self._file("docs"), self._numbers("_num_tokens", pa.uint32())
        total = int(lengths.sum(dtype=np.uint64))
        if "total_tokens" in file.metadata and file.number("total_tokens") != total:
            found, wanted = f"{total} tokens in all documents", file.text("total_tokens")
            raise CorruptPage("L.index.fts.total-tokens", file.place, found, wanted)
        return lengths

    @cached_property
    def elements(self) -> Numbers:
        """Places of the documents in the lists around them, the outermost first.

        (documents, levels); where rows are documents there is no level.
        """
        columns = [self._numbers(DOC_INDEX.format(n), pa.uint32()) for n in range(self.levels)]
        none = np.empty((self._file("docs").num_rows, 0), np.uint32)
        return np.column_stack((none, *columns))

    @property
    def levels(self) -> int:
        """Number of lists around each of the documents."""
        names = self._file("docs").names
        return next(n for n in count() if DOC_INDEX.format(n) not in names)

    def _numbers(self, name: str, type_: pa.DataType) -> NDArray[np.unsignedinteger]:
        column = self._file("docs").read(name, type_, whole="L.index.fts.docs")
        return column.to_numpy()  # type: ignore[no-any-return]

    def document_count(self, number: int) -> int:
        """Return how many documents hold a token."""
        if number in self._postings:
            return len(self._postings[number].documents)
        return self._length(np.array([number]))[0]

    def _length(self, numbers: Counts) -> list[int]:
        lengths = self._file("invert").take("_length", numbers, pa.uint32(), POSTINGS)
        return lengths.to_pylist()  # type: ignore[no-any-return]

    def postings(self, number: int) -> Postings:
        """Return the documents that hold a token, which are kept. Raises FormatError."""
        self._segment.uses.count(number in self._postings)
        return self._cached_postings(number)

    def _cached_postings(self, number: int) -> Postings:
        if number not in self._postings:
            self._postings[number] = self.many_postings(np.array([number]))[0]
        return self._postings[number]

    def many_postings(self, numbers: Counts) -> list[Postings]:
        """Return the documents of tokens with ascending `numbers` (n,). Raises FormatError."""
        file = self._file("invert")
        lengths = self._length(numbers)
        lists = file.take("_posting", numbers, BLOCKS)
        total = self._file("docs").num_rows
        return [
            parse_postings(_items(blocks, file), length, total, self._layout, file.place)
            for blocks, length in zip(lists, lengths, strict=True)
        ]

    def positions(self, number: int) -> list[Numbers] | None:
        """Return positions (n,) of a token by document, None if not stored. Raises FormatError."""
        self._segment.uses.count(number in self._positions)
        if number not in self._positions:
            self._positions[number] = self._read_positions(number)
        return self._positions[number]

    def stored_positions(self, number: int) -> list[Numbers]:
        """Return positions (n,) of a token by document. Raises CorruptPage if not stored."""
        positions = self.positions(number)
        if positions is None:
            place, wanted = self._file("invert").place, "those of every token"
            raise CorruptPage("L.index.fts.positions.end", place, "no positions", wanted)
        return positions

    def warm(self, *, positions: bool) -> None:
        """Keep all postings, and their `positions`. Raises FormatError."""
        numbers = np.arange(self.num_tokens)
        self._postings = dict(enumerate(self.many_postings(numbers)))
        _ = self.tokens, self.keys, self.lengths
        if positions:
            self._positions = {one: self._read_positions(one) for one in numbers.tolist()}

    def _read_positions(self, number: int) -> list[Numbers] | None:
        file, row = self._file("invert"), np.array([number])
        frequencies = self._cached_postings(number).frequencies
        if "_position" in file.names:
            (documents,) = file.take("_position", row, pa.list_(BLOCKS))
            lists = documents.values if documents.is_valid else []
            found = f"positions of {len(lists)} documents"
            wanted = f"positions of {len(frequencies)} documents"
            expect(POSITION_OFFSETS, found, wanted, file.place)
            return [
                parse_position_blobs([*_items(blobs, file)], frequency, file.place)
                for blobs, frequency in zip(lists, frequencies.tolist(), strict=True)
            ]
        if "_compressed_position" not in file.names:
            return None
        (data,) = _blobs(file.take("_compressed_position", row, pa.large_binary()), file)
        (offsets,) = file.take("_position_block_offset", row, OFFSETS)
        begins, size = offsets.as_py() or [], self._layout.size
        ends, count = [*begins[1:], len(data.data)], self._layout.num_blocks(len(frequencies))
        if len(begins) != count or begins[:1] != [0] or sorted(ends) != ends or None in begins:
            place = data.ctx.at(data.base, len(data.data))
            wanted = f"{count} rising offsets up to {len(data.data)}"
            raise OutOfRange(POSITION_OFFSETS, place, f"blocks at {begins[:8]}", wanted)
        positions: list[Numbers] = []
        for block in range(count):
            part = data.window(ends[block] - begins[block], "positions", POSITION_OFFSETS)
            positions += parse_positions(part, frequencies[block * size : (block + 1) * size])
        return positions

    def impacts(self, number: int) -> list[bytes] | None:
        """Return the impacts of the blocks of a token and of their groups, None if not stored."""
        file = self._file("invert")
        if "_impacts" not in file.names:
            return None
        (impacts,) = file.take("_impacts", np.array([number]), BLOCKS)
        return [bytes(one.data) for one in _items(impacts, file)]


def _items(value: pa.Scalar, file: IndexFile) -> Blobs:
    """Return the bytes of the items of a list. Raises FormatError."""
    return _blobs(value.values if value.is_valid else pa.array([], pa.large_binary()), file)


def _blobs(values: pa.Array, file: IndexFile) -> Blobs:
    """Return the bytes of values. Raises FormatError for null."""
    if values.null_count:
        raise CorruptPage(POSTINGS, file.place, "null for bytes", "bytes")
    return Blobs.of(values, file.ctx)


def integer_list(file: IndexFile, key: str) -> list[int] | None:
    """Return an entry of the metadata that is a JSON list of integers, None for another text."""
    try:
        numbers = json.loads(file.text(key))
    except (ValueError, RecursionError):
        return None
    whole = isinstance(numbers, list) and all(type(one) is int for one in numbers)
    return numbers if whole else None


class EarlyPartition(Partition):
    """The one partition of an early index; documents are numbered by their ascending keys."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment, 0, BlockLayout())
        self._prefix = ""

    @cached_property
    def _offsets(self) -> Counts:
        """Rows of the postings at which tokens begin, and their number. Raises FormatError."""
        file = self._file("invert")
        starts = integer_list(file, "offsets")
        ends = [0] if starts is None else [0, *starts, file.num_rows]
        if starts is None or sorted(ends) != ends:
            found, wanted = file.text("offsets")[:40], f"a list of rising rows to {file.num_rows}"
            raise OutOfRange("L.index.fts.early.offsets", file.place, found, wanted)
        return np.array(ends[1:], np.int64)

    @property
    def num_tokens(self) -> int:
        return len(self._offsets) - 1

    @cached_property
    def _order(self) -> Counts:
        """Rows of the documents by their keys. Raises FormatError for a key that comes twice."""
        keys = self._numbers("_rowid", pa.uint64())
        order = np.argsort(keys, kind="stable")
        if (np.diff(keys[order].astype(np.int64)) == 0).any():
            raise self._unknown("a row that is two documents")
        return order

    @cached_property
    def keys(self) -> Keys:
        return self._numbers("_rowid", pa.uint64())[self._order]

    @cached_property
    def lengths(self) -> Numbers:
        return self._numbers("_num_tokens", pa.uint32())[self._order]

    def document_count(self, number: int) -> int:
        return int(self._offsets[number + 1] - self._offsets[number])

    def many_postings(self, numbers: Counts) -> list[Postings]:
        return [self._sorted(number)[0] for number in numbers.tolist()]

    def _sorted(self, number: int) -> tuple[Postings, Counts]:
        """Return the documents of a token, ascending, and the row of each. Raises FormatError."""
        file = self._file("invert")
        rows = np.arange(self._offsets[number], self._offsets[number + 1])
        keys = file.take("_rowid", rows, pa.uint64(), EARLY_DOCUMENTS)
        counts = file.take("_frequency", rows, pa.float32(), EARLY_DOCUMENTS)
        documents = np.searchsorted(self.keys, keys.to_numpy())
        known = documents < len(self.keys)
        if not known.all() or (self.keys[documents] != keys.to_numpy()).any():
            raise self._unknown("a document that is not among the documents")
        frequencies = counts.to_numpy()
        if not ((frequencies >= 1) & (frequencies < 1 << 32)).all():
            raise self._unknown("a frequency that is no count")
        order = np.argsort(documents, kind="stable")
        if (np.diff(documents[order]) == 0).any():
            raise self._unknown("a document that comes twice")
        own = documents[order].astype(np.uint32), frequencies[order].astype(np.uint32)
        return Postings(*own), rows[order]

    def _unknown(self, found: str) -> FormatError:
        place = self._file("invert").place
        wanted = "documents of docs.lance, each once, and how often they hold the token"
        return CorruptPage(EARLY_DOCUMENTS, place, found, wanted)

    def positions(self, number: int) -> list[Numbers] | None:
        file = self._file("invert")
        if "_position" not in file.names:
            return None
        postings, rows = self._sorted(number)
        lists = file.take("_position", np.sort(rows), pa.list_(pa.int32()))
        lists = lists.take(pa.array(np.argsort(np.argsort(rows)))).to_pylist()
        lists = [[] if one is None or None in one else one for one in lists]
        if [len(one) for one in lists] != postings.frequencies.tolist():
            raise self._unknown("positions that the frequencies do not count")
        return [np.array(one, np.int64).astype(np.uint32) for one in lists]
