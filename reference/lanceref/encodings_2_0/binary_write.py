"""Strings and byte strings, encoded: end offsets and bytes, a dictionary, or FSST codes.

Strings of a page with at least 100 rows and fewer than 100 distinct values become a dictionary of
the writer's own: keys of one byte, 0 for null, k for item k - 1.

Layout: see `binary`, `dictionary` and `fsst`.

Clauses: L.array.binary.null-adjustment-value, L.array.dictionary.num-items
"""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import fsst_encode, general
from lanceref.codecs.values import Variable
from lanceref.core.compute import pc
from lanceref.encodings_2_0.encode import PageBuffers, no_nulls
from lanceref.file.column_writer import Buffer
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

DICTIONARY_ROWS = 100
"""Rows from which, and distinct values below which, strings become a dictionary."""

FIRST_ROWS = 4096
"""Rows that are looked at first: in most pages they have too many distinct values already."""

COMPRESSIONS = ("zstd", "lz4", "none", "fsst")
"""What field metadata can ask for; anything else is not heard."""


def encode_strings(
    array: pa.Array, page: PageBuffers, compression: str | None, level: int | None
) -> ArrayEncoding:
    """Encode strings of a page: a dictionary, FSST or plain, as the rows and metadata suggest."""
    if pa.types.is_string(array.type):
        chosen = own_dictionary(array, page)
        if chosen is not None:
            return chosen
    if compression == "fsst":
        return encode_fsst(array, page)
    scheme = compression if compression in COMPRESSIONS else None
    return encode_binary(array, page, scheme, level)


def encode_binary(
    array: pa.Array, page: PageBuffers, scheme: str | None = None, level: int | None = None
) -> ArrayEncoding:
    """Encode the ends of all rows, then their bytes, compressed if a scheme is named."""
    return _binary(variable_of(array), _nulls(array), page, scheme, level)


def _binary(
    values: Variable,
    nulls: NDArray[np.bool_],
    page: PageBuffers,
    scheme: str | None = None,
    level: int | None = None,
) -> ArrayEncoding:
    encoding = ArrayEncoding()
    size = int(values.offsets[-1])
    adjustment = size + 1 if values.count else 0
    ends = values.offsets[1:].astype("<u8")
    ends[nulls] += np.uint64(adjustment)
    encoding.binary.indices.CopyFrom(no_nulls(page.flat(ends.view(np.uint8), 64)))
    plain = np.ascontiguousarray(values.data[:size])
    data: Buffer = plain
    if scheme in ("zstd", "lz4"):
        data = general.compress(scheme, level, plain.data)
    body = page.flat(data, 8, scheme)
    if scheme is not None and level is not None:
        body.flat.compression.level = level
    encoding.binary.bytes.CopyFrom(body)
    encoding.binary.null_adjustment = adjustment
    return encoding


def encode_fsst(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    """Encode strings as codes under a symbol table."""
    table, coded = fsst_encode.encode(variable_of(array))
    encoding = ArrayEncoding()
    encoding.fsst.binary.CopyFrom(_binary(coded, _nulls(array), page))
    encoding.fsst.symbol_table = table
    return encoding


def own_dictionary(array: pa.Array, page: PageBuffers) -> ArrayEncoding | None:
    """Encode strings as a dictionary of the writer's own; None when there are too many or few."""
    threshold = int(os.environ.get("LANCE_DICT_ENCODING_THRESHOLD", DICTIONARY_ROWS))
    if len(array) < threshold or pc.count_distinct(array[:FIRST_ROWS]).as_py() >= threshold:
        return None
    coded = array.dictionary_encode()
    if len(coded.dictionary) >= threshold:
        return None
    items = coded.dictionary if len(coded.dictionary) else pa.nulls(1, array.type)
    keys = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1
    encoding = ArrayEncoding()
    encoding.dictionary.indices.CopyFrom(no_nulls(page.flat(keys.astype(np.uint8), 8)))
    encoding.dictionary.items.CopyFrom(encode_binary(items, page))
    encoding.dictionary.num_dictionary_items = len(items)
    return encoding


def variable_of(array: pa.Array) -> Variable:
    """Return the bytes of strings with offsets from 0; those of null rows too if not all are."""
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    if offsets is None or array.null_count == len(array):
        return Variable(np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8))
    table = np.frombuffer(offsets, np.int64 if wide else np.int32)
    cut = table[array.offset : array.offset + len(array) + 1].astype(np.int64)
    stored = np.frombuffer(data if data is not None else b"", np.uint8)[cut[0] : cut[-1]]
    return Variable(cut - cut[0], stored)


def _nulls(array: pa.Array) -> NDArray[np.bool_]:
    nulls: NDArray[np.bool_] = np.asarray(array.is_null())
    return nulls
