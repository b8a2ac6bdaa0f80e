"""Var-binary pages: strings and byte strings; and dictionaries, whose keys are plain pages.

The bytes of all values come first, then the offsets; the page table points at the offsets. They
count from the start of the file. A value without bytes is null in a nullable field, else empty. A
field of Arrow's dictionary type stores its keys as a plain page of the key type. The values are
those of the first batch, for all batches of all files: the data file keeps a copy after its
statistics, the table's manifest file another one at its head. `Field.dictionary` of the schema in
either file says where.

Layout of a page::

    ....      bytes of the values
    position  (num_rows + 1) x i64   absolute offset of each value, last the end

Layout of dictionary values: strings and byte strings as a var-binary page, numbers as a plain page,
at `dictionary.offset` with `dictionary.length` values. In a nullable field one without bytes is
null.

Clauses: L.legacy.binary.offsets, L.legacy.binary.ascending, L.legacy.binary.null,
L.legacy.binary.utf8, L.legacy.limits.run, L.legacy.dictionary.location,
L.legacy.dictionary.values, L.legacy.dictionary.key-range, L.legacy.dictionary.value-type

Divergences: D.legacy.empty-is-null, D.legacy.second-dictionary, D.legacy.nulls-lost
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange, Place, UnknownEncoding
from lanceref.encodings_2_0.binary import LARGE, STRINGS, TEXT
from lanceref.encodings_2_0.page import validity_buffer
from lanceref.file.schema import Field, LanceSchema
from lanceref.file_0_1.page_table import BatchRanges, Numbers, Pages, gather, read_offsets
from lanceref.file_0_1.plain import PlainNode, encode_plain

OFFSET_BYTES = 8
"""Size of one offset."""

GAP_BYTES = 8192
"""Values closer than this are fetched by one request."""

Dictionaries = Mapping[int, pa.Array]
"""The values of the dictionary fields of a schema by field id."""


class BinaryNode:
    """The strings of one field; without bytes they are null when `nullable`."""

    def __init__(
        self,
        file: FileBytes,
        pages: Pages,
        type_: pa.DataType,
        rows: Numbers | None,
        *,
        nullable: bool,
    ) -> None:
        self.type = type_
        self._file, self._pages, self._nullable = file, pages, nullable
        self.lengths = pages.lengths
        pages.require(rows, 8 * OFFSET_BYTES, OFFSET_BYTES)

    @property
    def row_bytes(self) -> float:
        """Bytes of a row if the file held nothing else: its bytes by the rows of this field."""
        return max(OFFSET_BYTES, self._pages.data_end / max(1, int(self._pages.lengths.sum())))

    def read(self, ranges: BatchRanges) -> pa.Array:
        """Read the offsets, then the bytes they name."""
        file, pages, ctx = self._file, self._pages, self._file.ctx
        offsets = read_offsets(file, pages, ranges, "<i8", "L.legacy.binary.ascending")
        firsts, lasts = offsets.firsts, offsets.lasts
        outside = (firsts < 0) | (lasts > pages.data_end)
        if outside.any():
            number = int(np.argmax(outside))
            position = int(pages.positions[ranges.batches[number]])
            place = ctx.at(position, OFFSET_BYTES * int(ranges.counts[number] + 1))
            found, wanted = f"bytes {firsts[number]} to {lasts[number]}", f"0 to {pages.data_end}"
            raise OutOfRange("L.legacy.binary.offsets", place, found=found, wanted=wanted)
        ends = offsets.ends()
        if ends[-1] > np.iinfo(np.int32).max and self.type not in LARGE:
            found, wanted = f"{ends[-1]} bytes in one run", f"what {self.type} can count"
            raise LimitExceeded("L.legacy.limits.run", pages.place, found=found, wanted=wanted)
        named = ("bytes of values", "L.legacy.binary.offsets", "bytes")
        data = gather(file, firsts, lasts - firsts, named, GAP_BYTES)
        nulls = offsets.lengths == 0  # L.legacy.binary.null
        own = ends if self.type in LARGE else ends.astype(np.int32)
        validity = validity_buffer(nulls) if self._nullable else None
        buffers = [validity, pa.py_buffer(own), pa.py_buffer(data)]
        array = pa.Array.from_buffers(self.type, ranges.num_rows, buffers)
        if self.type in TEXT:
            try:
                array.validate(full=True)
            except pa.ArrowInvalid as error:
                first, last = int(firsts.min()), int(lasts.max())
                clause, place = "L.legacy.binary.utf8", ctx.at(first, last - first)
                ctx.refuse(CorruptPage(clause, place, found=str(error), wanted="valid UTF-8"))
        return array


def encode_binary(array: pa.Array, position: int) -> tuple[bytes | memoryview, bytes]:
    """Return bytes and offsets of a page whose bytes begin at `position` of the file."""
    wide = np.int64 if array.type in LARGE else np.int32
    offsets = np.frombuffer(array.buffers()[1] or bytes(8), wide)
    own = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = memoryview(array.buffers()[2] or b"")[own[0] : own[-1]]
    return data, (own - own[0] + position).astype("<i8").tobytes()


class DictionaryNode:
    """Keys into `values`."""

    def __init__(
        self,
        file: FileBytes,
        pages: Pages,
        type_: pa.DataType,
        rows: Numbers | None,
        values: pa.Array,
    ) -> None:
        self.type = type_
        self._place, self._values = pages.place, values
        self._keys = PlainNode(file, pages, type_.index_type, rows)
        self.lengths, self.row_bytes = self._keys.lengths, self._keys.row_bytes

    def read(self, ranges: BatchRanges) -> pa.Array:
        """Read the keys; each must be below the number of values."""
        keys, num_values = self._keys.read(ranges), len(self._values)
        numbers = keys.to_numpy()
        if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= num_values):
            found, wanted = (
                f"keys from {numbers.min()} to {numbers.max()}",
                f"0 to {num_values - 1}",
            )
            clause = "L.legacy.dictionary.key-range"
            raise OutOfRange(clause, self._place, found=found, wanted=wanted)
        return pa.DictionaryArray.from_arrays(keys, self._values)


def parse_dictionaries(
    file: FileBytes, schema: LanceSchema, data_end: int, place: Place
) -> dict[int, pa.Array]:
    """Read the values that the schema at `place` of `file` locates, by field id."""
    dictionaries = {}
    for field in schema.flat():
        if field.dictionary is not None and pa.types.is_dictionary(field.arrow.type):
            with file.ctx.group(f"dictionary of {field.name}"):
                dictionaries[field.id] = _values(file, field, field.dictionary, data_end, place)
    return dictionaries


def _values(
    file: FileBytes, field: Field, where: tuple[int, int], data_end: int, place: Place
) -> pa.Array:
    position, length = where
    if not (0 <= position <= data_end and 0 <= length <= data_end):
        clause, found = "L.legacy.dictionary.values", f"{length} values at {position}"
        raise OutOfRange(clause, place, found=found, wanted=f"bytes 0 to {data_end}")
    type_ = field.arrow.type.value_type
    if not length:  # a table without rows: nothing is stored
        return pa.array([], type_)
    pages = Pages(np.array([position]), np.array([length]), data_end, place)
    node: BinaryNode | PlainNode
    if type_ in STRINGS:
        node = BinaryNode(file, pages, type_, None, nullable=field.arrow.nullable)
    elif is_number(type_):
        node = PlainNode(file, pages, type_, None)
    else:
        clause, wanted = "L.legacy.dictionary.value-type", "numbers, strings or byte strings"
        raise UnknownEncoding(clause, place, found=f"a dictionary of {type_}", wanted=wanted)
    return node.read(BatchRanges.whole(0, length))


def is_number(type_: pa.DataType) -> bool:
    """Whether values of this type are stored as plain numbers in a dictionary."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_))


def encode_dictionaries(
    dictionaries: Dictionaries, position: int
) -> tuple[bytes, dict[int, tuple[int, int]]]:
    """Return the bytes of all dictionaries that are written at `position`, ascending by field id.

    With them comes by field id what `Field.dictionary` says: position, and number of values.
    """
    written, located = b"", {}
    for field_id, values in sorted(dictionaries.items()):
        data, start = encode_values(values, position + len(written))
        written += data
        located[field_id] = (start, len(values))
    return written, located


def encode_values(values: pa.Array, position: int) -> tuple[bytes, int]:
    """Return the bytes of a dictionary that are written at `position`, and where it then lies."""
    if values.type in STRINGS:
        data, ends = encode_binary(values, position)
        return bytes(data) + ends, position + len(data)
    return bytes(encode_plain(values)), position
