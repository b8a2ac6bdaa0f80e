"""Cases of indices just beside the usual: short texts, rare letters, a bit that is off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import DELETED, INDEXED, Indexed, made
from lance_conformance.recipes.model import Negative, Positive, Remove, SpanPatch
from lance_conformance.recipes.scores import scores
from lance_conformance.recipes.tables import indices_vectors_plain
from lance_conformance.recipes.tables.faults_indices import fault, lint
from lance_conformance.recipes.tables.indices_text import match, text_case

_RARE = ["aés", "bès", *["x"] * 10]
_LETTERS = ["ab", "bc", "cab", *["d"] * 9]
_SHORT = ["fox", "the fox", "a", "", None, "dog fox", *["fox"] * 6]


def _words(
    slug: str, title: str, texts: list[str], tokens: list[list[str]], asked: str, clause: str,
    **parameters: object,
) -> Positive:  # fmt: skip
    documents = {row: one for row, one in enumerate(tokens) if row != DELETED}
    rows = [row for row, one in documents.items() if asked in one]
    inside = {row: one for row, one in enumerate(tokens) if row < INDEXED}
    found = scores({**inside, **documents}, [asked], rows, INDEXED)
    table = Indexed(pa.array(texts), "INVERTED", {"stem": False, **parameters}, "2.0")
    return text_case(slug, title, match(asked), found, table, (clause,))


def _nearly() -> Positive:
    """One word is the beginning of what is asked, another has a letter more before it."""
    tokens = {0: ["qui"], 1: ["xquick"], **{row: ["dog"] for row in range(2, 12)}}
    documents = {row: one for row, one in tokens.items() if row != DELETED}
    found = scores({**tokens, **documents}, ["xquick"], [1], INDEXED)
    texts = pa.array([one for (one,) in tokens.values()])
    return text_case("nearly", "a word with one letter more at its beginning",
                     match("quick", fuzziness=1), found,
                     Indexed(texts, "INVERTED", {"stem": False}, "2.0"),
                     ("L.index.fts.fuzzy",))  # fmt: skip


_LIKE = Indexed(pa.array(_SHORT, pa.utf8()), "MINHASHLSH", {}, "2.0")

_SIGNS = ("field _rabit_codes", "values")
(_RQ,) = (one for one in indices_vectors_plain.POSITIVES if one.id.endswith("ivf-rq/plain"))


def _turned(bits: int) -> Callable[[bytes], bytes]:
    """Return what turns some signs of one row."""
    return lambda old: bytes([old[0] ^ bits]) + old[1:]


def _sign(bits: int) -> SpanPatch:
    return SpanPatch(_SIGNS, _turned(bits), target="_indices/*/auxiliary.idx")


POSITIVES: tuple[Positive, ...] = (
    _words("rare-letters", "words whose letters no dictionary has a short way to write", _RARE,
           [["aés"], ["bès"], *[["x"]] * 10], "bès", "L.index.fts.fst.node",
           ascii_folding=False),
    _words("ngram-one", "runs of one letter", _LETTERS,
           [["a", "b"], ["b", "c"], ["c", "a", "b"], *[["d"]] * 9], "c",
           "L.index.fts.tokenizer.ngram", base_tokenizer="ngram", min_ngram_length=1,
           max_ngram_length=1),
    _nearly(),
    Positive(
        id="index/any/minhash/short",
        title="texts of fewer words than are taken together",
        clauses=("L.index.minhash.signature", "L.index.minhash.band-key"),
        make=made(_LIKE, _LIKE.table.take([row for row in range(12) if row != DELETED])),
        version="2.0",
        kind="read-dataset",
    ),
    replace(_RQ, id="index/any/ivf-rq/sign-one",
            title="a sign that is not that of its number: it may be near 0",
            make=reworked(_RQ.make, _sign(1))),
)  # fmt: skip
"""Every positive case of texts and codes beside the usual."""

NEGATIVES: tuple[Negative, ...] = (
    lint("ivf-rq/plain", "signs-two", "two signs of a row that are not those of their numbers",
         "L.index.vector.rq.signs", _sign(3)),
    fault("inverted/plain", "no-metadata", "the file that tells of the index is missing",
          "L.index.segment.files", Remove("_indices/*/metadata.lance")),
)  # fmt: skip
"""Every fault of them."""
