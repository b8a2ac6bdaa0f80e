"""Cases of early full-text indices: one partition, whose postings are rows.

The oracle makes the table and its index; the files of the index are replaced by those of an early
release, which listed no files in the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import pyarrow as pa
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.change import apply
from lance_conformance.recipes.indexed import INDEXED, Indexed
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import DATA, Made, Positive
from lance_conformance.recipes.oracle_made import file
from lance_conformance.recipes.scores import Documents, scores
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata, nulls, values
from lance_conformance.recipes.tables.indices import search
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.indices_text import (
    TEXTS,
    TOKENS,
    match,
    scores_of,
    text_case,
)

_POSTINGS = "invert.lance"
_CLAUSES = ("L.index.fts.early.offsets", "L.index.fts.early.documents")
_PARAMETERS = {"with_position": True}

EARLY = Indexed(pa.array(TEXTS), "INVERTED", _PARAMETERS, "2.0")

_ROWS = {row: tokens for row, tokens in TOKENS.items() if row < INDEXED}


def _address(row: int) -> int:
    return (row // 5 << 32) + row % 5


def _files(rows_of: Documents) -> dict[str, tuple[pa.Table, Mapping[str, str]]]:
    """Return the three files of the index: their rows and metadata."""
    words = sorted({word for tokens in rows_of.values() for word in tokens})
    held = [[row for row, tokens in rows_of.items() if word in tokens] for word in words]
    places = [
        [at for at, other in enumerate(rows_of[row]) if other == word]
        for word, rows in zip(words, held, strict=True)
        for row in rows
    ]
    keys = [_address(row) for rows in held for row in rows]
    firsts = [sum(map(len, held[:number])) for number in range(len(held))]
    return {
        "tokens.lance": (
            pa.table({"_token": words, "_token_id": pa.array(range(len(words)), pa.uint32())}),
            {"tokenizer": json.dumps(_PARAMETERS)},
        ),
        "docs.lance": (
            pa.table(
                {
                    "_rowid": pa.array(map(_address, rows_of), pa.uint64()),
                    "_num_tokens": pa.array(map(len, rows_of.values()), pa.uint32()),
                }
            ),
            {},
        ),
        _POSTINGS: (
            pa.table(
                {
                    "_rowid": pa.array(keys, pa.uint64()),
                    "_frequency": pa.array(map(len, places), pa.float32()),
                    "_position": pa.array(places, pa.list_(pa.int32())),
                }
            ),
            {"offsets": json.dumps(firsts, separators=(",", ":"))},
        ),
    }


def _unlisted(entry: IndexMetadata) -> None:
    del entry.files[:]
    entry.index_version = 0


def _early(make: Callable[[], Made], rows_of: Documents) -> Callable[[], Made]:
    """Return a maker that puts early files in place of those of the index."""

    def made() -> Made:
        base = make()
        (folder,) = {PurePosixPath(name).parent for name in base.files if "_indices/" in name}
        others = {name: data for name, data in base.files.items() if "_indices/" not in name}
        files, _ = apply(index(_unlisted, LAST), others)
        for name, (rows, said) in _files(rows_of).items():
            files[f"{folder}/{name}"] = file(rows, "2.0", schema_metadata=said)().files[DATA]
        return Made(files, base.table, made_by="hand")

    return made


def _of_early(case: Positive, rows_of: Documents = _ROWS) -> Positive:
    return replace(case, make=_early(case.make, rows_of), reachable=False)


_PAIRS = ("red fox", "red hen", "fox red", "hen", None, "", "red hen", "fox", "hen red", None)

_ONCE: Documents = {row: text.split() for row, text in enumerate(_PAIRS) if text}
"""Tokens of rows of which none holds one twice."""


def _once() -> Positive:
    found = scores(_ONCE, ["red", "hen"], [0, 1, 2, 3, 6, 8], INDEXED)
    table = replace(EARLY, values=pa.array([*_PAIRS, None, None]))
    case = text_case("early-once", "words that occur once, in an early index",
                     match("red hen"), found, table, _CLAUSES)  # fmt: skip
    return _of_early(case, _ONCE)


POSITIVES = (
    _of_early(text_case("early", "two words in an early index", match("brown bear"),
                        scores_of("brown bear", 0, 8, 9), EARLY, _CLAUSES)),
    _of_early(text_case("early-fuzzy", "a word with one letter less, in an early index",
                        match("quik", fuzziness=1), scores_of("quick", 0, 1, 5), EARLY,
                        ("L.index.fts.fuzzy", "L.index.fts.early.documents"))),
    _once(),
    search("words", "words as they are written: tokens that were stemmed are not asked",
           "contains_tokens(c, 'dogs')", [3], Indexed(EARLY.values, "INVERTED", {}, "2.0"),
           ("L.index.fts.words",), used=False),
)  # fmt: skip

NEGATIVES = (
    fault("inverted/early", "offsets", "tokens that begin nowhere", "L.index.fts.early.offsets",
          metadata(_POSTINGS, "offsets", "{}")),
    fault("inverted/early", "documents", "a row that is no document",
          "L.index.fts.early.documents", values(_POSTINGS, "_rowid", b"\x63")),
    lint("inverted/early-once", "positions", "null in place of the one position of each",
         "L.index.fts.early.documents", nulls(_POSTINGS, 3)),
)  # fmt: skip
