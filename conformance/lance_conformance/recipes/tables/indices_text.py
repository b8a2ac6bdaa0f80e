"""Cases of full-text indices: queries of every kind, and what an index holds.

As with the other indices ten rows are indexed, one of these is deleted, and two are appended. The
tokens of every text are written by hand, the scores by the formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lance_conformance.recipes.indexed import INDEXED, NAME, Indexed, made
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.scores import Documents, scores

TEXTS = (
    "the quick brown fox", "Quick quick fox", None, "lazy dogs sleep", "the dog and the fox",
    "a quick dog", "", "fox fox fox", "brown bear", "bear hunts fox", "quick fox runs", "dog",
)  # fmt: skip

TOKENS: Documents = {
    0: ["quick", "brown", "fox"],
    1: ["quick", "quick", "fox"],
    3: ["lazi", "dog", "sleep"],
    4: ["dog", "fox"],
    5: ["quick", "dog"],
    7: ["fox", "fox", "fox"],
    8: ["brown", "bear"],
    9: ["bear", "hunt", "fox"],
    10: ["quick", "fox", "run"],
    11: ["dog"],
}
"""Stop words are left out, the others are stems."""

TOLERANCE = "0.000001"

TEXT = Indexed(pa.array(TEXTS), "INVERTED", {"with_position": True})

_SHOWN = ("L.index.fts.score", "L.index.fts.score.statistics", "L.index.fts.unindexed")

Query = Mapping[str, Mapping[str, object]]


def match(query: str, **others: object) -> Query:
    """Return a query for words."""
    return {"match": {"query": query, "column": "c", **others}}


def phrase(query: str, **others: object) -> Query:
    """Return a query for words in order."""
    return {"phrase": {"query": query, "column": "c", **others}}


def text_case(
    slug: str,
    title: str,
    query: Query,
    found: Mapping[int, float],
    table: Indexed = TEXT,
    clauses: tuple[str, ...] = _SHOWN,
    *,
    by: str = "oracle",
) -> Positive:
    """Return the case of a query that finds rows with these scores."""
    columns = {
        "id": pa.array(found.keys(), pa.int64()),
        "_score": pa.array(found.values(), pa.float32()),
    }
    return Positive(
        id=f"index/any/inverted/{slug}",
        title=title,
        clauses=clauses,
        make=made(table, pa.table(columns), by=by),
        version=table.version,
        kind="index-search",
        args={"text": query, "columns": ["id"]},
        index="INVERTED",
        order="any",
        tolerance=TOLERANCE,
    )


def _scores(
    asked: str, *rows: int, documents: Documents = TOKENS, indexed: int = INDEXED
) -> dict[int, float]:
    return scores(documents, asked.split(), rows, indexed)


def scores_of(asked: str, *rows: int) -> dict[int, float]:
    """Return the scores of rows for some words."""
    return _scores(asked, *rows)


def _sum(*parts: Mapping[int, float]) -> dict[int, float]:
    rows = sorted(set[int]().union(*parts))
    return {row: sum(part.get(row, 0.0) for part in parts) for row in rows}


_QUICK, _FOX = _scores("quick", 0, 1, 5, 10), _scores("fox", 0, 1, 4, 9, 10)
_DOG = _scores("dog", 3, 4, 5, 11)

_BOOLEAN = {"boolean": {"must": [match("fox")], "should": [match("quick")],
                        "must_not": [match("dogs")]}}  # fmt: skip

_QUERIES = (
    text_case("match", "any of two words", match("Quick foxes"), _sum(_QUICK, _FOX)),
    text_case("and", "both of two words", match("quick fox", operator="and"),
              {row: score for row, score in _sum(_QUICK, _FOX).items() if row in (0, 1, 10)}),
    text_case("twice", "a word that is asked for twice", match("dog dog"), _sum(_DOG, _DOG)),
    text_case("phrase", "words that stand side by side", phrase("quick fox"),
              {row: score for row, score in _sum(_QUICK, _FOX).items() if row in (1, 10)},
              clauses=("L.index.fts.phrase", "L.index.fts.analyzer.position")),
    text_case("slop", "words that lie at most one further", phrase("quick fox", slop=1),
              {row: score for row, score in _sum(_QUICK, _FOX).items() if row in (0, 1, 10)},
              clauses=("L.index.fts.phrase",)),
    text_case("fuzzy", "a word with one letter less; rows in no index have to hold it as it is",
              match("quik", fuzziness=1), _scores("quick", 0, 1, 5),
              clauses=("L.index.fts.fuzzy",)),
    text_case("boolean", "a word that must, one that may, one that must not occur", _BOOLEAN,
              {row: score for row, score in _sum(_FOX, _QUICK).items() if row in (0, 1, 9, 10)},
              clauses=("L.index.fts.boolean",)),
    text_case("boost", "words that count against others",
              {"boost": {"positive": match("fox"), "negative": match("quick"),
                         "negative_boost": "0.25"}},
              {row: score - 0.25 * _QUICK.get(row, 0.0) for row, score in _FOX.items()},
              clauses=("L.index.fts.boost",)),
    text_case("own-match", "words in an index of the reference", match("quick fox"),
              _sum(_QUICK, _FOX), by="reference"),
    text_case("own-phrase", "a phrase in an index of the reference", phrase("quick brown fox"),
              _scores("quick brown fox", 0), by="reference", clauses=("L.index.fts.phrase",)),
    text_case("row-ids", "documents that are stable row ids", match("bear"),
              _scores("bear", 8, 9), Indexed(TEXT.values, "INVERTED", {}, "2.2", True)),
)  # fmt: skip

_MANY = 300
"""Documents that fill a block of 128, or of 256, and begin another."""


def _many() -> Documents:
    """Return documents that all hold `word`, up to nine times, some of them other words."""
    return {
        row: ["word"] * (row % 7 + (300 if row == 130 else 1)) + ["rare"] * (row % 3)
        for row in range(_MANY)
    }


def _rounded(length: int) -> int:
    """Return a length as indices with blocks of 256 know it: by its four leading bits."""
    cut = max(0, length.bit_length() - 4)
    return length >> cut << cut


class _Many(Indexed):
    """Rows that are all indexed; nothing is deleted."""

    def __call__(self, module: object, uri: str) -> None:
        """Make the table and its index."""
        dataset = module.write_dataset(self.table, uri, data_storage_version=self.version)  # type: ignore[attr-defined]
        dataset.create_scalar_index("c", "INVERTED", **self.parameters)


def blocks(
    slug: str,
    title: str,
    clauses: tuple[str, ...],
    *,
    asked: str = "rare",
    version: str = "2.1",
    **parameters: object,
) -> Positive:
    """Return the case of a word that many documents hold."""
    texts = pa.array([" ".join(one) for one in _many().values()])
    table = _Many(texts, "INVERTED", {"stem": False, **parameters}, version)
    documents = _many()
    rows = [row for row, words in documents.items() if asked in words]
    found = scores(documents, [asked], rows, _MANY)
    if parameters.get("block_size") == 256:
        found = {row: score * _rounding(documents, asked, row) for row, score in found.items()}
    return text_case(slug, title, match(asked), found, table, clauses)


def _rounding(documents: Documents, asked: str, row: int) -> float:
    """Return how much more a document counts where its length is rounded; the mean is not."""
    mean = sum(map(len, documents.values())) / len(documents)
    often, length = documents[row].count(asked), len(documents[row])
    norms = (often + 1.2 * (0.25 + 0.75 * one / mean) for one in (length, _rounded(length)))
    exact, rounded = norms
    return exact / rounded


_BLOCKS = (
    blocks("blocks", "two full blocks of 128 and the rest", ("L.index.fts.posting.blocks",),
            with_position=True),
    blocks("blocks-256", "a full block of 256 and the rest",
            ("L.index.fts.score.rounded-length",), block_size=256),
    blocks("format-1", "the first format: blocks of 128, the last not compressed",
            ("L.index.fts.format-version",), format_version=1, with_position=True),
)  # fmt: skip


def _analysis(
    slug: str,
    title: str,
    texts: Sequence[str | None],
    query: str,
    documents: Documents,
    asked: str,
    rows: Sequence[int],
    clause: str,
    **parameters: object,
) -> Positive:
    """Return the case of a way to make tokens: every text in turn, those appended too."""
    table = Indexed(pa.array([*texts, *[None] * (12 - len(texts))], pa.utf8()), "INVERTED",
                    parameters)  # fmt: skip
    found = scores(documents, asked.split("|"), rows, INDEXED)
    return text_case(slug, title, match(query), found, table, (clause,))


_PLAIN = {"stem": False, "remove_stop_words": False}

_TOKENIZERS = (
    _analysis("simple", "letters and digits of any script are words",
              ["żółw-9 foo_bar", "foo bar", "foobar"], "bar",
              {0: ["zołw", "9", "foo", "bar"], 1: ["foo", "bar"], 2: ["foobar"]}, "bar", [0, 1],
              "L.index.fts.tokenizer.simple", **_PLAIN),
    _analysis("whitespace", "only ASCII blanks part words",
              ["foo\tbar", "foo\u00a0bar", "foo,bar bar"], "bar",
              {0: ["foo", "bar"], 1: ["foo\u00a0bar"], 2: ["foo,bar", "bar"]}, "bar", [0, 2],
              "L.index.fts.tokenizer.whitespace", base_tokenizer="whitespace",
              ascii_folding=False, **_PLAIN),
    _analysis("raw", "a text is a word", ["foo bar", "foo", "foo bar"], "foo bar",
              {0: ["foo bar"], 1: ["foo"], 2: ["foo bar"]}, "foo bar", [0, 2],
              "L.index.fts.tokenizer.raw", base_tokenizer="raw", **_PLAIN),
    _analysis("ngram", "runs of three letters, blanks too", ["abcd", "bcx", "a bc"], "bcd",
              {0: ["abc", "bcd"], 1: ["bcx"], 2: ["a b", " bc"]}, "bcd", [0],
              "L.index.fts.tokenizer.ngram", base_tokenizer="ngram", min_ngram_length=3,
              max_ngram_length=3),
    _analysis("length", "a word of five bytes is dropped where four are the most",
              ["four five5 six", "five5"], "four five5", {0: ["four", "six"]}, "four", [0],
              "L.index.fts.analyzer.length", max_token_length=5, **_PLAIN),
    _analysis("order", "words are stemmed before stop words are dropped",
              ["very having", "very"], "very", {0: ["veri"], 1: ["veri"]}, "veri", [0, 1],
              "L.index.fts.analyzer.order"),
    _analysis("stop-words", "stop words of one's own", ["foo the bar", "the"], "the foo",
              {0: ["the", "bar"], 1: ["the"]}, "the", [0, 1], "L.index.fts.stop-words",
              custom_stop_words=["foo"], stem=False),
    _analysis("folding", "letters are brought to ASCII where something is left",
              ["Café", "cafe", "ßtraße", "łódź"], "café",
              {0: ["cafe"], 1: ["cafe"], 2: ["ßtraße"], 3: ["łodz"]}, "cafe", [0, 1],
              "L.index.fts.folding", **_PLAIN),
)  # fmt: skip

_WORDS = sorted({word for row, words in TOKENS.items() if row < INDEXED for word in words})


def _content(slug: str, title: str, by: str) -> Positive:
    """Return the case of what an index holds: of every token its rows, by address."""
    held = [
        (word, (row // 5 << 32) + row % 5, TOKENS[row].count(word))
        for word in _WORDS
        for row in TOKENS
        if row < INDEXED and word in TOKENS[row]
    ]
    schema = pa.schema([("token", pa.utf8()), ("row", pa.uint64()), ("frequency", pa.uint32())])
    table = pa.table([pa.array(column) for column in zip(*held, strict=True)], names=schema.names)
    return Positive(
        id=f"index/any/inverted/{slug}",
        title=title,
        clauses=("L.index.fts.tokens", "L.index.fts.docs", "L.index.fts.postings"),
        make=made(TEXT, table.cast(schema), by=by),
        version=TEXT.version,
        kind="index-bytes",
        args={"index": NAME},
        index="INVERTED",
        order="any",
    )


POSITIVES = (
    *_QUERIES,
    *_BLOCKS,
    *_TOKENIZERS,
    _content("content", "what it holds", "oracle"),
    _content("own-content", "what one of the reference holds", "reference"),
)
