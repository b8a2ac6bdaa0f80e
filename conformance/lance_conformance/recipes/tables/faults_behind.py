"""Negative cases whose fault only a later check sees: the earlier ones find nothing."""

from __future__ import annotations

import struct
from collections.abc import Callable

from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.file_pb2 import Field, FileDescriptor
from lanceref.proto.index_pb2 import Index
from lanceref.proto.rowids_pb2 import RowIdSequence
from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes import dictionaries
from lance_conformance.recipes.hand import words
from lance_conformance.recipes.messages import descriptor, manifest, page, single_file
from lance_conformance.recipes.model import MessageEdit, Negative, SpanPatch
from lance_conformance.recipes.tables import edits
from lance_conformance.recipes.tables.faults_indices import fault, lint, values
from lance_conformance.recipes.tables.faults_vectors import GRAPH, HEAD, text
from lance_conformance.recipes.tables.faults_vectors_codes import EARLY

_FM, _PART = "fm/plain", "part_0_fm.lance"
_OLD, _INVERT = "inverted/early", "invert.lance"
_TEXTS, _POSTINGS, _TOKENS = "inverted/plain", "part_0_invert.lance", "part_0_tokens.lance"
_HASHES, _BANDS = "minhash/plain", "bands.lance"


def _float(value: float) -> bytes:
    return struct.pack("<f", value)


_WORDS = (
    fault(_FM, "numbers-cut", "numbers that end early", "L.index.files.metadata",
          text(_PART, "c_table", lambda old: f"{old[:-8]}        ")),
    fault(_FM, "words-cut", "words of seven bytes", "L.index.fm.node",
          values(_PART, "words", words(7), 0, "string ends")),
    fault(_FM, "bits", "words with one bit more", "L.index.fm.rank",
          values(_PART, "words", b"\x87", 0, "bytes")),
    fault(_FM, "samples-far", "a sample after the last byte", "L.index.fm.samples",
          values(_PART, "words", words(50), 104, "bytes")),
)  # fmt: skip

_DOCUMENTS = (
    fault(_OLD, "frequency-none", "a document that does not hold its token",
          "L.index.fts.early.documents", values(_INVERT, "_frequency", _float(0.5))),
    fault(_OLD, "frequency-far", "a token 2**32 times in a document",
          "L.index.fts.early.documents", values(_INVERT, "_frequency", _float(2.0**32))),
    fault(_OLD, "row-twice", "a row that is two documents", "L.index.fts.early.documents",
          values("docs.lance", "_rowid", words(1), 0)),
    fault(_OLD, "unknown", "a document that is not among the documents",
          "L.index.fts.early.documents", values(_INVERT, "_rowid", words(2), 0)),
    lint(_OLD, "positions", "a position less than the frequency says",
         "L.index.fts.early.documents", values(_INVERT, "_frequency", _float(2.0), 68)),
    lint(_OLD, "twice", "a document that occurs twice for a token",
         "L.index.fts.early.documents", values(_INVERT, "_rowid", words(3, 1 << 32 | 1), 112)),
)  # fmt: skip


def _tokens(count: int) -> SpanPatch:
    """State another number of tokens."""

    def edit(data: bytes) -> bytes:
        return dictionaries.sealed(data[:-20] + words(count) + data[-12:])

    return SpanPatch(("field _token_fst_bytes", "bytes"), edit, target=f"_indices/*/{_TOKENS}")


def _block(at: int, new: bytes) -> SpanPatch:
    return values(_POSTINGS, "_posting", new, at, "bytes")


_POSTING = (
    fault(_TEXTS, "tokens-next", "one token more than there are postings", "L.index.fts.tokens",
          _tokens(9)),
    fault(_TEXTS, "length-next", "a token in one document more than there are",
          "L.index.fts.posting.blocks", values(_POSTINGS, "_length", b"\x09")),
    fault(_TEXTS, "varint-next", "the number 2**32", "L.index.fts.varint",
          _block(4, b"\x80\x80\x80\x80\x10")),
    fault("inverted/plain-blocks", "width-next", "numbers of 33 bits",
          "L.index.fts.posting.width", _block(8, b"\x21")),
    fault("inverted/plain-256", "exception-next", "one exception more than may be",
          "L.index.fts.posting.exception", _block(38, b"\x80")),
    fault(_TEXTS, "document-next", "the number one after the last document",
          "L.index.fts.posting.documents", _block(6, b"\x07")),
)  # fmt: skip

