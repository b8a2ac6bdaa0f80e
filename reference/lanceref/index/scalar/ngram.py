"""NGRAM: of every three letters in a row the rows whose text has them.

Text is brought to lower case and to ASCII; each three neighbouring letters or digits are a token. A
text that holds another has all of its tokens: the rows found have to be looked at.

Layout: `ngram_postings.lance`: tokens u32, ascending; posting_list binary, a RoaringTreemap. A
token is c0 * 37**2 + c1 * 37 + c2 with 1 to 10 for digits and 11 to 36 for letters; token 0 has the
rows whose text is null.

Clauses: L.index.ngram.order, L.index.ngram.token
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, FormatError
from lanceref.file.schema import Field
from lanceref.index.full_text.analyzer import folded
from lanceref.index.index_type import Built, Found, Kind, Parameters
from lanceref.index.predicate import Contains, Matches, Predicate, StartsWith
from lanceref.index.row_set import (
    NO_KEYS,
    Keys,
    RowSet,
    distinct,
    encode_treemap,
    intersection,
    parse_treemap,
)
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, joined, joined_by_key, leaf
from lanceref.proto import index_details_pb2

Tokens = np.ndarray[tuple[int], np.dtype[np.uint32]]

FILE = "ngram_postings.lance"
BASE = 37
LETTERS = 3
NULL_TOKEN = 0
TOKEN_LIMIT = BASE**LETTERS

SCHEMA = pa.schema(
    [
        pa.field("tokens", pa.uint32()),
        pa.field(
            "posting_list",
            pa.binary(),
            nullable=False,
            metadata={"lance-encoding:compression": "none"},
        ),
    ]
)

_DIGITS = {
    letter: number for number, letter in enumerate("0123456789abcdefghijklmnopqrstuvwxyz", 1)
}
_LITERAL = re.compile(r"[^.^$*+?{}\[\]\\|()]+")
_GROUPS = re.compile(r"[\[\]\\|()]")


def tokens_of(text: str) -> set[int]:
    """Return the tokens of a text."""
    found = [_DIGITS.get(letter, 0) for letter in folded(text.lower())]
    windows = zip(found, found[1:], found[2:])
    return {a * BASE * BASE + b * BASE + c for a, b, c in windows if a and b and c}


class Ngram:
    """A segment; its tokens are read when some are looked for."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment

    @cached_property
    def _tokens(self) -> Tokens:
        return read_tokens(self._segment)

    def search(self, predicate: Predicate) -> Found | None:
        """Return the rows with all tokens of a text, None where it has none."""
        wanted = set[int]().union(*map(tokens_of, _texts(predicate)))
        if not wanted:
            return None
        places = np.flatnonzero(np.isin(self._tokens, list(wanted)))
        if len(places) < len(wanted):
            return RowSet()
        self._segment.uses.load(len(places))
        self._segment.uses.compare(len(places))
        return intersection([RowSet(keys) for keys in self.postings(places)])

    def postings(self, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Keys]:
        """Return the rows of tokens by their places, ascending. Raises FormatError."""
        file = self._segment.file(FILE)
        lists = file.take("posting_list", places, pa.binary())
        if lists.null_count:
            raise FormatError(
                "L.index.files.column",
                file.place,
                found=f"{lists.null_count} nulls in 'posting_list'",
                wanted="the rows of each token",
            )
        return [parse_treemap(Cursor(memoryview(data.as_buffer()), 0, file.ctx)) for data in lists]

    def statistics(self) -> dict[str, object]:
        """Return the number of tokens."""
        return {"num_ngrams": len(self._tokens)}


def _texts(predicate: Predicate) -> Iterable[str]:
    """Return texts that a value must hold for the predicate to be true."""
    if isinstance(predicate, StartsWith):
        return [predicate.prefix.as_py()]
    if isinstance(predicate, Contains):
        return [predicate.text]
    assert isinstance(predicate, Matches)
    return literals_of(predicate.pattern)


