"""Damaged 2.0 files: rows or a LanceError, never anything else."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError
from lanceref.data_file.check import check_file
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from .building import (
    BLOB,
    STRUCT,
    Column,
    Page,
    binary,
    built_file,
    flat,
    list_page,
    no_nulls,
    some_nulls,
    words,
)
from .test_bitpacked import bitpacked, for_non_neg
from .test_blob import ENCODING as BLOB_PAGE
from .test_blob import FIELD as BLOB_FIELD
from .test_fsst import fsst, table
from .test_packed_struct import FIELD as PACKED_FIELD
from .test_packed_struct import GOOD as PACKED
from .test_packed_struct import ROWS as PACKED_ROWS

DICTIONARY = pb.ArrayEncoding(
    dictionary={
        "indices": no_nulls(flat(8)),
        "items": binary(4, first=1),
        "num_dictionary_items": 2,
    }
)
VECTORS = pb.ArrayEncoding(fixed_size_list={"dimension": 2, "items": some_nulls(flat(8, 1))})
STRINGS = Column([Page(binary(4), 3, [words(1, 3 + 4, 3), b"abc"])])

FILES: dict[str, tuple[pa.Field, list[Column], int]] = {
    "numbers": (
        pa.field("c", pa.int32()),
        [Column([Page(some_nulls(flat(32, 1)), 3, [b"\x05", bytes(12)])])],
        3,
    ),
    "strings": (pa.field("c", pa.string()), [STRINGS], 3),
    "dictionary": (
        pa.field("c", pa.dictionary(pa.int8(), pa.string())),
        [Column([Page(DICTIONARY, 2, [b"\x00\x01", words(1, 3), b"abb"])])],
        2,
    ),
    "auto dictionary": (
        pa.field("c", pa.string()),
        [Column([Page(DICTIONARY, 2, [b"\x00\x01", words(1, 3), b"abb"])])],
        2,
    ),
    "vectors": (
        pa.field("c", pa.list_(pa.int8(), 2)),
        [Column([Page(no_nulls(VECTORS), 2, [b"\x0b", b"\x01\x02\x03\x04"])])],
        2,
    ),
    "lists": (
        pa.field("c", pa.list_(pa.string())),
        [Column([Page(list_page(3), 2, [words(1, 3)])]), STRINGS],
        2,
    ),
    "struct": (
        pa.field("c", pa.struct([("s", pa.string())])),
        [Column([Page(STRUCT, 3, [])]), STRINGS],
        3,
    ),
    "packed": (PACKED_FIELD, [Column([Page(PACKED, 2, [PACKED_ROWS])])], 2),
    "blob": (BLOB_FIELD, [Column([Page(BLOB_PAGE, 2, [words(1, 0, 0, 5)])], BLOB)], 2),
    "bitpacked": (pa.field("c", pa.int16()), [Column([Page(bitpacked(12, 16), 3, [b"abcde"])])], 3),
    "fastlanes": (
        pa.field("c", pa.int8()),
        [Column([Page(for_non_neg(1, 8), 9, [bytes(128)])])],
        9,
    ),
    "fsst": (
        pa.field("c", pa.string()),
        [Column([Page(fsst(3, table(b"foo", b"b")), 2, [words(1, 2), b"\x00\x01"])])],
        2,
    ),
    "zstd": (
        pa.field("c", pa.binary()),
        [
            Column(
                [
                    Page(
                        binary(101, scheme="zstd"),
                        1,
                        [
                            words(100),
                            words(100) + pa.Codec("zstd").compress(b"a" * 100, asbytes=True),
                        ],
                    )
                ]
            )
        ],
        1,
    ),
}


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize(("field", "columns", "num_rows"), FILES.values(), ids=FILES)
def test_every_flipped_byte_gives_rows_or_a_lance_error(field, columns, num_rows, mask):
    """Reading, taking and checking raise nothing but errors that fill clause, found and wanted."""
    good = built_file(field, columns, num_rows)
    for at in range(len(good)):
        damaged = bytearray(good)
        damaged[at] ^= mask
        source = BytesSource(bytes(damaged), "f.lance")
        try:
            reader = LanceFileReader("f.lance", source=source)
            reader.read_all().to_table().validate(full=True)
            reader.take_rows([0, num_rows - 1]).to_table().validate(full=True)
        except BytesError as error:
            assert error.clause
            assert error.file == "f.lance"
            assert str(error.found)
            assert str(error.wanted)
        check_file(BytesSource(bytes(damaged), "f.lance"), Context("f.lance", findings=[]))
