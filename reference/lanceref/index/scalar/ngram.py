"""NGRAM: of every three letters in a row the rows whose text has them.

Text is folded to lower case and to ASCII; each three neighbouring letters or digits are a token. A
text that contains another has all of its tokens: the rows found are candidates.

Layout: `ngram_postings.lance`: tokens u32, ascending; posting_list binary, a RoaringTreemap. A
token is c0 * 37**2 + c1 * 37 + c2 with 1 to 10 for digits and 11 to 36 for letters; token 0 has the
rows whose text is null.

Clauses: L.index.ngram.order, L.index.ngram.token
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import pyarrow as pa

from lanceref.core.integers import unique
from lanceref.index.entries import Entries, EntryType
from lanceref.index.full_text.analyzer import folded
from lanceref.index.index_type import Built, Found
from lanceref.index.predicate import Contains, Matches, Predicate, StartsWith
from lanceref.index.row_set import NO_KEYS, Keys, RowSet, encode_treemap, parse_treemap
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import TEXT, Training, accepts_types, trained
from lanceref.proto import index_details_pb2

Tokens = np.ndarray[tuple[int], np.dtype[np.uint32]]

FILE = "ngram_postings.lance"
BASE = 37
LETTERS = 3
NULL_TOKEN = 0
TOKEN_LIMIT = BASE**LETTERS

_POSTINGS = pa.field("posting_list", pa.binary(), False, {"lance-encoding:compression": "none"})
SCHEMA = pa.schema([pa.field("tokens", pa.uint32()), _POSTINGS])

_DIGITS = dict(zip("0123456789abcdefghijklmnopqrstuvwxyz", range(1, BASE), strict=True))
_LITERAL = re.compile(r"[^.^$*+?{}\[\]\\|()]+")
_GROUPS = re.compile(r"[\[\]\\|()]")


def tokens_of(text: str) -> set[int]:
    """Return the numbers of the three-letter tokens of a text."""
    # L.index.ngram.token
    digits = [_DIGITS.get(letter, 0) for letter in folded(text.lower())]
    windows = zip(digits, digits[1:], digits[2:])
    return {a * BASE * BASE + b * BASE + c for a, b, c in windows if a and b and c}


class Ngram(EntryType[None]):
    """The type; the tokens of an opened segment are read when some are looked for."""

    name, shown, details = "NGRAM", "NGram", "lance.table.NGramIndexDetails"
    inexact = (Contains, Matches, StartsWith)
    accepts = staticmethod(accepts_types(*TEXT))
    inherits = "unmoved"

    @cached_property
    def tokens(self) -> Tokens:
        """The numbers of all tokens, ascending. Raises CorruptPage."""
        file, clause = self.segment.file(FILE), "L.index.ngram.order"
        tokens = np.asarray(file.read("tokens", pa.uint32(), whole=clause), np.uint32)
        if np.any(tokens[1:] <= tokens[:-1]) or np.any(tokens >= TOKEN_LIMIT):
            wanted = f"rising tokens below {TOKEN_LIMIT}"
            raise file.corrupt(clause, tokens[:8].tolist(), wanted)
        return tokens

    @classmethod
    def answers(cls, predicate: Predicate) -> bool | None:
        """Return as other types do, and None for texts without a token."""
        answer = super().answers(predicate)
        return answer if answer is None or _tokens(predicate) else None

    def search(self, predicate: Predicate) -> Found | None:
        """Return the rows with all tokens of a text, None where it has none."""
        wanted = _tokens(predicate)
        if not wanted:
            return None
        places = np.flatnonzero(np.isin(self.tokens, list(wanted)))
        if len(places) < len(wanted):
            return RowSet()
        self.segment.uses.loaded += len(places)
        self.segment.uses.comparisons += len(places)
        return RowSet.intersection([RowSet(keys) for keys in self.postings(places)])

    def postings(self, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Keys]:
        """Return the rows of tokens by their ascending places (n,). Raises FormatError."""
        file = self.segment.file(FILE)
        cursors = file.take_cursors("posting_list", places, "L.index.files.column")
        return [parse_treemap(cursor) for cursor in cursors]

    def entries(self) -> Entries:
        """Return an entry for every row of every token. Raises FormatError."""
        postings = self.postings(np.arange(len(self.tokens)))
        repeated = np.repeat(self.tokens, [len(one) for one in postings])
        return Entries(repeated, np.concatenate([NO_KEYS, *postings]))

    @classmethod
    def entries_of(cls, training: Training, own: None) -> Entries:
        """Return an entry for every token of every text."""
        values, keys = trained(training)
        texts = values.to_pylist()
        tokens = [[NULL_TOKEN] if text is None else list(tokens_of(text)) for text in texts]
        numbers = np.array([token for row in tokens for token in row], np.uint32)
        return Entries(numbers, np.repeat(keys, np.array([len(row) for row in tokens], np.int64)))

    @classmethod
    def write(cls, entries: Entries, own: None, training: Training, writer: SegmentWriter) -> Built:
        """Write the rows of each token as its postings."""
        order = np.argsort(entries.values, kind="stable")
        tokens, keys = entries.values[order], entries.keys[order]
        starts = np.flatnonzero(np.diff(tokens, prepend=TOKEN_LIMIT))
        postings = np.split(keys, starts[1:]) if len(starts) else []
        data = [encode_treemap(unique(one), runs=False) for one in postings]
        columns = [pa.array(tokens[starts]), pa.array(data, pa.binary())]
        writer.write_file(FILE, SCHEMA, [pa.record_batch(columns, schema=SCHEMA)])
        return Built(index_details_pb2.NGramIndexDetails(), 0)

    @classmethod
    def check(cls, segment: Segment) -> None:
        """Read every token and its rows. Raises FormatError."""
        cls(segment).entries()


def _tokens(predicate: Predicate) -> set[int]:
    """Return the tokens that a value must have for the predicate to be true."""
    texts: list[str] = []
    match predicate:
        case StartsWith(prefix):
            texts = [prefix.as_py()]
        case Contains(text):
            texts = [text]
        case Matches(pattern):
            texts = literals_of(pattern)
    return set[int]().union(*map(tokens_of, texts))


def literals_of(pattern: str) -> list[str]:
    """Return texts that every match of a regular expression contains, none of one with groups.

    What is repeated, or may be missing, ends a text.
    """
    if _GROUPS.search(pattern):
        return []
    literals = []
    for match in _LITERAL.finditer(pattern):
        after = pattern[match.end() : match.end() + 1]
        inside = pattern[: match.start()].rpartition("{")[2]
        if "{" in pattern[: match.start()] and "}" not in inside:
            continue
        literals.append(match[0][:-1] if after and after in "*?{" else match[0])
    return literals
