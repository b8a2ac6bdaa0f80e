"""Dictionary pages and values."""

import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError
from lanceref.file_0_1.encodings import encode_dictionaries, encode_values, is_number

from .building import i64, metadata_of, opened, patched, read, written

KEYS = pa.array([0, None, 1, 0], pa.int8())
TABLE = pa.table({"d": pa.DictionaryArray.from_arrays(KEYS, pa.array(["aa", "b"]))})


def test_values_are_a_page_of_their_own():
    """Strings: bytes, then offsets; numbers: as they are."""
    assert (b"aab" + i64(10, 12, 13), 13) == encode_values(pa.array(["aa", "b"]), 10)
    assert (b"\x05\x06", 10) == encode_values(pa.array([5, 6], pa.int8()), 10)


def test_dictionaries_stand_one_after_another():
    """Ascending by field id, each with its position and number of values."""
    both = {7: pa.array(["a"]), 2: pa.array([5, 6], pa.int8())}
    data, located = encode_dictionaries(both, 0)
    assert b"\x05\x06a" + i64(2, 3) == data
    assert {2: (0, 2), 7: (3, 1)} == located


def test_a_null_key_is_the_key_below_it():
    """The keys are a plain page; the schema says where the values lie."""
    data = written(TABLE)
    field = opened(data).manifest.schema.fields[0]

    assert bytes([0, 0, 1, 0]) == data[:4]
    assert b"aab" == data[field.dictionary[0] - 3 : field.dictionary[0]]
    assert 2 == field.dictionary[1]
    assert {"d": ["aa", "aa", "b", "aa"]} == read(data)


def test_an_empty_value_is_null():
    """As in any page of strings."""
    keys = pa.array([0, 1], pa.int8())
    table = pa.table({"d": pa.DictionaryArray.from_arrays(keys, pa.array(["", "b"]))})
    assert {"d": [None, "b"]} == read(written(table))


@pytest.mark.parametrize("key", [2, 255])
def test_keys_beyond_the_values_are_refused(key):
    """Below 0 too."""
    with pytest.raises(BytesError) as refusal:
        read(patched(written(TABLE), 2, bytes([key])))
    assert "L.legacy.dictionary.key-range" == refusal.value.clause


def test_values_of_the_table_come_before_those_of_the_file():
    """A table may say what keys mean."""
    data = written(TABLE)
    file = opened(data, dictionaries={0: pa.array(["x", "y"])})
    (array,) = file.open_field(file.manifest.schema.fields[0]).scan(0, 4)
    assert ["x", "x", "y", "x"] == array.to_pylist()


def test_a_dictionary_without_values_is_refused():
    """The schema of the table does not say where they lie."""
    file = opened(written(TABLE), dictionaries={})
    with pytest.raises(BytesError) as refusal:
        file.open_field(file.manifest.schema.fields[0])
    assert "L.legacy.dictionary.location" == refusal.value.clause


def _located(offset: int, length: int) -> bytes:
    """Write the file with another location of the values in its manifest."""
    data = written(TABLE)
    position = metadata_of(data)[1].manifest_position
    old = opened(data).manifest.schema.fields[0].dictionary
    message = data[position:].replace(
        bytes([0x08, old[0], 0x10, old[1]]), bytes([0x08, offset, 0x10, length]), 1
    )
    return data[:position] + message


@pytest.mark.parametrize(("offset", "length"), [(3, 99), (127, 2), (127, 127)])
def test_values_outside_of_the_file_are_refused(offset, length):
    """Or values of which the page table would say so."""
    with pytest.raises(BytesError):
        opened(_located(offset, length))


def test_numbers_of_any_width_can_be_values():
    """Booleans and dates cannot."""
    wanted = {pa.int8(): True, pa.float64(): True, pa.bool_(): False, pa.date32(): False}
    assert wanted == {type_: is_number(type_) for type_ in wanted}
