"""Strings and byte strings, encoded."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.encodings_2_0.binary import variable_of
from lanceref.encodings_2_0.dictionary import encode_strings, own_dictionary
from lanceref.encodings_2_0.nullable import PageBuffers


def _encoded(array, compression=None, level=None):
    page = PageBuffers()
    encoding = encode_strings(array, page, compression, level)
    return encoding, [bytes(buffer) for buffer in page.buffers]


def test_the_worked_strings_have_their_ends():
    """[null, 'foo', 'foo', null, null, null]: 7, 3, 6, 13, 13, 13 with adjustment 7."""
    encoding, (ends, data) = _encoded(pa.array([None, "foo", "foo", None, None, None]))

    assert np.frombuffer(ends, "<u8").tolist() == [7, 3, 6, 13, 13, 13]
    assert data == b"foofoo"
    assert encoding.binary.null_adjustment == 7


def test_nothing_but_nulls_has_no_bytes():
    """Every end is the adjustment of 1, whatever the rows own."""
    encoding, (ends, data) = _encoded(pa.array([None, None], pa.large_binary()))

    assert (np.frombuffer(ends, "<u8").tolist(), data) == ([1, 1], b"")
    assert encoding.binary.null_adjustment == 1


def test_no_row_has_no_adjustment():
    """Two empty buffers."""
    encoding, buffers = _encoded(pa.array([], pa.string()))

    assert (buffers, encoding.binary.null_adjustment) == ([b"", b""], 0)


@pytest.mark.parametrize(
    ("rows", "distinct", "arm"),
    [(99, 5, "binary"), (100, 5, "dictionary"), (200, 99, "dictionary"), (200, 100, "binary")],
)
def test_few_distinct_strings_become_a_dictionary(rows, distinct, arm):
    """From 100 rows on, below 100 distinct values."""
    array = pa.array([f"v{i % distinct}" for i in range(rows)])

    assert _encoded(array)[0].WhichOneof("array_encoding") == arm


def test_only_plain_strings_become_a_dictionary():
    """Large strings and binaries stay as they are."""
    for type_ in (pa.large_string(), pa.binary()):
        array = pa.array(["a"] * 200, pa.string()).cast(type_)
        assert _encoded(array)[0].WhichOneof("array_encoding") == "binary"


def test_key_zero_is_null():
    """Item k - 1 has key k."""
    page = PageBuffers()

    encoding = own_dictionary(pa.array([None, "b", "a", "b"] * 30), page)

    assert bytes(page.buffers[0])[:4] == bytes([0, 1, 2, 1])
    assert encoding.dictionary.num_dictionary_items == 2


def test_a_dictionary_of_nulls_has_one_null_item():
    """Its end is the adjustment."""
    page = PageBuffers()

    encoding = own_dictionary(pa.array([None] * 100, pa.string()), page)

    assert encoding.dictionary.num_dictionary_items == 1
    assert np.frombuffer(page.buffers[1], "<u8").tolist() == [1]


@pytest.mark.parametrize("scheme", ["zstd", "lz4", "none"])
def test_bytes_are_compressed_when_asked(scheme):
    """The scheme is named; `none` too, and it changes nothing."""
    array = pa.array([f"value {i}" for i in range(50)])

    encoding, (_, data) = _encoded(array, scheme)

    assert encoding.binary.bytes.flat.compression.scheme == scheme
    assert (data == bytes(variable_of(array).data)) == (scheme == "none")


def test_an_unknown_scheme_is_not_heard():
    """The strings are plain."""
    encoding, _ = _encoded(pa.array(["a"]), "bogus")

    assert not encoding.binary.bytes.flat.HasField("compression")


def test_fsst_keeps_short_text_as_it_is():
    """The table is there, and switched off."""
    encoding, (_, data) = _encoded(pa.array(["abc"]), "fsst")

    assert (len(encoding.fsst.symbol_table), data) == (2312, b"abc")