_HASH = (
    fault("ngram/plain", "token-twice", "a token that occurs twice", "L.index.ngram.order",
          values("ngram_postings.lance", "tokens", words(0x3C9C, width=4), 4)),
    lint(_HASHES, "document-next", "the number one after the last document",
         "L.index.minhash.bands", values(_BANDS, "doc_id", words(10, width=4), 0)),
    lint(_HASHES, "keys-fall", "a band that falls", "L.index.minhash.bands",
         values(_BANDS, "band_key", words(1), 8)),
)  # fmt: skip


def _short_centroids(message: Index) -> None:
    """State centroids as early releases did, one number less than they need."""
    ivf = message.vector_index.stages[0].ivf
    ivf.ClearField("centroids_tensor")
    ivf.centroids.extend([0.0] * 7)


_VECTORS = (
    fault(EARLY, "centroids-cut", "a centroid that ends early", "L.index.vector.ivf.centroids",
          single_file(_short_centroids, f"_indices/*/{HEAD}")),
    fault(GRAPH, "texts-numbers", "texts of graphs that are numbers",
          "L.index.vector.metadata", text(HEAD, "lance:hnsw", lambda _: "[1]")),
)  # fmt: skip


def _deep(message: FileDescriptor) -> None:
    """Nest 65 structs."""
    highest = max(field.id for field in message.schema.fields)
    parent = -1
    for number in range(highest + 1, highest + 67):
        message.schema.fields.append(
            Field(type=Field.PARENT, name="s", id=number, parent_id=parent, logical_type="struct")
        )
        parent = number


def _wider(layout: PageLayout) -> None:
    """Say that the first field of each row has eight bytes."""
    (first, *_) = layout.full_zip_layout.value_compression.variable_packed_struct.fields
    first.bits_per_value = 64
    first.value.flat.bits_per_value = 64


def _plus(by: int) -> Callable[[bytes], bytes]:
    return lambda old: (int.from_bytes(old, "little") + by).to_bytes(len(old), "little")


_FILES = (
    edits.fault("file/2.3/rle/lz4-lengths", "more", "lengths of one byte less than their size",
                "L.codec.general.size", SpanPatch(("uncompressed size",), _plus(1))),
    edits.fault("file/2.2/packed-struct/variable", "short", "rows that end before their field",
                "L.codec.packed-struct.row", page(_wider)),
    edits.fault("file/2.1/dictionary/string", "utf8", "an item that goes on and never began",
                "L.page.leaf.utf8", edits.byte("bytes", at=0, new=0x80)),
    edits.fault("file/2.1/dictionary/string", "deep", "structs nested 66 deep",
                "L.file.schema.children", descriptor(_deep)),
)  # fmt: skip


def _ids(edit: Callable[[RowIdSequence], None]) -> MessageEdit:
    def rewrite(message: Manifest) -> None:
        fragment = message.fragments[0]
        sequence = RowIdSequence.FromString(fragment.inline_row_ids)
        edit(sequence)
        fragment.inline_row_ids = sequence.SerializeToString()

    return manifest(rewrite)


def _padded(sequence: RowIdSequence) -> None:
    sequence.segments[2].range_with_bitmap.bitmap = b"\x0d"


def _hole_twice(sequence: RowIdSequence) -> None:
    holes = sequence.segments[1].range_with_holes
    holes.end += 1
    holes.holes.u32_array.offsets = words(2, 2, width=4)


_TABLES = (
    edits.table_fault("table/any/row-ids/segments", "bitmap-padding", "a bit after the last row",
                      "L.table.row-ids.bitmap", _ids(_padded), kind="lint"),
    edits.table_fault("table/any/row-ids/segments", "hole-twice", "a hole that occurs twice",
                      "L.table.row-ids.holes", _ids(_hole_twice), kind="lint"),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (
    *_WORDS, *_DOCUMENTS, *_POSTING, *_HASH, *_VECTORS, *_FILES, *_TABLES
)  # fmt: skip
"""Every negative case that only a later check sees."""
