"""Rows by words: which rows hold some words, from an index whose tokens are the words of its text.

That is one that cuts text into runs of letters and digits and does nothing else with them; of any
other a filter cannot be sure.

Clauses: L.index.fts.words
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from google.protobuf.message import DecodeError

from lanceref.core.integers import intersection
from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.parameters import Analysis
from lanceref.index.full_text.partition import Partition
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys, RowSet, row_set
from lanceref.proto import index_details_pb2


def keeps_words(analysis: Analysis) -> bool:
    """Return whether tokens are the words of text, nothing dropped and nothing changed."""
    plain = analysis.lance_tokenizer == "text" and analysis.base_tokenizer == "simple"
    changed = analysis.lower_case or analysis.stem or analysis.ascii_folding
    dropped = analysis.remove_stop_words or analysis.max_token_length is not None
    return plain and not changed and not dropped


def says_words(details: bytes) -> bool:
    """Return whether the details of an entry say so."""
    try:
        held = index_details_pb2.InvertedIndexDetails.FromString(details)
    except DecodeError:
        return False
    plain = held.base_tokenizer == "simple" and not held.document_granularity
    changed = held.lower_case or held.stem or held.ascii_folding
    return plain and not (changed or held.remove_stop_words or held.HasField("max_token_length"))


def rows_with(words: Sequence[str], parts: Sequence[Partition], gone: Keys) -> RowSet:
    """Return the rows that hold every word, without those of fragments that are gone."""
    keys = np.concatenate([NO_KEYS, *(_keys_with(words, part) for part in parts)])
    return row_set(keys[~np.isin(keys >> SHIFT, gone)])


def _keys_with(words: Sequence[str], part: Partition) -> Keys:
    """Return the rows of a partition that hold every word."""
    found: Numbers | None = None
    for word in words:
        number = part.number_of(word)
        if number is None:
            return NO_KEYS
        documents = part.postings(number).documents
        found = documents if found is None else intersection(found, documents)
    return NO_KEYS if found is None else part.keys[found]
