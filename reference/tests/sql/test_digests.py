"""Bytes as text, and digests: the answers are the oracle's."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from pylanceref.sql.expression import bind as bind_sql

BATCH = pa.record_batch({"s": ["abc", "", None, "hi"], "b": [b"\xff\x00", b"", None, b"hi"]})


def call(text):
    """Return the values of an expression."""
    return bind_sql(text, BATCH.schema).evaluate(BATCH).to_pylist()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("encode(s, 'hex')", ["616263", "", None, "6869"]),
        ("encode(s, 'base64')", ["YWJj", "", None, "aGk"]),
        ("encode(s, 'base64pad')", ["YWJj", "", None, "aGk="]),
        ("decode(encode(b, 'hex'), 'hex')", [b"\xff\x00", b"", None, b"hi"]),
        ("decode(encode(b, 'base64'), 'base64')", [b"\xff\x00", b"", None, b"hi"]),
        ("decode('aGk=', 'base64')", [b"hi"] * 4),
    ],
)
def test_spellings(text, wanted):
    """Text stands for its bytes."""
    assert wanted == call(text)


@pytest.mark.parametrize(
    ("text", "column", "name"),
    [
        ("sha224(s)", "s", "sha224"),
        ("sha256(b)", "b", "sha256"),
        ("sha384(s)", "s", "sha384"),
        ("digest(s, 'sha512')", "s", "sha512"),
        ("digest(b, 'blake2s')", "b", "blake2s"),
    ],
)
def test_digests(text, column, name):
    """As the standard library makes them."""
    held = [one.encode() if isinstance(one, str) else one for one in BATCH[column].to_pylist()]
    wanted = [None if one is None else hashlib.new(name, one).digest() for one in held]

    assert wanted == call(text)


@pytest.mark.parametrize(
    "text",
    ["encode(s, 'zap')", "digest(s, 'zap')", "decode('zz', 'hex')", "decode('a b', 'base64')"],
)
def test_what_is_no_spelling_is_refused(text):
    """Unknown names, and text that is not spelt so."""
    with pytest.raises((QueryFailed, QueryRefused)):
        call(text)
