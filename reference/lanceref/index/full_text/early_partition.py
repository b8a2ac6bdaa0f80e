"""Early partitions: the one part of an index written before there were several.

Documents are known by the keys of their rows, postings are rows of two or three columns. A number
of a document is here its place among the keys, ascending.

Layout: `tokens.lance`, a row for each token: `_token`, `_token_id`, and the parameters as
`tokenizer` in its metadata; `docs.lance`: `_rowid`, `_num_tokens`; `invert.lance`, a row for each
document of each token: `_rowid`, `_frequency` (a float), and `_position`, a list; its metadata
`offsets`, a JSON list, says of each token where its rows begin.

Clauses: L.index.fts.early.offsets, L.index.fts.early.documents
"""

from __future__ import annotations

import json
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, FormatError, OutOfRange
from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.posting_blocks import BlockLayout, Postings
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment

POSITIONS = pa.list_(pa.int32())


class EarlyPartition(Partition):
    """An opened partition."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment, 0, BlockLayout())

    def _file(self, part: str) -> IndexFile:
        return self._segment.file(f"{part}.lance")

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        """Rows of the postings at which tokens begin, and their number. Raises FormatError."""
        file = self._file("invert")
        text = file.text("offsets")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        ends = [*found, file.num_rows] if isinstance(found, list) else []
        if not ends or any(type(one) is not int or one < 0 for one in ends) or sorted(ends) != ends:
            raise OutOfRange(
                "L.index.fts.early.offsets",
                file.place,
                found=text[:40],
                wanted=f"a list of rising rows below {file.num_rows}",
            )
        return np.array(ends, np.int64)

    @property
    def num_tokens(self) -> int:
        """Different tokens."""
        return len(self._offsets) - 1

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Rows of the documents by their keys. Raises FormatError for a key that comes twice."""
        keys = self._numbers("_rowid", pa.uint64())
        order = np.argsort(keys, kind="stable")
        if (np.diff(keys[order].astype(np.int64)) == 0).any():
            raise self._unknown("a row that is two documents")
        return order

    @cached_property
    def keys(self) -> Keys:
        """Keys of the rows of the documents."""
        return self._numbers("_rowid", pa.uint64())[self._order]

    @cached_property
    def lengths(self) -> Numbers:
        """Tokens of the documents."""
        return self._numbers("_num_tokens", pa.uint32())[self._order]

    def document_count(self, number: int) -> int:
        """Return the documents that hold a token."""
        return int(self._offsets[number + 1] - self._offsets[number])

    def many_postings(self, numbers: NDArray[np.int64]) -> list[Postings]:
        """Return the documents of tokens. Raises FormatError."""
        return [self._sorted(number)[0] for number in numbers.tolist()]

    def _sorted(self, number: int) -> tuple[Postings, NDArray[np.int64]]:
        """Return the documents of a token, ascending, and the row of each. Raises FormatError."""
        file = self._file("invert")
        rows = np.arange(self._offsets[number], self._offsets[number + 1])
        keys = file.take("_rowid", rows, pa.uint64())
        counts = file.take("_frequency", rows, pa.float32())
        if keys.null_count or counts.null_count:
            raise self._unknown("a null")
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
        found = Postings(documents[order].astype(np.uint32), frequencies[order].astype(np.uint32))
        return found, rows[order]

    def _unknown(self, found: str) -> FormatError:
        return CorruptPage(
            "L.index.fts.early.documents",
            self._file("invert").place,
            found=found,
            wanted="documents of docs.lance, each once, and how often they hold the token",
        )

    def positions(self, number: int) -> list[Numbers] | None:
        """Return where a token stands in its documents, None if not stored. Raises FormatError."""
        file = self._file("invert")
        if "_position" not in file.names:
            return None
        postings, rows = self._sorted(number)
        lists = file.take("_position", np.sort(rows), POSITIONS)
        lists = lists.take(pa.array(np.argsort(np.argsort(rows))))
        found = [
            np.empty(0, np.uint32)
            if one is None or None in one
            else np.array(one, np.int64).astype(np.uint32)
            for one in lists.to_pylist()
        ]
        if [len(one) for one in found] != postings.frequencies.tolist():
            raise self._unknown("positions that the frequencies do not count")
        return found
