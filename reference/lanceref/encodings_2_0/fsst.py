"""FSST: strings whose frequent substrings are replaced by one-byte codes.

The compressed strings are stored as `binary`; the symbol table stands in the description of the
page, in the form that later versions use too (see `codecs.fsst`). A table that is switched off
marks strings stored as they are.

Clauses: L.array.fsst.inner, and those of `codecs.fsst`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from lanceref.codecs.fsst import SymbolTable, decode, parse_table
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import UnknownEncoding
from lanceref.encodings_2_0.binary import BinaryArray, open_binary, variable_array
from lanceref.encodings_2_0.page import Page
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb


@dataclass(frozen=True, slots=True)
class FsstArray:
    """Compressed strings and the table that undoes it."""

    page: Page
    strings: BinaryArray
    table: SymbolTable
    type: pa.DataType

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the end offsets."""
        return self.strings.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Read the compressed strings and expand them."""
        stored, nulls = self.strings.values(rows, parts)
        values = decode(self.table, stored, self.strings.place)
        return variable_array(values, nulls, self.type, self.page, self.strings.place)


def open_fsst(encoding: pb.Fsst, type_: pa.DataType, num_rows: int, page: Page) -> FsstArray:
    """Open compressed strings; the inner encoding must be binary."""
    arm = encoding.binary.WhichOneof("array_encoding")
    if arm != "binary":  # L.array.fsst.inner
        raise UnknownEncoding(
            "L.array.fsst.inner", page.place, found=f"fsst over {arm}", wanted="fsst over binary"
        )
    table = parse_table(encoding.symbol_table, page.place)
    strings = open_binary(encoding.binary.binary, type_, num_rows, page, "fsst codes")
    return FsstArray(page, strings, table, type_)
