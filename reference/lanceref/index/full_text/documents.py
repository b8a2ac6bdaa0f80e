"""Documents: the parts of a row that are indexed as one text.

A text is a document; of a list all texts together are one, or each of them is; of a JSON document
every scalar is a token "path,type,value", a text as many as it has words. Keys of the path are
joined by dots, places in arrays are left out. Without a token there is no document, unless it is an
element of a list.

Clauses: L.index.fts.documents.empty, L.index.fts.documents.list, L.index.fts.documents.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import LimitExceeded, Place
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.packed_integers import Numbers
from lanceref.json.jsonb import texts

Tokens: TypeAlias = list[tuple[str, int]]
"""Tokens of a document and their positions."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document: number of its row among those given, place in a list, and its tokens."""

    row: int
    element: int
    tokens: Tokens


def documents(values: pa.Array, analyzer: Analyzer, *, list_elements: bool) -> Iterator[Document]:
    """Yield the documents of values: text, lists of text, or JSON as it is stored."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        yield from _of_lists(values, analyzer, list_elements)
        return
    is_json = analyzer.analysis.is_json
    for row, text in enumerate(as_text(values)):
        if text is not None:
            tokens = json_tokens(text, analyzer) if is_json else analyzer.tokens(text)
            if tokens:  # L.index.fts.documents.empty
                yield Document(row, 0, tokens)


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
    """Return the documents of values at once."""
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if is_text and not analyzer.analysis.is_json:
        return _of_texts(values, analyzer)
    found = list(documents(values, analyzer, list_elements=list_elements))
    return Documents(
        np.array([one.row for one in found], np.uint32),
        np.array([one.element for one in found], np.uint32),
        np.array([len(one.tokens) for one in found], np.uint32),
        [token for one in found for token, _ in one.tokens],
        np.array([position for one in found for _, position in one.tokens], np.uint32),
    )


def _of_texts(values: pa.Array, analyzer: Analyzer) -> Documents:
    rows = np.flatnonzero(values.is_valid())
    tokens, sizes, places = analyzer.forms(values.drop_null().to_pylist())
    counts = np.array(sizes, np.int64)
    positions = np.fromiter(chain.from_iterable(places), np.uint32, int(counts.sum()))
    if None in tokens:
        kept = np.array([token is not None for token in tokens], np.bool_)
        owners = np.repeat(np.arange(len(counts)), counts)[kept]
        counts, positions = np.bincount(owners, minlength=len(counts)), positions[kept]
    there = np.flatnonzero(counts)  # L.index.fts.documents.empty
    return Documents(
        rows[there].astype(np.uint32),
        np.zeros(len(there), np.uint32),
        counts[there].astype(np.uint32),
        [token for token in tokens if token is not None],
        positions,
    )


def as_text(values: pa.Array) -> list[str | None]:
    """Return values as text, JSON as it is written."""
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


def _of_lists(values: pa.Array, analyzer: Analyzer, list_elements: bool) -> Iterator[Document]:
    # L.index.fts.documents.list
    for row, elements in enumerate(values.to_pylist()):
        every: Tokens = []
        start = 0
        for number, text in enumerate(elements or ()):
            own = [(token, at + start) for token, at in analyzer.tokens(text or "")]
            if list_elements:
                yield Document(row, number, own)
            else:
                every += own
                start += analyzer.length(text or "")
        if every:
            yield Document(row, 0, every)


def json_tokens(text: str, analyzer: Analyzer) -> Tokens:
    """Return numbered tokens of a JSON document. Raises LimitExceeded where it nests too deep."""
    # L.index.fts.documents.json
    try:
        document = json.loads(text, parse_int=_Number, parse_float=_Number)
    except RecursionError as error:
        place = Place("a document of a text index", 0, len(text))
        found, wanted = "a document that nests too deep", "fewer objects and arrays in each other"
        raise LimitExceeded("L.json.column", place, found, wanted) from error
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
    return [(token, at) for at, token in enumerate(tokens)]


class _Number(str):
    """A number as it is written."""

    __slots__ = ()
