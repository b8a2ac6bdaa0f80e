"""Partitions: a part of an index with tokens, documents and postings of its own.

A number of a token is a row of the postings, a number of a document a row of the documents. Only
the postings of tokens that are asked for are read.

Layout: `part_{n}_tokens.lance`, one row: `_token_fst_bytes`, `_token_next_id`,
`_token_total_length` (older: a row for each token, `_token`, `_token_id`); `part_{n}_docs.lance`:
`_rowid`, `_num_tokens`, `_doc_index_0` where elements of lists are documents;
`part_{n}_invert.lance`: `_posting`, `_max_score`, `_length`, `_impacts`, and positions.

Clauses: L.index.fts.tokens, L.index.fts.docs, L.index.fts.total-tokens, L.index.fts.postings,
L.index.fts.positions.offsets
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, FormatError, OutOfRange
from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.blobs import Blobs
from lanceref.index.full_text.bm25 import Corpus
from lanceref.index.full_text.fst import Fst, parse_fst
from lanceref.index.full_text.positions import parse_position_blobs, parse_positions
from lanceref.index.full_text.posting_blocks import BlockLayout, Postings, parse_postings
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment

BLOCKS = pa.list_(pa.large_binary())
OFFSETS = pa.list_(pa.uint32())


class Partition:
    """An opened partition; `folder` is where its files lie below the segment's."""

    def __init__(
        self, segment: Segment, number: int, layout: BlockLayout, folder: str = ""
    ) -> None:
        self._segment, self._layout = segment, layout
        self._prefix = f"{folder}part_{number}_"
        self._postings: dict[int, Postings] = {}
        self._positions: dict[int, list[Numbers] | None] = {}

    def _file(self, part: str) -> IndexFile:
        return self._segment.file(f"{self._prefix}{part}.lance")

    @cached_property
    def tokens(self) -> Mapping[str, int] | Fst:
        """The dictionary, or the numbers of all tokens where it is stored as a list."""
        file = self._file("tokens")
        if "_token" in file.names:
            names = file.read("_token", pa.utf8()).to_pylist()
            numbers = file.read("_token_id", pa.uint32()).to_pylist()
            if None in names or None in numbers:
                raise _bad_tokens(file, "a null", "tokens and their numbers")
            return dict(zip(names, numbers, strict=True))
        if file.num_rows != 1:
            raise _bad_tokens(file, f"{file.num_rows} dictionaries", "one")
        (data,) = _blobs(file.read("_token_fst_bytes", pa.large_binary()), file)
        fst = parse_fst(data)
        if fst.count != self.num_tokens:
            raise _bad_tokens(file, f"{fst.count} tokens", f"{self.num_tokens}, as postings")
        return fst

    def number_of(self, token: str) -> int | None:
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
        file = self._file("tokens")
        for data, number in tokens.items():
            try:
                token = data.decode()
            except UnicodeDecodeError as error:
                raise _bad_tokens(file, f"{data[:40]!r}", "UTF-8") from error
            yield token, self._checked(number)

    def _checked(self, number: int) -> int:
        if number >= self.num_tokens:
            file = self._file("tokens")
            raise _bad_tokens(file, f"token {number}", f"below {self.num_tokens}")
        return number

    @property
    def num_tokens(self) -> int:
        """Different tokens."""
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
        """Keys of the rows of the documents."""
        return self._numbers("_rowid", pa.uint64())

    @cached_property
    def lengths(self) -> Numbers:
        """Tokens of the documents. Raises FormatError."""
        file, lengths = self._file("docs"), self._numbers("_num_tokens", pa.uint32())
        total = int(lengths.sum(dtype=np.uint64))
        if "total_tokens" in file.metadata and file.number("total_tokens") != total:
            raise CorruptPage(
                "L.index.fts.total-tokens",
                file.place,
                found=f"{total} tokens in all documents",
                wanted=file.text("total_tokens"),
            )
        return lengths

    @cached_property
    def elements(self) -> Numbers | None:
        """Places of the documents in their lists, None where rows are documents."""
        if "_doc_index_0" not in self._file("docs").names:
            return None
        return self._numbers("_doc_index_0", pa.uint32())

    def _numbers(self, name: str, type_: pa.DataType) -> NDArray[np.unsignedinteger]:
        file = self._file("docs")
        found = file.read(name, type_)
        if found.null_count:
            raise CorruptPage(
                "L.index.fts.docs", file.place, found=f"null in {name}", wanted="a number"
            )
        return found.to_numpy()  # type: ignore[no-any-return]

    def document_count(self, number: int) -> int:
        """Return the documents that hold a token."""
        return self._length(np.array([number]))[0]

    def _length(self, numbers: NDArray[np.int64]) -> list[int]:
        file = self._file("invert")
        found = file.take("_length", numbers, pa.uint32()).to_pylist()
        if None in found:
            raise CorruptPage(
                "L.index.fts.postings", file.place, found="null in _length", wanted="a number"
            )
        return found  # type: ignore[no-any-return]

    def postings(self, number: int) -> Postings:
        """Return the documents that hold a token, which are kept. Raises FormatError."""
        if number in self._postings:
            self._segment.uses.hit()
            return self._postings[number]
        self._segment.uses.load()
        return self._kept_postings(number)

    def _kept_postings(self, number: int) -> Postings:
        if number not in self._postings:
            self._postings[number] = self.many_postings(np.array([number]))[0]
        return self._postings[number]

    def many_postings(self, numbers: NDArray[np.int64]) -> list[Postings]:
        """Return the documents of tokens with ascending numbers. Raises FormatError."""
        file = self._file("invert")
        lengths = self._length(numbers)
        lists = file.take("_posting", numbers, BLOCKS)
        total = self._file("docs").num_rows
        return [
            parse_postings(_items(blocks, file), length, total, self._layout, file.place)
            for blocks, length in zip(lists, lengths, strict=True)
        ]

    def positions(self, number: int) -> list[Numbers] | None:
        """Return where a token stands in its documents, None if not stored. Raises FormatError.

        They are kept.
        """
        if number in self._positions:
            self._segment.uses.hit()
        else:
            self._segment.uses.load()
            self._positions[number] = self._read_positions(number)
        return self._positions[number]

    def warm(self, *, positions: bool) -> int:
        """Keep all postings, and with `positions` these; return how many parts there are.

        Raises FormatError.
        """
        numbers = np.arange(self.num_tokens)
        self._postings = dict(enumerate(self.many_postings(numbers)))
        _ = self.tokens, self.keys, self.lengths
        if positions:
            self._positions = {one: self._read_positions(one) for one in numbers.tolist()}
        return len(self._postings) + len(self._positions)

    def _read_positions(self, number: int) -> list[Numbers] | None:
        file, row = self._file("invert"), np.array([number])
        frequencies = self._kept_postings(number).frequencies
        if "_position" in file.names:
            (documents,) = file.take("_position", row, pa.list_(BLOCKS))
            held = documents.values if documents.is_valid else []
            if len(held) != len(frequencies):
                raise CorruptPage(
                    "L.index.fts.positions.offsets",
                    file.place,
                    found=f"positions of {len(held)} documents",
                    wanted=f"{len(frequencies)}",
                )
            return [
                parse_position_blobs(_items(blobs, file), frequency, file.place)
                for blobs, frequency in zip(held, frequencies.tolist(), strict=True)
            ]
        if "_compressed_position" not in file.names:
            return None
        (data,) = _blobs(file.take("_compressed_position", row, pa.large_binary()), file)
        (offsets,) = file.take("_position_block_offset", row, OFFSETS)
        return self._streams(data, offsets.as_py() or [], frequencies)

    def impacts(self, number: int) -> list[bytes] | None:
        """Return the impacts of the blocks of a token and of their groups, None if not stored."""
        file = self._file("invert")
        if "_impacts" not in file.names:
            return None
        (found,) = file.take("_impacts", np.array([number]), BLOCKS)
        return [bytes(one.data) for one in _items(found, file)]

    def _streams(self, data: Cursor, offsets: Sequence[int], frequencies: Numbers) -> list[Numbers]:
        size = self._layout.size
        ends = [*offsets[1:], len(data.data)]
        wanted = self._layout.num_blocks(len(frequencies))
        if len(offsets) != wanted or offsets[:1] != [0] or sorted(ends) != ends or None in offsets:
            raise OutOfRange(
                "L.index.fts.positions.offsets",
                data.ctx.at(data.base, len(data.data)),
                found=f"blocks at {offsets[:8]}",
                wanted=f"{wanted} rising offsets up to {len(data.data)}",
            )
        found: list[Numbers] = []
        for block in range(wanted):
            part = data.window(
                ends[block] - offsets[block], "positions", "L.index.fts.positions.offsets"
            )
            found += parse_positions(part, frequencies[block * size : (block + 1) * size])
        return found


def _bad_tokens(file: IndexFile, found: str, wanted: str) -> FormatError:
    return CorruptPage("L.index.fts.tokens", file.place, found=found, wanted=wanted)


def _items(value: pa.Scalar, file: IndexFile) -> Blobs:
    """Return the bytes of the items of a list. Raises FormatError."""
    return _blobs(value.values if value.is_valid else pa.array([], pa.large_binary()), file)


def _blobs(values: pa.Array, file: IndexFile) -> Blobs:
    """Return the bytes of values. Raises FormatError for null."""
    if values.null_count:
        raise CorruptPage(
            "L.index.fts.postings", file.place, found="null for bytes", wanted="bytes"
        )
    return Blobs.of(values, file.ctx)
