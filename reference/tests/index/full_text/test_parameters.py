"""Parameters of full-text indices: as requested, stored, and listed."""

import pytest
from lanceref.core.errors import Place
from lanceref.index.full_text.parameters import (
    Analysis,
    parse_analysis,
    parse_settings,
    requested,
    says_words,
)

from ..subjects import KEPT_WORDS

PLACE = Place("f", 0)
STORED = (
    '{"lance_tokenizer":"text","base_tokenizer":"simple","language":"English",'
    '"with_position":false,"max_token_length":40,"lower_case":true,"stem":true,'
    '"remove_stop_words":true,"custom_stop_words":null,"ascii_folding":true,'
    '"min_ngram_length":3,"max_ngram_length":3,"prefix_only":false,"block_size":128,'
    '"split_identifiers":false,"split_on_numerics":false,"preserve_original":false,'
    '"index_operators":false}'
)


def test_worked_parameters():
    """The defaults, as text and as details."""
    settings = requested({}, json_documents=False)
    assert STORED == settings.analysis.text
    wanted = "0a06 73696d706c65 1209 22456e676c69736822 2028 2801 3001 3801 4001 4803 5003 608001"
    details = settings.details.SerializeToString(deterministic=True)
    assert bytes.fromhex(wanted + "7802") == details
    assert Analysis() == parse_analysis(STORED, PLACE)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"foo": 1}, ValueError),
        ({"analyzer": "text", "base_tokenizer": "code"}, ValueError),
        ({"analyzer": "code", "base_tokenizer": "simple"}, ValueError),
        ({"split_identifiers": True}, ValueError),
        ({"base_tokenizer": "code", "format_version": 2}, ValueError),
        ({"base_tokenizer": "ngram", "min_ngram_length": 0}, ValueError),
        ({"max_token_length": -1}, OverflowError),
        ({"lance_tokenizer": "json"}, ValueError),
        ({"block_size": 256, "format_version": 2}, ValueError),
        ({"base_tokenizer": "foo"}, ValueError),
        ({"base_tokenizer": "ngram", "min_ngram_length": 4}, ValueError),
        ({"with_position": "x"}, TypeError),
        ({"document_granularity": "row"}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(given, error):
    """With the classes that pylance has."""
    with pytest.raises(error):
        requested(given, json_documents=False)


@pytest.mark.parametrize(
    ("codec", "version"),
    [
        ({}, 1),
        ({"posting_tail_codec": "fixed32"}, 1),
        ({"posting_tail_codec": "varint_delta_v1"}, 2),
    ],
)
def test_a_format_that_is_not_said_is_told_by_how_lists_end(codec, version):
    """As releases wrote it before they named formats."""
    assert version == parse_settings(codec, PLACE).format_version
    assert 3 == parse_settings({**codec, "format_version": "3"}, PLACE).format_version


def test_program_text_has_defaults_of_its_own():
    """No stems, no stop words, format 3, and its flags are in the details."""
    own = requested({"analyzer": "code", "index_operators": True}, json_documents=False)
    assert own == requested(
        {"base_tokenizer": "code", "index_operators": True}, json_documents=False
    )
    assert (3, False, False) == (
        own.format_version,
        own.analysis.stem,
        own.analysis.remove_stop_words,
    )
    config = own.details.code_config
    assert (False, True, True, True) == (
        config.split_identifiers,
        config.split_on_numerics,
        config.preserve_original,
        config.index_operators,
    )
    assert not requested({}, json_documents=False).details.HasField("code_config")


@pytest.mark.parametrize(("variable", "asked", "built"), [("1", {}, 1), ("v3", {}, 3)])
def test_the_environment_says_the_format(monkeypatch, variable, asked, built):
    """Unless the caller does; another value is refused by the name of the variable."""
    monkeypatch.setenv("LANCE_FTS_FORMAT_VERSION", variable)
    assert built == requested(asked, json_documents=False).format_version
    assert 2 == requested({"format_version": 2}, json_documents=False).format_version
    monkeypatch.setenv("LANCE_FTS_FORMAT_VERSION", "invalid")
    assert 2 == requested({"format_version": 2}, json_documents=False).format_version
    with pytest.raises(ValueError, match="LANCE_FTS_FORMAT_VERSION invalid"):
        requested({}, json_documents=False)


def test_parameters_that_keep_words():
    """Every step that changes or drops a token is one too many."""
    plain = Analysis(**KEPT_WORDS)
    assert plain.keeps_words
    assert not Analysis().keeps_words
    for name in ("stem", "remove_stop_words", "ascii_folding", "lower_case"):
        assert not Analysis(**{**KEPT_WORDS, name: True}).keeps_words, name
    assert not Analysis(**{**KEPT_WORDS, "max_token_length": 40}).keeps_words
    assert not says_words(b"")
    assert not says_words(b"\xff")