def literals_of(pattern: str) -> list[str]:
    """Return texts that every match of a regular expression holds; of groups nothing is said.

    What is repeated, or may be missing, ends a text.
    """
    if _GROUPS.search(pattern):
        return []
    found = []
    for match in _LITERAL.finditer(pattern):
        behind = pattern[match.end() : match.end() + 1]
        inside = pattern[: match.start()].rpartition("{")[2]
        if "{" in pattern[: match.start()] and "}" not in inside:
            continue
        found.append(match[0][:-1] if behind and behind in "*?{" else match[0])
    return found


def read_tokens(segment: Segment) -> Tokens:
    """Return all tokens of a segment. Raises CorruptPage."""
    file = segment.file(FILE)
    column = file.read("tokens", pa.uint32())
    tokens = np.asarray(column.fill_null(TOKEN_LIMIT), np.uint32)
    if np.any(tokens[1:] <= tokens[:-1]) or np.any(tokens >= TOKEN_LIMIT):
        raise CorruptPage(
            "L.index.ngram.order",
            file.place,
            found=f"tokens {tokens[:8].tolist()}",
            wanted=f"rising tokens below {TOKEN_LIMIT}",
        )
    return tokens


def _write(postings: dict[int, list[Keys]], writer: SegmentWriter) -> Built:
    tokens = sorted(postings)
    data = [
        encode_treemap(distinct(np.concatenate([NO_KEYS, *postings[token]])), runs=False)
        for token in tokens
    ]
    columns = [pa.array(tokens, pa.uint32()), pa.array(data, pa.binary())]
    writer.write_file(FILE, SCHEMA, [pa.record_batch(columns, schema=SCHEMA)])
    return Built(index_details_pb2.NGramIndexDetails(), 0)


def _trained(training: Training) -> dict[int, list[Keys]]:
    """Return the keys of the rows of each token."""
    found: dict[int, list[int]] = {}
    for run in training.runs():
        for text, key in zip(run.values.to_pylist(), run.keys.tolist(), strict=True):
            for token in [NULL_TOKEN] if text is None else tokens_of(text):
                found.setdefault(token, []).append(key)
    return {token: [np.array(keys, np.uint64)] for token, keys in found.items()}


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows."""
    return _write(_trained(training), writer)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment."""
    postings = _trained(training)
    for segment, moved in segments:
        tokens = read_tokens(segment)
        for token, keys in zip(
            tokens.tolist(), Ngram(segment).postings(np.arange(len(tokens))), strict=True
        ):
            left = moved(keys)[1]
            if len(left):
                postings.setdefault(token, []).append(left)
    return _write(postings, writer)


def is_text(field: Field) -> bool:
    """Return whether a column holds text."""
    type_ = leaf(field).arrow.type
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def check(segment: Segment) -> None:
    """Read the rows of every token."""
    Ngram(segment).postings(np.arange(len(read_tokens(segment))))


def entries(segment: Segment) -> tuple[pa.Array, Keys]:
    """Return the tokens of every row, as one value, and its key."""
    tokens = read_tokens(segment)
    postings = Ngram(segment).postings(np.arange(len(tokens)))
    repeated = np.repeat(tokens, [len(one) for one in postings])
    return joined_by_key(repeated, np.concatenate([NO_KEYS, *postings]))


def rows_of(training: Training, segment: Segment) -> Training:
    """Return the tokens of rows, as one value of each."""
    held = []
    for run in training.runs():
        texts = run.values.to_pylist()
        found = [[NULL_TOKEN] if text is None else list(tokens_of(text)) for text in texts]
        rows = np.repeat(np.arange(len(found)), [len(one) for one in found])
        numbers = np.array([token for one in found for token in one], np.uint32)
        held.append(replace(run, values=joined(numbers, rows, len(found))))
    return training.of(held)


NGRAM = Kind(
    name="NGRAM",
    shown="NGram",
    details="lance.table.NGramIndexDetails",
    version=0,
    exact=(),
    inexact=(Contains, Matches, StartsWith),
    accepts=is_text,
    open=Ngram,
    build=build,
    rewrite=rewrite,
    inherits="unmoved",
    check=check,
    entries=entries,
    rows_of=rows_of,
)
"""The index type."""
