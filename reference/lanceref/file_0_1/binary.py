"""Var-binary pages: strings and byte strings.

The bytes of all values stand first, then the offsets; the page table points at the offsets. They
count from the start of the file. A value without bytes is null in a nullable field, else empty.

Layout of a page::

    ....      bytes of the values
    position  (num_rows + 1) x i64   absolute offset of each value, last the end

Clauses: L.legacy.binary.offsets, L.legacy.binary.ascending, L.legacy.binary.null,
L.legacy.binary.utf8, L.legacy.limits.run

Divergences: D.legacy.empty-is-null

Dictionary pages: keys; the values stand once in the file that holds the schema.

A field of Arrow's dictionary type stores its keys as a plain page of the key type. The values are
those of the first batch, for all batches of all files: the data file keeps a copy after its
statistics, the table's manifest file another one at its head. `Field.dictionary` of the schema in
either file says where.

Layout of the values: strings and byte strings as a var-binary page, numbers as a plain page, at
`dictionary.offset` with `dictionary.length` values. In a nullable field one without bytes
is null.

Clauses: L.legacy.dictionary.location, L.legacy.dictionary.values, L.legacy.dictionary.key-range,
L.legacy.dictionary.value-type

Divergences: D.legacy.second-dictionary, D.legacy.nulls-lost, D.legacy.empty-is-null
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange, Place, UnknownEncoding
from lanceref.file.schema import Field, LanceSchema
from lanceref.file_0_1.batch_ranges import Numbers, Offsets, Pieces, gather, read_offsets
from lanceref.file_0_1.page_table import Pages
from lanceref.file_0_1.plain import PlainNode, encode_plain

OFFSET_BYTES = 8
"""Size of one offset."""

GAP_BYTES = 8192
"""Values closer than this are fetched by one request."""

TEXT = (pa.string(), pa.large_string())
LARGE = (pa.large_string(), pa.large_binary())
VAR_BINARY = (*TEXT, pa.binary(), pa.large_binary())
"""Types that are stored so."""


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

    def read(self, pieces: Pieces) -> pa.Array:
        """Read the offsets, then the bytes they name."""
        offsets = read_offsets(self._file, self._pages, pieces, "<i8", "L.legacy.binary.ascending")
        self._check_range(offsets, pieces)
        ends = offsets.ends()
        if ends[-1] > np.iinfo(np.int32).max and self.type not in LARGE:
            raise LimitExceeded(
                "L.legacy.limits.run",
                self._pages.place,
                found=f"{ends[-1]} bytes in one run of rows",
                wanted=f"what offsets of {self.type} can count",
            )
        named = ("bytes of values", "L.legacy.binary.offsets", "bytes")
        data = gather(self._file, offsets.firsts, offsets.lasts - offsets.firsts, named, GAP_BYTES)
        validity = None
        nulls = offsets.lengths == 0  # L.legacy.binary.null
        if self._nullable and nulls.any():
            validity = pa.py_buffer(np.packbits(~nulls, bitorder="little"))
        own = ends if self.type in LARGE else ends.astype(np.int32)
        buffers = [validity, pa.py_buffer(own), pa.py_buffer(data)]
        array = pa.Array.from_buffers(self.type, pieces.num_rows, buffers)
        if self.type in TEXT:
            self._check_utf8(array, offsets)
        return array

    def _check_range(self, offsets: Offsets, pieces: Pieces) -> None:
        """Refuse offsets that leave the data area."""
        outside = (offsets.firsts < 0) | (offsets.lasts > self._pages.data_end)
        if outside.any():
            piece = int(np.argmax(outside))
            position = int(self._pages.positions[pieces.batches[piece]])
            raise OutOfRange(
                "L.legacy.binary.offsets",
                self._file.ctx.at(position, OFFSET_BYTES * int(pieces.counts[piece] + 1)),
                found=f"bytes {offsets.firsts[piece]} to {offsets.lasts[piece]}",
                wanted=f"bytes inside 0 to {self._pages.data_end}",
            )

    def _check_utf8(self, array: pa.Array, offsets: Offsets) -> None:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:  # L.legacy.binary.utf8
            first, last = int(offsets.firsts.min()), int(offsets.lasts.max())
            self._file.ctx.refuse(
                CorruptPage(
                    "L.legacy.binary.utf8",
                    self._file.ctx.at(first, last - first),
                    found=str(error),
                    wanted="valid UTF-8",
                )
            )


def encode_binary(array: pa.Array, position: int) -> tuple[bytes | memoryview, bytes]:
    """Return bytes and offsets of a page whose bytes begin at `position` of the file."""
    wide = np.int64 if array.type in LARGE else np.int32
    offsets = np.frombuffer(array.buffers()[1] or bytes(8), wide)
    own = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = memoryview(array.buffers()[2] or b"")[own[0] : own[-1]]
    return data, (own - own[0] + position).astype("<i8").tobytes()


Dictionaries = Mapping[int, pa.Array]
"""The values of the dictionary fields of a schema by field id."""


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
        self._file, self._pages, self._values = file, pages, values
        self._keys = PlainNode(file, pages, type_.index_type, rows)
        self.lengths = self._keys.lengths

    @property
    def row_bytes(self) -> float:
        """Bytes of a key."""
        return self._keys.row_bytes

    def read(self, pieces: Pieces) -> pa.Array:
        """Read the keys and hold them against the number of values."""
        keys = self._keys.read(pieces)
        numbers = keys.to_numpy()
        if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= len(self._values)):
            raise OutOfRange(  # L.legacy.dictionary.key-range
                "L.legacy.dictionary.key-range",
                self._pages.place,
                found=f"keys from {numbers.min()} to {numbers.max()}",
                wanted=f"keys from 0 to {len(self._values) - 1}",
            )
        return pa.DictionaryArray.from_arrays(keys, self._values)


def parse_dictionaries(
    file: FileBytes, schema: LanceSchema, data_end: int, place: Place
) -> dict[int, pa.Array]:
    """Read the values that the schema at `place` of `file` locates, by field id."""
    found = {}
    for field in schema.flat():
        if field.dictionary is not None and pa.types.is_dictionary(field.arrow.type):
            with file.ctx.group(f"dictionary of {field.name}"):
                found[field.id] = _values(file, field, field.dictionary, data_end, place)
    return found


def _values(
    file: FileBytes, field: Field, where: tuple[int, int], data_end: int, place: Place
) -> pa.Array:
    position, length = where
    if not (0 <= position <= data_end and 0 <= length <= data_end):
        raise OutOfRange(
            "L.legacy.dictionary.values",
            place,
            found=f"{length} values at {position}",
            wanted=f"values inside bytes 0 to {data_end}",
        )
    if not length:  # a table without rows: nothing is stored
        return pa.array([], field.arrow.type.value_type)
    pages = Pages(np.array([position]), np.array([length]), data_end, place)
    type_ = field.arrow.type.value_type
    node: BinaryNode | PlainNode
    if type_ in VAR_BINARY:
        node = BinaryNode(file, pages, type_, None, nullable=field.arrow.nullable)
    elif is_number(type_):
        node = PlainNode(file, pages, type_, None)
    else:
        raise UnknownEncoding(
            "L.legacy.dictionary.value-type",
            place,
            found=f"a dictionary of {type_}",
            wanted="numbers, strings or byte strings",
        )
    return node.read(Pieces.whole(0, length))


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
    if values.type in VAR_BINARY:
        data, ends = encode_binary(values, position)
        return bytes(data) + ends, position + len(data)
    return bytes(encode_plain(values)), position
