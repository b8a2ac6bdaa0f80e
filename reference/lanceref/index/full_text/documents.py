"""Documents: the parts of a row that are indexed as one text.

A text is a document; of a list all texts together are one, or each of them is; of a JSON document
every scalar is a token "path,type,value", a text as many as it has words. Keys of the path are
joined by dots, places in arrays are left out. Without a token there is no document, unless it is an
element of a list.

Clauses: L.index.fts.documents.empty, L.index.fts.documents.list, L.index.fts.documents.json
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LimitExceeded, Place
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.packed_integers import Counts, Numbers, offsets_of, ranges
from lanceref.index.full_text.parameters import is_list
from lanceref.json.jsonb import texts


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents of a run of rows: number of the row, place in a list and tokens of each, uint32.

    `tokens` and `positions` are those of all documents, one document after the other.
    """

    rows: Numbers
    elements: Numbers
    lengths: Numbers
    tokens: Sequence[str]
    positions: Numbers


def gather(values: pa.Array, analyzer: Analyzer, *, list_elements: bool) -> Documents:
    """Return the documents of values: text, lists of text, or JSON as it is stored."""
    of_lists, is_json = is_list(values.type), analyzer.analysis.is_json
    if of_lists:
        sizes = np.asarray(pc.fill_null(pc.list_value_length(values), 0), np.int64)
        rows = np.repeat(np.arange(len(values)), sizes)
        texts = [text or "" for text in values.flatten().to_pylist()]
    else:
        rows, texts = np.flatnonzero(values.is_valid()), as_text(values.drop_null())
    find = _json_forms if is_json and not of_lists else Analyzer.forms
    tokens, counts, positions = find(analyzer, texts)
    first = np.searchsorted(rows, rows)  # the text that begins a row
    elements = np.arange(len(rows)) - first
    if elements.any() and not list_elements:  # L.index.fts.documents.list
        last = np.append(positions, np.uint32(0))[np.cumsum(counts) - 1].astype(np.int64)
        before = offsets_of(np.where(counts > 0, last + 1, 0))
        positions += np.repeat(before[:-1] - before[first], counts).astype(np.uint32)
    if None in tokens:
        mask = np.array([token is not None for token in tokens], np.bool_)
        owners = np.repeat(np.arange(len(counts)), counts)[mask]
        counts, positions = np.bincount(owners, minlength=len(counts)), positions[mask]
    if not (list_elements and of_lists):
        counts = np.bincount(rows, counts, len(values)).astype(np.int64)
        rows = np.flatnonzero(counts)  # L.index.fts.documents.empty
        counts, elements = counts[rows], np.zeros(len(rows), np.int64)
    return Documents(
        rows.astype(np.uint32),
        elements.astype(np.uint32),
        counts.astype(np.uint32),
        [token for token in tokens if token is not None],
        positions,
    )


def as_text(values: pa.Array) -> list[str]:
    """Return values without nulls as text, JSON as it is written."""
    if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        ctx = Context("")
        values = texts(values.cast(pa.large_binary()), ctx, ctx.at(0))
    return values.to_pylist()  # type: ignore[no-any-return]


def joined(values: pa.Array) -> pa.Array:
    """Return lists of texts as one text each, a blank between two; what is null adds nothing."""
    texts: list[str] = []
    for elements in values.to_pylist():
        text = ""
        for one in elements or ():
            text += "" if one is None else f" {one}" if text else one
        texts.append(text)
    return pa.array(texts, pa.large_string())


def _json_forms(
    analyzer: Analyzer, texts: Iterable[str]
) -> tuple[Sequence[str | None], Counts, Numbers]:
    """Return as `Analyzer.forms` the tokens of JSON documents."""
    tokens = [json_tokens(text, analyzer) for text in texts]
    counts = np.array([len(own) for own in tokens], np.int64)
    positions = ranges(np.zeros(len(tokens), np.int64), counts).astype(np.uint32)
    return list(chain(*tokens)), counts, positions


def json_tokens(text: str, analyzer: Analyzer) -> list[str]:
    """Return the tokens of a JSON document. Raises LimitExceeded where it nests too deep."""
    # L.index.fts.documents.json
    try:
        document = json.loads(text, parse_int=_Number, parse_float=_Number)
    except RecursionError as error:
        place = Place("a document of a text index", 0, len(text))
        found, wanted = "a document that nests too deep", "fewer objects and arrays in each other"
        raise LimitExceeded("L.json.column", place, found, wanted) from error
    except ValueError as error:
        place = Place("a document of a text index", 0, len(text))
        clause = "L.index.fts.documents.json"
        raise FormatError(clause, place, f"{error}", "a JSON document") from error
    tokens: list[str] = []
    stack: list[tuple[str, object]] = [("", document)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            inner = [(f"{path}.{key}" if path else key, one) for key, one in value.items()]
            stack += reversed(inner)
        elif isinstance(value, list):
            stack += [(path, one) for one in reversed(value)]
        elif isinstance(value, _Number):
            tokens.append(f"{path},number,{value}")
        elif isinstance(value, str):
            tokens += [f"{path},str,{token}" for token, _ in analyzer.tokens(value)]
        elif value is None:
            tokens.append(f"{path},null,null")
        else:
            tokens.append(f"{path},bool,{'true' if value else 'false'}")
    return tokens


class _Number(str):
    """A number as it is written."""

    __slots__ = ()
