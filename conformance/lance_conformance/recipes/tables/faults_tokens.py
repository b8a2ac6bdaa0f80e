"""Full-text indices whose tokens are not those of their texts, which only `validate` looks at.

The parameters of a segment are changed, to others that take as many bytes: its tokens are then not
what these make of the texts. The tables are read, and not searched.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_details_pb2 import InvertedIndexDetails
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.indexed import DELETED, INDEXED, Indexed, made
from lance_conformance.recipes.messages import descriptor, index
from lance_conformance.recipes.model import Change, MessageEdit, Negative, Positive
from lance_conformance.recipes.scores import scores
from lance_conformance.recipes.tables.faults_indices import lint, values
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.indices_text import match, text_case

_TEXTS = pa.array(
    ["the Quick-brown foxes", "getUserName foo_bar", "Café au lait", "le fox", None, "",
     "fox jumps over", "dogs", "a\u00a0b", "quick", "fox", "dog"]
)  # fmt: skip

_LISTS = pa.array([["the fox", "dogs"], [], None, ["fox"], *[["quick"]] * 8], pa.list_(pa.utf8()))

_DOCUMENTS = pa.array(['{"a":"quick fox"}', None, '{"a":3}', *['{"b":"dog"}'] * 9], pa.json_())


def _parent(slug: str, title: str, column: pa.Array, **parameters: object) -> Positive:
    table = Indexed(column, "INVERTED", parameters)
    rows = [row for row in range(len(column)) if row != DELETED]
    return Positive(
        id=f"index/any/inverted/{slug}",
        title=title,
        clauses=("L.index.segment.complete",),
        make=made(table, table.table.take(rows)),
        version=table.version,
        kind="read-dataset",
    )


_STOPPED = {"with_position": True, "custom_stop_words": ["the"]}

_ICU = text_case(
    "icu", "words by their boundaries, and at every colon", match("ef"),
    scores({0: ["foo_bar", "cd", "ef"], 1: ["x.y", "fox"]}, ["ef"], [0], INDEXED),
    Indexed(pa.array(["foo_bar cd:ef", "x.y the le und fox", *[None] * 10], pa.utf8()), "INVERTED",
            {"base_tokenizer": "icu", "stem": False}),
    ("L.index.fts.tokenizer.icu", "L.index.fts.stop-words.icu"),
)  # fmt: skip

POSITIVES = (
    _ICU,
    _parent("texts", "a table of texts, with their tokens", _TEXTS, **_STOPPED),
    _parent("texts-raw", "a table of texts that are tokens", _TEXTS, base_tokenizer="raw"),
    _parent("texts-lists", "a table of lists of texts", _LISTS),
    _parent("texts-json", "a table of documents", _DOCUMENTS),
)


def _said(**changed: object) -> MessageEdit:
    """Change parameters, in as many bytes; what is null, or what it is by itself, is left out."""

    def edit(message: FileDescriptor) -> None:
        old = message.schema.metadata["params"]
        told = {**json.loads(old), **changed}
        kept = {name: value for name, value in told.items() if value is not None}
        del kept["prefix_only"]
        new = json.dumps(kept, separators=(",", ":")).encode()
        message.schema.metadata["params"] = new.ljust(len(old))

    return descriptor(edit, "_indices/*/metadata.lance")


def _by_element(entry: IndexMetadata) -> None:
    details = InvertedIndexDetails.FromString(entry.index_details.value)
    details.document_granularity = InvertedIndexDetails.LIST_ELEMENT
    entry.index_details.value = details.SerializeToString(deterministic=True)


def _lint(parent: str, slug: str, title: str, change: Change, *also: str) -> Negative:
    own = lint(f"inverted/{parent}", slug, title, "L.index.segment.complete", change)
    return replace(own, also=tuple(f"L.index.fts.{clause}" for clause in also))


NEGATIVES = (
    _lint("texts-raw", "simple", "texts that are not cut into words",
          _said(base_tokenizer="simple"), "tokenizer.simple"),
    _lint("texts", "whitespace", "texts that are cut at more than blanks",
          _said(base_tokenizer="whitespace"), "tokenizer.whitespace"),
    _lint("texts", "raw", "texts that are cut", _said(base_tokenizer="raw"), "tokenizer.raw"),
    _lint("texts", "ngram", "words in place of runs of letters",
          _said(base_tokenizer="ngram"), "tokenizer.ngram"),
    _lint("texts", "code", "names that are cut elsewhere", _said(base_tokenizer="code"),
          "tokenizer.code"),
    _lint("texts", "icu", "words that end elsewhere, and one that is to be dropped",
          _said(base_tokenizer="icu"), "tokenizer.icu", "stop-words.icu"),
    _lint("texts", "length", "a token that is too long", _said(max_token_length=5),
          "analyzer.length"),
    _lint("texts", "order", "tokens that were made stems", _said(stem=False), "analyzer.order"),
    _lint("texts", "stop-words", "a word that is to be dropped",
          _said(custom_stop_words=["fox"]), "stop-words"),
    _lint("texts", "folding", "letters that were brought to ASCII", _said(ascii_folding=False),
          "folding"),
    _lint("texts", "position", "a token that stands elsewhere",
          values("part_0_invert.lance", "_compressed_position", b"\5", 2, "bytes"),
          "analyzer.position"),
    _lint("texts-raw", "empty", "a document without a token", _said(max_token_length=3),
          "documents.empty"),
    _lint("texts-json", "json", "members that are tokens of a text",
          _said(lance_tokenizer="text"), "documents.json"),
    _lint("texts-lists", "list", "lists that are one document each",
          index(_by_element, LAST), "documents.list"),
)  # fmt: skip
