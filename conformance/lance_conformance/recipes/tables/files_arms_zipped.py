"""Positive cases of full-zip pages by hand: entries that no writer makes, one after the other.

Their control words and row indices are wider than they need, and their values coded twice.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

from lance_conformance.recipes import blocks
from lance_conformance.recipes.hand import by_hand, words
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.pages import NULLABLE, zipped
from lance_conformance.recipes.tables.files_arms import (
    EVERY,
    ROW_BYTES,
    ROW_TYPE,
    ROW_VALUES,
    SYMBOLS,
    WORDS,
    case,
    packed,
    row_encoding,
)

_CODES = [b"\0\1", b"", b"\xff\xc3\xff\xa4", b"\1"]


def _zipped_rows(version: str) -> Positive:
    page = zipped(version, row_encoding(), ROW_BYTES, value_bits=24)
    return packed("zipped-rows", "packed rows, one by one", version, page,
                   "L.codec.packed-struct.bits")  # fmt: skip


def _behind(value: bytes, width: int = 4) -> bytes:
    return words(len(value), width=width) + value


def _frame(value: bytes) -> bytes:
    return blocks.compressed((CompressiveEncoding(), value))[1]


def _zipped_codes(version: str) -> Positive:
    inner = CompressiveEncoding()
    inner.fsst.symbol_table = SYMBOLS
    inner.fsst.values.variable.offsets.flat.bits_per_value = 32
    encoding, _ = blocks.compressed((inner, b""))
    page = zipped(version, encoding, [_behind(_frame(code)) for code in _CODES], index_width=1)
    return case("zipped-codes", "strings coded by symbols, each compressed after that", version,
                 pa.array([word.decode() for word in WORDS]), [page],
                 "L.codec.general.frame")  # fmt: skip


def _row_indices(version: str) -> Positive:
    encoding = CompressiveEncoding()
    encoding.variable.offsets.flat.bits_per_value = 32
    entries = [_behind(word) for word in WORDS]
    pages = [zipped(version, encoding, entries, index_width=width) for width in (4, 8)]
    return case("row-index", "row indices wider than they need: of four bytes and of eight",
                 version, pa.array([word.decode() for word in WORDS * 2]), pages,
                 "L.page.rowindex.total")  # fmt: skip


_LIST = 2
"""Code of lists that are neither null nor empty."""


def _control(version: str) -> Positive:
    encoding = blocks.flat([0], 16)[0]
    entries = [words(rep << 8 | def_, value, width=4)[:4] + words(value, width=2)
               for rep, def_, value in ((1, 0, 7), (0, 1, 0), (1, 0, 9))]  # fmt: skip
    page = zipped(version, encoding, entries, layers=(NULLABLE, _LIST), bits=(9, 8), value_bits=16,
                  rows=(0, 2), index_width=1)  # fmt: skip
    return case("control", "control words of four bytes, for 17 bits of levels", version,
                 pa.array([[7, None], [9]], pa.list_(pa.int16())), [page],
                 "L.page.fullzip.control-word")  # fmt: skip


def _struct_rows() -> Positive:
    type_ = pa.struct([("s", pa.string()), ("t", pa.string()), ("n", ROW_TYPE)])
    values = [{"s": word.decode(), "t": word.decode(), "n": row}
              for word, row in zip(WORDS, ROW_VALUES, strict=False)]  # fmt: skip
    encoding = CompressiveEncoding()
    fields = encoding.variable_packed_struct.fields
    coded = fields.add(bits_per_length=32).value.fsst
    coded.symbol_table = SYMBOLS
    coded.values.variable.offsets.flat.bits_per_value = 32
    inner = CompressiveEncoding()
    inner.variable.offsets.flat.bits_per_value = 32
    fields.add(bits_per_length=32).value.CopyFrom(blocks.compressed((inner, b""))[0])
    fields.add(bits_per_value=24).value.CopyFrom(row_encoding())
    rows = [_behind(code) + _behind(_frame(word)) + row
            for code, word, row in zip(_CODES, WORDS, ROW_BYTES, strict=False)]  # fmt: skip
    page = zipped("2.3", encoding, [_behind(row) for row in rows], index_width=1)
    table = column(pa.array(values, type_), packed="true")
    made = case("rows", "packed rows: a coded string, a compressed one, a row", "2.3",
                 table["c"].chunk(0), [page], "L.codec.packed-struct.row")  # fmt: skip
    return replace(made, make=by_hand(table, "2.3", {0: [page]}))


POSITIVES: tuple[Positive, ...] = (
    *(
        make(version)
        for make in (_zipped_rows, _zipped_codes, _row_indices, _control)
        for version in EVERY
    ),
    _struct_rows(),
)
"""Every case of rare entries."""
