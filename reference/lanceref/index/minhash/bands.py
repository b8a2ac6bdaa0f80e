"""Bands and signatures of a MINHASHLSH segment, read.

Layout: as `minhash_lsh` has it. A search reads the pages of `bands.lance` that may hold a band, and
of the documents there the rows of `signatures.lance`.

Clauses: L.index.minhash.details, L.index.minhash.version, L.index.minhash.docs,
L.index.minhash.bands, L.index.minhash.pages
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, UnknownVersion
from lanceref.core.integers import is_in, unique
from lanceref.core.wire import parse_message
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Found
from lanceref.index.minhash.parameters import MinHashParameters, parse_parameters
from lanceref.index.minhash.signature import Hashes, Signatures
from lanceref.index.predicate import Predicate
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment
from lanceref.proto import index_pb2

SIGNATURES = "signatures.lance"
BANDS = "bands.lance"
PREFIX = "minhash_lsh_"
VERSION = 0


class MinHashLsh:
    """An opened segment: of the bands it knows the last of each page."""

    def __init__(self, segment: Segment) -> None:
        self._signatures, self._bands = segment.file(SIGNATURES), segment.file(BANDS)
        self.parameters = _parameters(self._signatures)
        if _parameters(self._bands) != self.parameters:
            raise CorruptPage(
                "L.index.minhash.details",
                self._bands.place,
                found="other details than those of the signatures",
                wanted="equal details in both files",
            )
        self.num_docs = self._signatures.num_rows
        self._page_rows = self._bands.number(f"{PREFIX}page_rows")
        self._check_numbers()
        self._last = self._page_table()

    def _check_numbers(self) -> None:
        """Raise CorruptPage unless both files are of as many rows as they say."""
        stated = self._bands.number(f"{PREFIX}num_docs")
        wanted = self.num_docs * self.parameters.num_bands
        if stated != self.num_docs or self._bands.num_rows != wanted:
            raise CorruptPage(
                "L.index.minhash.docs",
                self._bands.place,
                found=f"{stated} documents, {self._bands.num_rows} bands",
                wanted=f"{self.num_docs} documents, {wanted} bands",
            )

    def _page_table(self) -> Hashes:
        """Return the last key of each page. Raises FormatError."""
        buffer = self._bands.buffer(self._bands.number(f"{PREFIX}page_table_buffer"))
        size = buffer.remaining
        pages = -(-self._bands.num_rows // max(1, self._page_rows))
        data = buffer.take(size, "page table", "L.index.minhash.pages")
        keys = np.frombuffer(data, "<u8") if size % 8 == 0 else np.empty(0, np.uint64)
        if not self._page_rows or len(keys) != pages or size % 8 or np.any(keys[1:] < keys[:-1]):
            raise CorruptPage(
                "L.index.minhash.pages",
                self._bands.place,
                found=f"{size} bytes, pages of {self._page_rows} rows",
                wanted=f"{pages} rising keys",
            )
        return keys.astype(np.uint64)

    @property
    def num_pages(self) -> int:
        """Number of pages of bands."""
        return len(self._last)

    def documents_with(self, keys: Hashes) -> NDArray[np.int64]:
        """Return the documents that have one of some bands, ascending. Raises CorruptPage.

        That a key lies beyond the last page, or between two, is not believed the page table alone.
        """
        first = np.searchsorted(self._last, keys)
        last = np.searchsorted(self._last, keys, side="right")
        ranges = zip(first.tolist(), last.tolist(), strict=True)
        pages = {page for start, end in ranges for page in range(start, end + 1)}
        found = [np.empty(0, np.int64)]
        for page in sorted({min(page, self.num_pages - 1) for page in pages if self.num_pages}):
            start = page * self._page_rows
            held, documents = self.bands(start, min(start + self._page_rows, self._bands.num_rows))
            self._check_last(page, int(held[-1]))
            if page and page - 1 not in pages and np.any(keys[first == page] < held[0]):
                before = self._bands.read("band_key", pa.uint64(), start - 1, start)
                self._check_last(page - 1, before[0].as_py())
            found.append(documents[is_in(held, keys)])
        return unique(np.concatenate(found))

    def check_pages(self, keys: Hashes) -> None:
        """Raise CorruptPage unless pages of all bands end with the keys that the page table has."""
        for page in range(self.num_pages):
            end = min((page + 1) * self._page_rows, len(keys))
            self._check_last(page, int(keys[end - 1]) if end else None)

    def _check_last(self, page: int, found: int | None) -> None:
        """Raise CorruptPage unless a page ends with the key that the page table has."""
        if found != self._last[page]:
            raise CorruptPage(
                "L.index.minhash.pages",
                self._bands.place,
                found=f"page {page} ends with {found}",
                wanted=f"{self._last[page]}",
            )

    def bands(self, start: int, end: int) -> tuple[Hashes, NDArray[np.int64]]:
        """Return the keys and documents of bands. Raises CorruptPage."""
        held = self._bands.read("band_key", pa.uint64(), start, end)
        numbers = self._bands.read("doc_id", pa.uint32(), start, end)
        keys = np.asarray(held.fill_null(0), np.uint64)
        documents = np.asarray(numbers.fill_null(0), np.int64)
        whole = held.null_count == numbers.null_count == 0
        if not whole or np.any(keys[1:] < keys[:-1]) or np.any(documents >= self.num_docs):
            raise CorruptPage(
                "L.index.minhash.bands",
                self._bands.place,
                found=f"bands {start} to {end}, the last {keys[-1:]} of {documents[-1:]}",
                wanted=f"rising bands of documents below {self.num_docs}",
            )
        return keys, documents

    def signatures(self, documents: NDArray[np.int64]) -> tuple[Keys, Signatures]:
        """Return the keys and signatures of documents, ascending. Raises CorruptPage."""
        type_ = pa.list_(pa.uint16(), self.parameters.num_hashes)
        ids = self._signatures.take("_rowid", documents, pa.uint64())
        held = self._signatures.take("signature", documents, type_)
        values = held.flatten()
        if ids.null_count or held.null_count or values.null_count:
            raise CorruptPage(
                "L.index.minhash.docs",
                self._signatures.place,
                found="a document without row or signature",
                wanted="both",
            )
        signed = np.asarray(values, np.uint16).reshape(-1, self.parameters.num_hashes)
        return np.asarray(ids, np.uint64), signed

    def all(self) -> tuple[Keys, Signatures]:
        """Return keys and signatures of every document."""
        return self.signatures(np.arange(self.num_docs))

    def search(self, predicate: Predicate) -> Found | None:
        """Return None: of conditions nothing is known."""
        return None

    def statistics(self) -> dict[str, object]:
        """Return the number of documents, of pages, and the parameters."""
        return {
            "type": "MinHashLsh",
            "num_docs": self.num_docs,
            "num_pages": self.num_pages,
            "num_hashes": self.parameters.num_hashes,
            "num_bands": self.parameters.num_bands,
            "shingle_size": self.parameters.shingle_size,
            "signature_version": 0,
        }


def _parameters(file: IndexFile) -> MinHashParameters:
    """Return the parameters that a file states. Raises FormatError, UnknownVersion."""
    version = file.number(f"{PREFIX}index_version")
    if version > VERSION:
        raise UnknownVersion(
            "L.index.minhash.version", file.place, found=f"{version}", wanted=f"at most {VERSION}"
        )
    text = file.text(f"{PREFIX}details")
    try:
        data = bytes.fromhex(text)
    except ValueError as error:
        raise CorruptPage(
            "L.index.files.metadata", file.place, found=text[:40], wanted="hexadecimal digits"
        ) from error
    cursor = Cursor(memoryview(data), 0, file.ctx)
    kind = index_pb2.MinHashLshIndexDetails
    details = parse_message(cursor, kind, "details", "L.index.minhash.details")
    return parse_parameters(details, file.place)
