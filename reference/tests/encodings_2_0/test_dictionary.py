"""Dictionaries, in both conventions."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, OutOfRange
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import (
    Column,
    Page,
    binary,
    flat,
    no_nulls,
    open_built,
    read_built,
    scanned,
    some_nulls,
    taken,
    words,
)


def _dictionary(bits: int, items: pb.ArrayEncoding, num_items: int) -> pb.ArrayEncoding:
    return pb.ArrayEncoding(
        dictionary={
            "indices": no_nulls(flat(bits)),
            "items": items,
            "num_dictionary_items": num_items,
        }
    )


def test_keys_of_a_string_field_count_from_one():
    """0 is null, k is item k - 1."""
    encoding = _dictionary(8, binary(4, first=1), 2)

    found = read_built(pa.string(), encoding, 4, b"\x02\x00\x01\x01", words(1, 3), b"abb")

    assert ["bb", None, "a", "a"] == found.to_pylist()


def test_a_page_of_null_strings_has_one_null_item():
    """Keys are all 0; the single item is null."""
    encoding = _dictionary(8, binary(1, first=1), 1)

    assert [None, None] == read_built(
        pa.string(), encoding, 2, b"\x00\x00", words(1), b""
    ).to_pylist()


def test_keys_of_a_dictionary_field_count_from_zero():
    """Arrow's dictionary type keeps its keys; a null points to an item that is null."""
    type_ = pa.dictionary(pa.int16(), pa.string())
    encoding = _dictionary(16, binary(4, first=1), 3)
    keys = bytes.fromhex("0100 0200 0000")

    found = read_built(type_, encoding, 3, keys, words(1, 3, 3 + 4), b"abb")

    assert type_ == found.type
    assert ["bb", None, "a"] == found.to_pylist()
    assert 0 == found.dictionary.null_count


def test_a_null_item_before_others_moves_their_keys():
    """Null items are left out of the dictionary; the keys after them are renumbered."""
    type_ = pa.dictionary(pa.int8(), pa.int32())
    encoding = _dictionary(8, some_nulls(flat(32, 2), 1), 3)
    items = bytes.fromhex("07000000 00000000 09000000")

    found = read_built(type_, encoding, 4, b"\x02\x01\x00\x02", b"\x05", items)

    assert [9, None, 7, 9] == found.to_pylist()


def test_pages_with_different_dictionaries_are_joined():
    """Each page has its own items."""
    type_ = pa.dictionary(pa.int8(), pa.string())
    pages = [
        Page(_dictionary(8, binary(2, first=1), 1), 1, [b"\x00", words(1), text])
        for text in (b"a", b"b")
    ]
    column = open_built(type_, [Column(pages)])

    assert ["a", "b"] == scanned(column).to_pylist()
    assert ["a", "b", "b"] == taken(column, 0, 1, 1)


@pytest.mark.parametrize(
    ("type_", "keys"),
    [
        (pa.string(), b"\x03"),
        (pa.dictionary(pa.uint8(), pa.string()), b"\x02"),
        (pa.dictionary(pa.int8(), pa.string()), b"\xff"),
    ],
)
def test_a_key_without_an_item_is_refused(type_, keys):
    """Keys lie inside the dictionary by their convention."""
    encoding = _dictionary(8, binary(4, first=1), 2)

    with pytest.raises(OutOfRange, match=r"L\.array\.dictionary\.key-range"):
        read_built(type_, encoding, 1, keys, words(1, 3), b"abb")


@pytest.mark.parametrize("type_", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_keys_of_another_width_are_refused(type_):
    """One byte for a string field, the declared key type for a dictionary field."""
    encoding = _dictionary(16, binary(4, first=1), 2)

    with pytest.raises(CorruptPage, match=r"L\.array\.dictionary\.key-width"):
        read_built(type_, encoding, 1, b"\x00\x00", words(1, 3), b"abb")


def test_a_count_that_is_not_the_items_is_refused():
    """The items are as many as the message says."""
    encoding = _dictionary(8, binary(4, first=1), 3)

    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.size"):
        read_built(pa.string(), encoding, 1, b"\x01", words(1, 3), b"abb")
