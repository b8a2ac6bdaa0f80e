"""Details of a full-text index: its parameters as the entry in the manifest has them.

Who lists indices goes by them; who reads one goes by the metadata of its files, which also say how
documents are cut and which stop words are the user's own.

Layout: `InvertedIndexDetails`; the language is a JSON text.

Clauses: L.index.fts.params
"""

from __future__ import annotations

import json

from lanceref.core.errors import BadProto, Place
from lanceref.index.full_text.parameters import Analysis
from lanceref.index.full_text.posting_blocks import SMALL
from lanceref.index.segment import Segment
from lanceref.proto import index_details_pb2

Details = index_details_pb2.InvertedIndexDetails


def parse_details(data: bytes, place: Place) -> Details:
    """Return the message. Raises BadProto."""
    from google.protobuf.message import DecodeError

    try:
        return Details.FromString(data)
    except DecodeError as error:
        raise BadProto(
            "L.index.fts.params", place, found=f"{error}", wanted="InvertedIndexDetails"
        ) from error


def shown_analysis(details: Details, place: Place) -> dict[str, object]:
    """Return how text becomes tokens, as far as details say it. Raises BadProto."""
    try:
        language = json.loads(details.language)
    except (ValueError, RecursionError) as error:
        raise BadProto(
            "L.index.fts.params", place, found=details.language[:40], wanted="a JSON text"
        ) from error
    code, is_code = details.code_config, details.HasField("code_config")
    longest = details.max_token_length if details.HasField("max_token_length") else None
    numerics = code.split_on_numerics if code.HasField("split_on_numerics") else is_code
    original = code.preserve_original if code.HasField("preserve_original") else is_code
    return Analysis(
        lance_tokenizer=None,
        base_tokenizer=details.base_tokenizer or "simple",
        language=language,
        with_position=details.with_position,
        max_token_length=longest,
        lower_case=details.lower_case,
        stem=details.stem,
        remove_stop_words=details.remove_stop_words,
        ascii_folding=details.ascii_folding,
        min_ngram_length=details.min_ngram_length,
        max_ngram_length=details.max_ngram_length,
        prefix_only=details.prefix_only,
        block_size=details.block_size or SMALL,
        split_identifiers=code.split_identifiers,
        split_on_numerics=numerics,
        preserve_original=original,
        index_operators=code.index_operators,
    ).as_dict()


def describe_full_text(segment: Segment) -> tuple[str, dict[str, object]]:
    """Return the name and the details as lists have them. Raises BadProto.

    An entry of an early index says nothing.
    """
    data = segment.entry.index_details.value
    if not data:
        return "Inverted", {}
    details = parse_details(data, segment.place)
    per_element = details.document_granularity == Details.LIST_ELEMENT
    granularity = "list_element" if per_element else "row"
    shown = shown_analysis(details, segment.place)
    return "Inverted", {**shown, "document_granularity": granularity}
