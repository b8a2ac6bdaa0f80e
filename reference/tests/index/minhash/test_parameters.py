"""Parameters of a MINHASHLSH index."""

from __future__ import annotations

import pytest
from lanceref.core.errors import FormatError, OperationRefused, Place, UnknownIndex, UnknownVersion
from lanceref.index.minhash.signature import (
    MinHashParameters,
    parse_parameters,
    requested_parameters,
)

from .texts import PARAMETERS

PLACE = Place("x", 0)


def test_worked_details():
    """As the official writer has those of an index without given parameters."""
    assert MinHashParameters().details.SerializeToString(deterministic=True).hex() == (
        "0880011010180322220a0673696d706c65120922456e676c69736822202828014001480350036080017802"
    )


@pytest.mark.parametrize(
    "given", [*PARAMETERS, {"tokenizer": {"max_token_length": None, "other": 1, "stem": None}}]
)
def test_what_is_asked_for_is_parsed(given):
    """From the details that are written."""
    asked = requested_parameters(given)
    assert parse_parameters(asked.details, PLACE) == asked
    assert asked.analysis.stem is bool(given.get("tokenizer", {}).get("stem"))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"num_hashes": 0}, "num_hashes <= 4096"),
        ({"num_hashes": 4097}, "num_hashes <= 4096"),
        ({"num_bands": 0}, "num_bands <= 256"),
        ({"num_bands": 257}, "num_bands <= 256"),
        ({"num_hashes": 10, "num_bands": 3}, "multiple of num_bands"),
        ({"shingle_size": 0}, "shingle_size > 0"),
        ({"num_hashes": "a"}, "num_hashes is 'a'"),
        ({"num_hashes": 128.0}, "num_hashes is 128.0"),
        ({"tokenizer": 1}, "tokenizer is 1"),
        ({"stem": True}, "unknown field `stem`"),
        ({"tokenizer": {"stem": "x"}}, "tokenizer params"),
        ({"tokenizer": {"base_tokenizer": "foo"}}, "unknown base tokenizer foo"),
        ({"tokenizer": {"lance_tokenizer": "json"}}, "lance_tokenizer not recorded"),
        ({"tokenizer": {"custom_stop_words": ["a"]}}, "custom_stop_words not recorded"),
    ],
)
def test_wrong_parameters_are_refused(given, text):
    """Each with what is wrong with it."""
    with pytest.raises(OperationRefused, match=text):
        requested_parameters(given)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"num_hashes": 0}, FormatError),
        ({"num_bands": 300}, FormatError),
        ({"num_bands": 3}, FormatError),
        ({"shingle_size": 0}, FormatError),
        ({"signature_version": 1}, UnknownVersion),
        ({"language": "English"}, FormatError),
        ({"language": '"Klingon"'}, FormatError),
        ({"base_tokenizer": "foo"}, (UnknownIndex, FormatError)),
    ],
)
def test_damaged_details_are_refused(change, error):
    """Before anything is read by them."""
    details = MinHashParameters().details
    for name, value in change.items():
        holder = details if hasattr(details, name) else details.tokenizer
        setattr(holder, name, value)
    with pytest.raises(error):
        parse_parameters(details, PLACE)
