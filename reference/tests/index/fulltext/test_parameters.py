"""Parameters."""

from __future__ import annotations

import pytest
from lanceref.errors import FormatError, UnknownIndex, UnknownVersion
from lanceref.index.fulltext.granularity import DocumentGranularity
from lanceref.index.fulltext.parameters import Analysis, parse_analysis, parse_settings, requested

from .test_posting_blocks import PLACE

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
    details = settings.details.SerializeToString(deterministic=True)
    wanted = "0a0673696d706c65120922456e676c697368222801300138014001480350036080017802"
    assert wanted.replace("2228", "22 28").replace(" ", "") in (details.hex(), wanted)
    assert Analysis() == parse_analysis(STORED, PLACE)


@pytest.mark.parametrize(
    ("given", "version"), [({}, 2), ({"block_size": 256}, 3), ({"format_version": "v1"}, 1)]
)
def test_formats(given, version):
    """Large blocks need format 3."""
    assert version == requested(given, json_documents=False).format_version
    element = {**given, "document_granularity": DocumentGranularity.LIST_ELEMENT}
    assert 3 == requested(element, json_documents=False).index_version


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"foo": 1}, ValueError),
        ({"lance_tokenizer": "json"}, ValueError),
        ({"block_size": 100}, ValueError),
        ({"block_size": 256, "format_version": 2}, ValueError),
        ({"format_version": 4}, ValueError),
        ({"language": "english"}, ValueError),
        ({"base_tokenizer": "foo"}, ValueError),
        ({"min_ngram_length": 4}, ValueError),
        ({"with_position": "x"}, TypeError),
        ({"custom_stop_words": [1]}, TypeError),
        ({"document_granularity": "row"}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(given, error):
    """With the classes that pylance has."""
    with pytest.raises(error):
        requested(given, json_documents=False)


@pytest.mark.parametrize(
    ("metadata", "error", "clause"),
    [
        ({"params": "{"}, FormatError, "params"),
        ({"params": "[1]"}, FormatError, "params"),
        ({"params": '{"stem":3}'}, FormatError, "params"),
        ({"params": '{"base_tokenizer":"icu"}'}, UnknownIndex, "params"),
        ({"format_version": "9"}, UnknownVersion, "format-version"),
        ({"posting_block_size": "127"}, FormatError, "block-size"),
    ],
)
def test_stored_parameters_are_checked(metadata, error, clause):
    """Each of the conditions."""
    with pytest.raises(error, match=rf"L\.index\.fts\.{clause}"):
        parse_settings(metadata, PLACE)
