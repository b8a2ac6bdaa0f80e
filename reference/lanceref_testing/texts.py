"""Texts: random documents and full-text queries, determined by a seed.

Every family of tokenizers has its own parameters and words. Documents are texts, lists of texts and
JSON.
"""

from __future__ import annotations

import json
from random import Random
from types import ModuleType

import pyarrow as pa
from lanceref.index.full_text.parameters import LANGUAGES

WORDS = {
    "simple": "fox dog cow red blue green quick lazy run running runs house houses Straße été ETE "
    "the of and very having over under x1 foo_bar 42 naïve cats cat category café don't",
    "code": "getUserName user_name XMLHttp parse2JSON a::b c->d x+=1 _private __init__ name get "
    "HTTPServer http2 Name user utf8_reader i j != foo.bar(baz) ÀbCd",
    "icu": "fox can't 3.14 foo_bar a.b 1,000 été e\u0301t\u00e9 привет мир σου नमस्ते مرحبا "
    "한국어 the und och U.S.A. http://a.b/c ①② don’t 12% ISO-8859",
    "languages": "laufen läuft gelaufen häuser maisons maison chevaux libros corriendo casas été "
    "hästar бежать бегу книги talossa kirjat házak kitaplar أكتب كتاب γράφω the und le der och "
    "och gatti gatto runners corre navegação mulheres ändern őket lasī ők காத்தல் olmak",
}
"""Words by family; other families have those of the first."""

FAMILIES = ("simple", "whitespace", "raw", "ngram", "code", "icu", "languages")

REPLACEMENT = "fox the name été"
"""Text that updates write."""

KINDS = ("match", "match", "and", "fuzzy", "phrase", "multi", "combined", "boost", "boolean")


def parameters(family: str, rng: Random) -> dict[str, object]:
    """Return random parameters of an index."""
    base = {"languages": "simple", "icu": rng.choice(["icu", "icu/split"])}.get(family, family)
    chosen: dict[str, object] = {"base_tokenizer": base, "with_position": True}
    for name in ("stem", "remove_stop_words", "lower_case", "ascii_folding"):
        if rng.random() < 0.2:
            chosen[name] = rng.random() < 0.5
    if family == "languages":
        chosen["language"] = rng.choice(LANGUAGES)
    if family == "ngram":
        chosen["min_ngram_length"] = least = rng.randint(1, 4)
        chosen["max_ngram_length"] = least + rng.randint(0, 2)
        chosen["prefix_only"] = rng.random() < 0.3
    if family == "code":
        flags = ("split_identifiers", "split_on_numerics", "preserve_original", "index_operators")
        chosen |= {name: rng.random() < 0.6 for name in flags}
    if rng.random() < 0.2:
        chosen["custom_stop_words"] = rng.sample(vocabulary(family), 3)
    if rng.random() < 0.2:
        chosen["max_token_length"] = rng.choice([None, 5, 12])
    chosen["block_size"] = rng.choice([128, 128, 256])
    if chosen["block_size"] == 128 and family != "code":
        chosen["format_version"] = rng.choice([1, 2, 3])
    return chosen


def vocabulary(family: str) -> list[str]:
    """Return the words of a family."""
    return WORDS.get(family, WORDS["simple"]).split()


def text(family: str, rng: Random, longest: int) -> str:
    """Return up to `longest` random words, of which the first of the vocabulary are frequent."""
    words = vocabulary(family)
    if family == "raw":
        longest = 2
    weights = [1 / (1 + number) for number in range(len(words))]
    return rng.choice([" ", " ", "  ", ", "]).join(
        rng.choices(words, weights, k=rng.choice([0, 1, 2, min(5, longest), longest]))
    )


def document(family: str, rng: Random) -> str:
    """Return a random JSON document."""
    return json.dumps(
        {
            "a": text(family, rng, 6),
            "n": rng.choice([1, 2.5, None, True]),
            "b": {"c": [text(family, rng, 3), {"d": rng.randint(0, 3)}]},
        },
        ensure_ascii=False,
    )


def rows(family: str, count: int, rng: Random, first: int) -> pa.Table:
    """Return rows: texts in `s` and `t`, lists of texts in `l`, JSON in `j`, numbers in `i`."""

    def or_null(make: object) -> object:
        return make() if rng.random() > 0.1 else None  # type: ignore[operator]

    lists = [
        or_null(lambda: [text(family, rng, 6) for _ in range(rng.randint(0, 3))])
        for _ in range(count)
    ]
    columns = {
        "s": pa.array([or_null(lambda: text(family, rng, 30)) for _ in range(count)], pa.string()),
        "t": pa.array([or_null(lambda: text(family, rng, 8)) for _ in range(count)], pa.string()),
        "l": pa.array(lists, pa.list_(pa.string())),
        "j": pa.array([or_null(lambda: document(family, rng)) for _ in range(count)], pa.json_()),
        "i": pa.array(range(first, first + count)),
    }
    return pa.table(columns)


def _words(family: str, rng: Random, most: int) -> str:
    return " ".join(rng.choices([*vocabulary(family), "zebra"], k=rng.randint(1, most)))


def draw_query(
    family: str, classes: ModuleType, rng: Random, columns: str = "sstlj", depth: int = 2
) -> object:
    """Return a random query of a column, or of `s` and `t`, made of the classes of a module."""
    kind, column = rng.choice(KINDS), rng.choice(columns)
    operator = classes.FullTextOperator.AND if kind == "and" else classes.FullTextOperator.OR
    words = _words(family, rng, 3)
    if column == "j":
        path, words = rng.choice([("a", words), ("b.c", words), ("n", "2.5"), ("b.c.d", "1")])
        words = f"{path},{'number' if path in ('n', 'b.c.d') else 'str'},{words}"
    if kind == "fuzzy":
        return classes.MatchQuery(
            words,
            column,
            fuzziness=rng.choice([1, 2]),
            prefix_length=rng.choice([0, 0, 1, 2]),
            max_expansions=rng.choice([50, 50, 2]),
            operator=rng.choice([classes.FullTextOperator.AND, classes.FullTextOperator.OR]),
        )
    if kind == "phrase":
        return classes.PhraseQuery(words, column)
    if kind in ("multi", "combined"):
        make = classes.MultiMatchQuery if kind == "multi" else classes.CombinedFieldsQuery
        boosts = [rng.choice([1.0, 1.5]), 1.0]
        return make(_words(family, rng, 3), ["s", "t"], boosts=boosts, operator=operator)
    if kind in ("match", "and") or depth == 0:
        boost = rng.choice([1.0, 2.5])
        return classes.MatchQuery(words, column, boost=boost, operator=operator)
    parts = [draw_query(family, classes, rng, columns, depth - 1) for _ in range(3)]
    if kind == "boost":
        return classes.BoostQuery(parts[0], parts[1], negative_boost=rng.choice([0.25, 0.5]))
    occurs = [rng.choice(list(classes.Occur)) for _ in parts[1:]]
    must = rng.choice([classes.Occur.MUST, classes.Occur.SHOULD])
    return classes.BooleanQuery([(must, parts[0]), *zip(occurs, parts[1:], strict=True)])
