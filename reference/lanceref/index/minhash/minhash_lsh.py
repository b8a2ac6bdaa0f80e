"""MINHASHLSH: rows with much of a text in common.

Of every row that has a token there is a signature, and each of its bands with a number of the row,
its document. A search reads the pages that may hold the bands of a text, and of the documents there
the signatures.

Layout: `signatures.lance`: _rowid u64, signature fixed-size list of u16. `bands.lance`: band_key
u64, doc_id u32 (row of the other file), ascending; metadata minhash_lsh_num_docs,
minhash_lsh_page_rows and minhash_lsh_page_table_buffer: of each page of so many rows the last key,
u64, in that global buffer. Metadata of both: minhash_lsh_details, hexadecimal digits of the
details, and minhash_lsh_index_version.

Clauses: L.index.minhash.details, L.index.minhash.version, L.index.minhash.docs,
L.index.minhash.bands, L.index.minhash.pages
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import expect
from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.errors import OperationRefused, UnknownVersion
from lanceref.core.integers import unique
from lanceref.core.packed_values import fixed_array
from lanceref.index.bloom import Hashes
from lanceref.index.entries import Entries, EntryType
from lanceref.index.full_text.packed_integers import ranges
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import Built, Sources
from lanceref.index.minhash.signature import (
    MinHashParameters,
    Signatures,
    Signer,
    band_keys,
    parse_parameters,
    requested_parameters,
)
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import TEXT, Training, accepts_types, trained
from lanceref.proto import index_pb2

SIGNATURES = "signatures.lance"
BANDS = "bands.lance"
PREFIX = "minhash_lsh_"
VERSION = 0
RISING = "L.index.minhash.bands"

KEPT_PAGES = 256
"""Pages of bands that a segment keeps for the next search."""

PAGE_BUFFER = 1
PAGE_ROWS = 4096

_PLAIN = {"lance-encoding:compression": "none"}
_WHOLE = {**_PLAIN, "lance-encoding:structural-encoding": "fullzip"}

_BANDS = {"band_key": pa.uint64(), "doc_id": pa.uint32()}
BAND_SCHEMA = pa.schema([pa.field(*one, False, _PLAIN) for one in _BANDS.items()])


class MinHashLsh(EntryType[MinHashParameters]):
    """The type; of the bands an opened segment knows the last of each page."""

    name, shown, details = "MINHASHLSH", "MinHashLsh", "lance.index.pb.MinHashLshIndexDetails"
    version = VERSION
    accepts = staticmethod(accepts_types(*TEXT))
    inherits = "one"
    requested = staticmethod(requested_parameters)

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self._signatures, self._bands = segment.file(SIGNATURES), segment.file(BANDS)
        self.stored_parameters = self.parameters = _parameters(self._signatures)
        if _parameters(self._bands) != self.parameters:
            raise self._bands.corrupt("L.index.minhash.details", "other details", "equal ones")
        self.num_docs = self._signatures.num_rows
        self._page_rows = self._bands.number(f"{PREFIX}page_rows")
        stated = self._bands.number(f"{PREFIX}num_docs")
        found = f"{stated} documents, {self._bands.num_rows} bands"
        wanted = f"{self.num_docs} documents, {self.num_docs * self.parameters.num_bands} bands"
        expect("L.index.minhash.docs", found, wanted, self._bands.place)
        self._last = self._page_table()
        self.num_pages = len(self._last)
        self._page = lru_cache(KEPT_PAGES)(self._read_page)

    @cached_property
    def signer(self) -> Signer:
        """What signs texts as those of the segment were."""
        return Signer(self.parameters)

    def _page_table(self) -> Hashes:
        """Return the last key of each page. Raises FormatError."""
        buffer = self._bands.buffer(self._bands.number(f"{PREFIX}page_table_buffer"))
        size = buffer.remaining
        pages = -(-self._bands.num_rows // max(1, self._page_rows))
        data = buffer.take(size, "page table", "L.index.minhash.pages")
        keys = np.frombuffer(data, "<u8") if size % 8 == 0 else np.empty(0, np.uint64)
        if not self._page_rows or len(keys) != pages or size % 8 or np.any(keys[1:] < keys[:-1]):
            found = f"{size} bytes, pages of {self._page_rows} rows"
            raise self._bands.corrupt("L.index.minhash.pages", found, f"{pages} rising keys")
        return keys.astype(np.uint64)

    def documents_with(self, keys: Hashes) -> NDArray[np.int64]:
        """Return the documents that have one of some bands, ascending. Raises CorruptPage.

        That a key lies beyond the last page, or between two, is checked against the pages. `keys`
        (bands,), the result (documents,).
        """
        first = np.searchsorted(self._last, keys)
        last = np.searchsorted(self._last, keys, side="right")
        spans = zip(first.tolist(), last.tolist(), strict=True)
        pages = {page for start, end in spans for page in range(start, end + 1)}
        rows = [np.empty(0, np.int64)]
        for page in sorted({min(page, self.num_pages - 1) for page in pages if self.num_pages}):
            start, page_keys = page * self._page_rows, self._page(page)
            if page and page - 1 not in pages and np.any(keys[first == page] < page_keys[0]):
                before = self._bands.read("band_key", pa.uint64(), start - 1, start)
                self._check_last(page - 1, before[0].as_py())
            low = np.searchsorted(page_keys, keys)
            rows.append(start + ranges(low, np.searchsorted(page_keys, keys, side="right") - low))
        numbers = self._bands.take("doc_id", unique(np.concatenate(rows)), pa.uint32(), RISING)
        return unique(self._documents(numbers))

    def _read_page(self, page: int) -> Hashes:
        """Return the keys (bands,) of a page. Raises CorruptPage."""
        start = page * self._page_rows
        keys = self._keys(start, min(start + self._page_rows, self._bands.num_rows))
        self._check_last(page, int(keys[-1]))
        return keys

    def _check_last(self, page: int, found: int | None) -> None:
        """Raise CorruptPage unless a page ends with the key that the page table has."""
        expect("L.index.minhash.pages", found, int(self._last[page]), self._bands.place)

    def bands(self, start: int, end: int) -> tuple[Hashes, NDArray[np.int64]]:
        """Return the keys and documents of bands. Both are (bands,). Raises CorruptPage."""
        keys = self._keys(start, end)
        return keys, self._documents(self._bands.read("doc_id", pa.uint32(), start, end, RISING))

    def _keys(self, start: int, end: int) -> Hashes:
        """Return the keys of bands: (bands,). Raises CorruptPage."""
        keys = np.asarray(self._bands.read("band_key", pa.uint64(), start, end, RISING), np.uint64)
        if np.any(keys[1:] < keys[:-1]):
            found = f"bands {start} to {end}, the last {keys[-1:]}"
            raise self._bands.corrupt(RISING, found, "rising bands")
        return keys

    def _documents(self, numbers: pa.Array) -> NDArray[np.int64]:
        """Return the documents of bands: (bands,). Raises CorruptPage."""
        documents = np.asarray(numbers, np.int64)
        if np.any(documents >= self.num_docs):
            found, wanted = f"a band of document {documents.max()}", f"one below {self.num_docs}"
            raise self._bands.corrupt(RISING, found, wanted)
        return documents

    def signatures(self, documents: NDArray[np.int64]) -> tuple[Keys, Signatures]:
        """Return keys (n,) and signatures (n, num_hashes) of documents (n,). Raises CorruptPage."""
        type_ = pa.list_(pa.uint16(), self.parameters.num_hashes)
        clause = "L.index.minhash.docs"
        ids = self._signatures.take("_rowid", documents, pa.uint64(), clause)
        lists = self._signatures.take("signature", documents, type_, clause)
        signed = np.asarray(lists.flatten(), np.uint16).reshape(-1, self.parameters.num_hashes)
        return np.asarray(ids, np.uint64), signed

    def entries(self) -> Entries:
        """Return the signatures (documents, num_hashes) of the segment, and the rows of each."""
        keys, signatures = self.signatures(np.arange(self.num_docs))
        return Entries(signatures, keys)

    @classmethod
    def entries_of(cls, training: Training, own: MinHashParameters) -> Entries:
        """Return the signatures of rows that have a token."""
        values, keys = trained(training)
        numbers, signatures = Signer(own).sign(values.to_pylist())
        return Entries(signatures, keys[numbers])

    @classmethod
    def write(
        cls, entries: Entries, own: MinHashParameters, training: Training, writer: SegmentWriter
    ) -> Built:
        """Write the files of documents and of their bands."""
        keys, signatures = entries.keys, np.asarray(entries.values, np.uint16)
        details = own.details.SerializeToString(deterministic=True).hex()
        metadata = {f"{PREFIX}details": details, f"{PREFIX}index_version": f"{VERSION}"}
        type_ = pa.list_(pa.uint16(), own.num_hashes)
        signed = pa.field("signature", type_, False, _WHOLE)
        schema = pa.schema([pa.field("_rowid", pa.uint64(), False), signed])
        lists = fixed_array(type_, len(keys), signatures.reshape(-1).view(np.uint8))
        rows = pa.record_batch([pa.array(keys), lists], schema=schema)
        writer.write_file(SIGNATURES, schema, [rows] * bool(len(keys)), metadata)
        bands, documents = _ordered_bands(signatures, own.num_bands)
        last = np.append(bands[PAGE_ROWS - 1 :: PAGE_ROWS], bands[-1:])
        last = last[: -(-len(bands) // PAGE_ROWS)]
        metadata |= {
            f"{PREFIX}num_docs": f"{len(keys)}",
            f"{PREFIX}page_rows": f"{PAGE_ROWS}",
            f"{PREFIX}page_table_buffer": f"{PAGE_BUFFER}",
        }
        batch = pa.record_batch([pa.array(bands), pa.array(documents)], schema=BAND_SCHEMA)
        buffers = [last.astype("<u8").tobytes()]
        writer.write_file(BANDS, BAND_SCHEMA, [batch] * bool(len(keys)), metadata, buffers)
        return Built(own.details, VERSION)

    @classmethod
    def rewrite(cls, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        """Write what is left of segments and new rows as one. Raises OperationRefused."""
        own, *others = [cls(segment).parameters for segment, _ in sources]
        if any(other != own for other in others):
            raise OperationRefused("MinHash LSH segments of other parameters cannot be merged")
        return super().rewrite(sources, training, writer)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Compute every band from the signatures again. Raises CorruptPage."""
        index = cls(segment)
        signatures, num_bands = np.asarray(index.entries().values), index.parameters.num_bands
        keys, documents = index.bands(0, index.num_docs * num_bands)
        wanted_keys, wanted_documents = _ordered_bands(signatures, num_bands)
        if not (np.array_equal(keys, wanted_keys) and np.array_equal(documents, wanted_documents)):
            wanted = "those of the signatures, by key and document"
            raise index._bands.corrupt("L.index.minhash.band-key", "other bands", wanted)
        for page in range(index.num_pages):
            end = min((page + 1) * index._page_rows, len(keys))
            index._check_last(page, int(keys[end - 1]) if end else None)


def _parameters(file: IndexFile) -> MinHashParameters:
    """Return the parameters that a file states. Raises FormatError, UnknownVersion."""
    version = file.number(f"{PREFIX}index_version")
    if version > VERSION:
        clause, wanted = "L.index.minhash.version", f"at most {VERSION}"
        raise UnknownVersion(clause, file.place, f"{version}", wanted)
    cursor = Cursor(memoryview(file.digits(f"{PREFIX}details")), 0, file.ctx)
    kind = index_pb2.MinHashLshIndexDetails
    details = parse_message(cursor, kind, "details", "L.index.minhash.details")
    return parse_parameters(details, file.place)


def _ordered_bands(signatures: Signatures, num_bands: int) -> tuple[Hashes, NDArray[np.uint32]]:
    """Return keys and documents of the bands of signatures, by both."""
    keys = np.ascontiguousarray(band_keys(signatures, num_bands).T)  # highest byte: the band
    order = np.argsort(keys, axis=1, kind="stable")
    bands = np.take_along_axis(keys, order, axis=1)
    return bands.reshape(-1), order.reshape(-1).astype(np.uint32)
