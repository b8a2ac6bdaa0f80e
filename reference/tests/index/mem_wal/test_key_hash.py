"""Hashes of primary keys."""

from __future__ import annotations

import pyarrow as pa
from lanceref.index.mem_wal.shard_log import key_hashes, sip_hash


def test_the_hash_is_that_of_rust():
    """Of nothing, as its standard hasher begins and ends."""
    assert 0xD1FBA762150C532C == sip_hash(b"")


def test_every_column_of_a_key_counts():
    """In their order; words of 4 and of 8 bytes differ."""
    wide, narrow = (pa.chunked_array([[1, 2]], type_) for type_ in (pa.int64(), pa.int32()))
    text, octets = pa.chunked_array([["a", "b"]]), pa.chunked_array([[b"a", b"b"]])
    every = [(wide,), (narrow,), (text,), (octets,), (wide, text), (text, wide)]
    found = [number for columns in every for number in key_hashes(columns).tolist()]

    assert 12 == len(set(found))
    assert [sip_hash(bytes([0, 1, 0, 0, 0])), sip_hash(b"\0a\xff")] == [found[2], found[4]]
    assert sip_hash(b"\0\1" + bytes(7) + b"\0a\xff") == found[8]


def test_of_other_types_it_is_not_known():
    """Also where one of several columns has one."""
    known, other = pa.chunked_array([[1]]), pa.chunked_array([[1]], pa.uint64())

    assert key_hashes([known, other]) is None
