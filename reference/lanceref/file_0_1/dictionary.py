"""Dictionary pages: keys; the values stand once in the file that holds the schema.

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
from lanceref.core.errors import OutOfRange, Place, UnknownEncoding
from lanceref.file.schema import Field, LanceSchema
from lanceref.file_0_1.batch_ranges import Numbers, Pieces
from lanceref.file_0_1.binary import VAR_BINARY, BinaryNode, encode_binary
from lanceref.file_0_1.page_table import Pages
from lanceref.file_0_1.plain import PlainNode, encode_plain

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
