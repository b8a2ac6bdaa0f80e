"""Cases of n-gram and FM indices, which find texts in texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from lance_conformance.recipes import indexed
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import metadata, metadata_text, values
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import FOURTH, descriptor, index
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.indexed import TEXTS_INDICES, Indexed, filtered
from lance_conformance.recipes.model import Files, Recipe

_NGRAM = "ngram_postings.lance"
NGRAM = Indexed(TEXTS_INDICES, "NGRAM")


def _token(text: str) -> int:
    """Return the number of three letters."""
    first, second, third = (11 + ord(letter) - ord("a") for letter in text)
    return first * 37**2 + second * 37 + third


_WORDS_OF = {0: "app ppl ple", 1: "app ppl ply", 3: "apf pfe fel", 4: "ape", 5: "ban ana nan",
    6: "ban and nda dan ana", 7: "cab aba ban ana"}  # fmt: skip
"""Runs of three letters in each row that has any."""

_OF_WORDS = [(_token(one), indexed.key(row)) for row, of in _WORDS_OF.items() for one in of.split()]
_TOKENS = sorted([*_OF_WORDS, (0, indexed.key(2))])
_TOKEN_ROWS = pa.table({"token": pa.array([token for token, _ in _TOKENS], pa.uint32()),
        "row": pa.array([row for _, row in _TOKENS], pa.uint64())})  # fmt: skip

SHORT_NGRAM = Indexed(pa.array(["abcd"] * 12), "NGRAM")
_PART = "part_0_fm.lance"
_NONE = pa.array([None] * 12, pa.utf8())
FM = Indexed(TEXTS_INDICES, "FM", {}, "2.0")
_LONG = ["ab" * 70_000 + "needle" + "ba" * 70_000, *[None] * 10, "needles"]


def _words(change: Mapping[int, int]) -> Callable[[str], str]:
    """Add to numbers of 8 bytes that stand as hex digits, by their places."""

    def changed(old: str) -> str:
        numbers = np.frombuffer(bytes.fromhex(old), "<i8").copy()
        for at, by in change.items():
            numbers[at] += by
        return numbers.tobytes().hex()

    return changed


def _digits(at: int, new: str) -> Callable[[str], str]:
    """Write over hex digits from `at` on."""
    return lambda old: old[:at] + new + old[at + len(new) :]


def _sized(files: Files) -> Files:
    """State the size that the file of the index has."""
    size = len(files[index_files.path_of(_PART, files)])
    return apply(index({"files.0.size_bytes": size}, FOURTH), files)[0]


CASES: tuple[Recipe, ...] = (
    case("index/any/ngram/every-token", "rows that every of their tokens has",
        "L.index.ngram.token", index_files.unsized(filtered(indexed.in_2_0(SHORT_NGRAM),
                "contains(c, 'abc')", [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11], clauses=()))),
    case("index/any/ngram/contains", "a text of two tokens",
        filtered(NGRAM, "contains(c, 'pple')", [0, 10])),
    case("index/any/ngram/folded", "letters are brought to ASCII, and the case of the text counts",
        filtered(NGRAM, "contains(c, 'pfe')", [3])),
    case("index/any/ngram/match", "a regular expression with a text that every match holds",
        filtered(NGRAM, "regexp_match(c, 'and.*na')", [6])),
    case("index/any/ngram/own-contains", "a text in an index of the reference",
        filtered(NGRAM, "contains(c, 'ana')", [5, 6], by="reference")),
    case("index/any/ngram/content", "what it holds", indexed.dump(NGRAM, _TOKEN_ROWS)),
    case("index/any/ngram/own-content", "what one of the reference holds",
        indexed.dump(NGRAM, _TOKEN_ROWS, by="reference")),
    case("index/any/ngram/repeated", "a letter that may be missing ends what every match holds",
        filtered(NGRAM, "regexp_match(c, 'apple*')", [0, 1, 10])),
    case("index/any/ngram/times", "how often a letter may come is no text that every match holds",
        filtered(NGRAM, "regexp_match(c, 'ap{2,100}l')", [0, 1, 10]), facts={}),
    case("index/any/ngram/plain", "files of 2.0, whose sizes nobody says",
        index_files.unsized(filtered(indexed.in_2_0(SHORT_NGRAM), "contains(c, 'abc')",
                [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]))),
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
    *index_files.damaged("ngram"),
    case("index/any/fm/of-nulls", "no text at all, and samples of each byte", "L.index.fm.samples",
        edited(filtered(Indexed(_NONE, "FM", {}, "2.0"), "contains(c, 'an')", []),
            metadata(_PART, "sa_sample_rate", "1"), _sized)),
    case("index/any/fm/plain", "a text in the middle of others; one of its rows is deleted",
        ("L.index.fm.partition", "L.index.fm.counts", "L.index.fm.topology", "L.index.fm.codes",
            "L.index.fm.numbers", "L.index.fm.node", "L.index.fm.rank", "L.index.fm.samples",
            "L.index.fm.texts", "L.index.fm.fingerprint"),
        filtered(FM, "contains(c, 'an')", [5, 6, 9])),
    fault("numbers-cut", "numbers that end early", "L.index.files.metadata",
        metadata_text(_PART, "c_table", lambda old: f"{old[:-8]}        ")),
    fault("words-cut", "words of seven bytes", "L.index.fm.node",
        values(_PART, "words", words(7), 0, "string ends")),
    fault("words-next", "a word of the second block in the first", "L.index.fm.node",
        values(_PART, "words", words(16), 0, "string ends")),
    fault("bits", "words with one bit more", "L.index.fm.rank",
        values(_PART, "words", b"\x87", 0, "bytes")),
    fault("samples-far", "a sample after the last byte", "L.index.fm.samples",
        values(_PART, "words", words(50), 104, "bytes")),
    fault("texts-order", "texts whose starts fall", "L.index.fm.texts",
        metadata_text(_PART, "doc_start_positions", _words({1: 6, 2: -6}))),
    fault("texts-first", "a first text at byte 1", "L.index.fm.texts",
        metadata_text(_PART, "doc_start_positions", _words({0: 1}))),
    fault("texts-last", "a last text after the last byte", "L.index.fm.texts",
        metadata_text(_PART, "doc_start_positions", _words({-1: 3}))),
    fault("counts-first", "a byte before byte 00", "L.index.fm.counts",
        metadata_text(_PART, "c_table", _words({0: 1}))),
    fault("counts-last", "one byte more than there are", "L.index.fm.counts",
        metadata_text(_PART, "c_table", _words({-1: 1}))),
    fault("counts-ends", "an end of text less than texts", "L.index.fm.topology",
        metadata_text(_PART, "c_table", _words({255: 1}))),
    fault("topology-nodes", "one node less than the tree has", "L.index.fm.topology",
        metadata_text(_PART, "tree_topology", _digits(0, "0c"))),
    fault("topology-kind", "a side of kind 2", "L.index.fm.topology",
        metadata_text(_PART, "tree_topology", _digits(8, "02"))),
    fault("topology-loop", "a node below itself", "L.index.fm.topology",
        metadata_text(_PART, "tree_topology", _digits(10, "00"))),
    fault("topology-byte", "a leaf of another byte", "L.index.fm.topology",
        metadata_text(_PART, "tree_topology", lambda old: old.replace("0162000000", "0163000000"))),
    fault("hex", "digits that are none", "L.index.files.metadata",
        metadata_text(_PART, "c_table", _digits(0, "zz"))),
    fault("numbers-nodes", "one node less", "L.index.fm.numbers",
        metadata(_PART, "num_bwt_nodes", "12")),
    fault("numbers-samples", "one sample more", "L.index.fm.numbers",
        metadata(_PART, "sa_samples_len", "3")),
    fault("numbers-rate", "a sample of every zeroth byte", "L.index.fm.samples",
        metadata(_PART, "sa_sample_rate", "00")),
    fault("text-less", "one text less than the bytes have ends", "L.index.fm.texts",
        descriptor(dict.fromkeys(("schema.metadata.row_ids", "schema.metadata.doc_start_positions"),
                lambda old: old[:-16] + b" " * 16), f"_indices/*/{_PART}")),
    fault("partition", "an index of no partition", "L.index.fm.partition",
        index({"files": []}, FOURTH)),
    fault("counts", "a table of counts that does not reach the size", "L.index.fm.counts",
        metadata(_PART, "c_table", "0" * 4112)),
    fault("topology", "a tree of more nodes than are there", "L.index.fm.topology",
        metadata_text(_PART, "tree_topology", _digits(0, "ff"))),
    fault("codes", "a code that is not the path of its byte", "L.index.fm.codes",
        metadata_text(_PART, "huffman_codes", _digits(0, "ff"))),
    fault("numbers", "more nodes than the tree has", "L.index.fm.numbers",
        metadata(_PART, "num_bwt_nodes", "99")),
    fault("node", "a row of another node", "L.index.fm.node", values(_PART, "node_id", b"\x07")),
    fault("rank", "ones before the first block", "L.index.fm.rank",
        values(_PART, "prefix_rank", b"\x01")),
    fault("texts", "texts that all begin at once", "L.index.fm.texts",
        metadata(_PART, "doc_start_positions", "0" * 144)),
    lint("fingerprint", "the fingerprint of other texts", "L.index.fm.fingerprint",
        metadata(_PART, "partition_fingerprint", "0000000000000000")),
    case("index/any/fm/letter", "one letter, also in a row that was appended",
        filtered(FM, "contains(c, 'b')", [5, 6, 11])),
    case("index/any/fm/bytes", "a letter of two bytes", filtered(FM, "contains(c, 'Äp')", [3])),
    case("index/any/fm/row-ids", "addresses where rows have stable ids",
        filtered(Indexed(TEXTS_INDICES, "FM", {}, "2.2", stable_row_ids=True), "contains(c, 'pl')",
            [0, 1, 10])),
    case("index/any/fm/own-plain", "a text in an index of the reference",
        filtered(FM, "contains(c, 'ana')", [5, 6], by="reference")),
    case("index/any/fm/blank", "a blank, as which another byte is stored too", "L.index.fm.texts",
        filtered(Indexed(pa.array(["a b", "a\x00b", None, "ab", "a b", "x", "y", "z", "", "b a",
                        "a\x00b", "a b"]), "FM", {}, "2.0"), "contains(c, 'a b')", [0, 4, 11])),
    case("index/any/fm/blocks", "a text of 280 006 letters: samples and bits in several blocks",
        "L.index.fm.samples", filtered(Indexed(pa.array(_LONG, pa.utf8()), "FM", {}, "2.1"),
            "contains(c, 'needle')", [0, 11])),
    case("index/any/fm/whole-words", "64 bytes with all ends, which fill the words of a node",
        "L.index.fm.rank",
        filtered(Indexed(pa.array([*["abcdefghijklmno"] * 3, "abcdefghijklmn", *[None] * 8]), "FM",
                {}, "2.0"), "contains(c, 'no')", [0, 1, 2])),
    case("index/any/fm/none", "letters that never follow each other so",
        filtered(FM, "contains(c, 'nab')", [])),
    case("index/any/fm/no-letter", "a letter that is nowhere",
        filtered(FM, "contains(c, '#')", [])),
    *index_files.damaged("fm"),
)  # fmt: skip
