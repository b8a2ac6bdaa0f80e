"""Array encoding: one message, twelve arms.

Every page of a 2.0 column is described by an `ArrayEncoding`; here the arm that is set chooses the
module that reads it, and inner encodings are opened the same way. Lists and struct headers are not
opened here: they are whole columns (see `column`). The protobuf library bounds how deep they nest.

Clauses: L.array.encoding.tag
"""

from __future__ import annotations

import pyarrow as pa

from lanceref.core.errors import UnknownEncoding
from lanceref.encodings_2_0.binary import open_binary
from lanceref.encodings_2_0.bitpacked import open_bitpacked, open_bitpacked_for_non_neg
from lanceref.encodings_2_0.dictionary import open_dictionary
from lanceref.encodings_2_0.fixed_size_binary import open_fixed_size_binary
from lanceref.encodings_2_0.fixed_size_list import open_fixed_size_list
from lanceref.encodings_2_0.flat import open_flat_array
from lanceref.encodings_2_0.fsst import open_fsst
from lanceref.encodings_2_0.nullable import open_nullable
from lanceref.encodings_2_0.packed_struct import open_packed_struct
from lanceref.encodings_2_0.page import Page, PageArray
from lanceref.proto import encodings_v2_0_pb2 as pb


def open_array(
    encoding: pb.ArrayEncoding, type_: pa.DataType, num_rows: int, page: Page
) -> PageArray:
    """Open an encoding as `num_rows` values of an Arrow type; its buffers are bounded here."""

    def same_rows(inner: pb.ArrayEncoding) -> PageArray:
        return open_array(inner, type_, num_rows, page)

    def items(inner: pb.ArrayEncoding, item_type: pa.DataType, num_items: int) -> PageArray:
        return open_array(inner, item_type, num_items, page)

    match encoding.WhichOneof("array_encoding"):
        case "flat":
            return open_flat_array(encoding.flat, type_, num_rows, page)
        case "nullable":
            return open_nullable(encoding.nullable, type_, num_rows, page, same_rows)
        case "fixed_size_list":
            return open_fixed_size_list(encoding.fixed_size_list, type_, num_rows, page, items)
        case "binary":
            return open_binary(encoding.binary, type_, num_rows, page)
        case "dictionary":
            return open_dictionary(encoding.dictionary, type_, num_rows, page, items)
        case "fsst":
            return open_fsst(encoding.fsst, type_, num_rows, page)
        case "packed_struct":
            return open_packed_struct(encoding.packed_struct, type_, num_rows, page)
        case "bitpacked":
            return open_bitpacked(encoding.bitpacked, type_, num_rows, page)
        case "fixed_size_binary":
            return open_fixed_size_binary(encoding.fixed_size_binary, type_, num_rows, page)
        case "bitpacked_for_non_neg":
            return open_bitpacked_for_non_neg(encoding.bitpacked_for_non_neg, type_, num_rows, page)
        case other:  # L.array.encoding.tag
            raise UnknownEncoding(
                "L.array.encoding.tag",
                page.place,
                found=f"array encoding {other or 'without a known arm'} for {type_}",
                wanted="an array encoding of 2.0 that holds values",
            )
