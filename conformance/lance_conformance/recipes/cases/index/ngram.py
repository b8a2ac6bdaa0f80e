"""Cases of n-gram indices."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.cases.index.damaged_files import damaged
from lance_conformance.recipes.cases.index.index_files import unsized, values
from lance_conformance.recipes.cases.index.scalar_tables import TEXTS_INDICES, early_plain, key
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.handmade_files import words
from lance_conformance.recipes.indexed import COVERED, Indexed, filtered, held_by
from lance_conformance.recipes.model import Recipe

_NGRAM = "ngram_postings.lance"
NGRAM = Indexed(TEXTS_INDICES, "NGRAM")


def _token(text: str) -> int:
    """Return the number of three letters."""
    first, second, third = (11 + ord(letter) - ord("a") for letter in text)
    return first * 37**2 + second * 37 + third


_TOKENS = sorted(
    [
        (_token(word), key(row))
        for row, words in {
            0: "app ppl ple",
            1: "app ppl ply",
            3: "apf pfe fel",
            4: "ape",
            5: "ban ana nan",
            6: "ban and nda dan ana",
            7: "cab aba ban ana",
        }.items()
        for word in words.split()
    ]
    + [(0, key(2))]
)

_TOKEN_ROWS = pa.table(
    {
        "token": pa.array([token for token, _ in _TOKENS], pa.uint32()),
        "row": pa.array([key for _, key in _TOKENS], pa.uint64()),
    }
)

SHORT_NGRAM = Indexed(pa.array(["abcd"] * 12), "NGRAM")

CASES: tuple[Recipe, ...] = (
    case("index/any/ngram/every-token", "rows that every of their tokens has",
        "L.index.ngram.token", unsized(filtered(early_plain(SHORT_NGRAM), "contains(c, 'abc')", [0,
        1, 2, 3, 4, 5, 6, 8, 9, 10, 11])), reachable=False),
    case("index/any/ngram/contains", "a text of two tokens", COVERED,
        filtered(NGRAM, "contains(c, 'pple')", [0, 10])),
    case("index/any/ngram/folded", "letters are brought to ASCII, and the case of the text counts",
        COVERED, filtered(NGRAM, "contains(c, 'pfe')", [3])),
    case("index/any/ngram/match", "a regular expression with a text that every match holds",
        COVERED, filtered(NGRAM, "regexp_match(c, 'and.*na')", [6])),
    case("index/any/ngram/own-contains", "a text in an index of the reference", COVERED,
        filtered(NGRAM, "contains(c, 'ana')", [5, 6], by="reference")),
    case("index/any/ngram/content", "what it holds",
        ("L.index.segment.complete", "L.index.files.column"), held_by(NGRAM, _TOKEN_ROWS)),
    case("index/any/ngram/own-content", "what one of the reference holds",
        ("L.index.segment.complete", "L.index.files.column"),
        held_by(NGRAM, _TOKEN_ROWS, by="reference")),
    case("index/any/ngram/repeated", "a letter that may be missing ends what every match holds",
        COVERED, filtered(NGRAM, "regexp_match(c, 'apple*')", [0, 1, 10])),
    case("index/any/ngram/plain", "files of 2.0, whose sizes nobody says", COVERED,
        unsized(filtered(early_plain(SHORT_NGRAM), "contains(c, 'abc')",
                [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11])), reachable=False),
    fault("token-twice", "a token that occurs twice", "L.index.ngram.order",
        values("ngram_postings.lance", "tokens", words(0x3C9C, width=4), 4)),
    fault("token-behind", "the number one after the last token", "L.index.ngram.order",
        values("ngram_postings.lance", "tokens", words(37 ** 3, width=4), 4)),
    fault("treemap-count", "a treemap of more bitmaps than it has bytes", "L.index.treemap.count",
        values(_NGRAM, "posting_list", b"\xff" * 4, 0, "bytes")),
    fault("treemap-order", "an upper half that occurs twice in a treemap", "L.index.treemap.order",
        values(_NGRAM, "posting_list", b"\x00", 38, "bytes")),
    fault("treemap-end", "bytes after the last bitmap of a treemap", "L.index.treemap.end",
        values(_NGRAM, "posting_list", b"\x01", 0, "bytes")),
    fault("order", "tokens that do not rise", "L.index.ngram.order",
        values(_NGRAM, "tokens", b"\xff\xb0", 0)),
    fault("token", "a token that no three letters have", "L.index.ngram.order",
        values(_NGRAM, "tokens", b"\xff\xff\xff", 4)),
    lint("complete", "a row that a token does not have", "L.index.segment.complete",
        values("ngram_postings.lance", "posting_list", b"\x07", 20, "bytes"),
        also="L.index.ngram.token"),
    *damaged("ngram"),
)  # fmt: skip
