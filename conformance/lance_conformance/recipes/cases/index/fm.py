"""Cases of FM indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.cases.index.damaged_files import damaged
from lance_conformance.recipes.cases.index.index_files import metadata, metadata_text, values
from lance_conformance.recipes.cases.index.scalar_tables import TEXTS_INDICES
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import FOURTH, descriptor, index
from lance_conformance.recipes.handmade_files import reworked, words
from lance_conformance.recipes.indexed import COVERED, Indexed, filtered
from lance_conformance.recipes.model import Made, Recipe

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


def _every_byte() -> Made:
    """Say that each byte of no text has a sample."""
    asked = filtered(Indexed(_NONE, "FM", {}, "2.0"), "contains(c, 'an')", [])
    held = reworked(asked, metadata(_PART, "sa_sample_rate", "1")).make()
    (size,) = (len(data) for name, data in held.files.items() if name.endswith(_PART))
    return reworked(lambda: held, index({"files.0.size_bytes": size}, FOURTH))()


CASES: tuple[Recipe, ...] = (
    case("index/any/fm/of-nulls", "no text at all, and samples of each byte", (*COVERED,
        "L.index.fm.samples"), filtered(Indexed(_NONE, "FM", {}, "2.0"), "contains(c, 'an')", []),
        make=_every_byte, reachable=False),
    case("index/any/fm/plain", "a text in the middle of others; one of its rows is deleted",
        (*COVERED, "L.index.fm.partition", "L.index.fm.counts", "L.index.fm.topology",
            "L.index.fm.codes", "L.index.fm.numbers", "L.index.fm.node", "L.index.fm.rank",
            "L.index.fm.samples", "L.index.fm.texts", "L.index.fm.fingerprint"),
        filtered(FM, "contains(c, 'an')", [5, 6, 9])),
    fault("numbers-cut", "numbers that end early", "L.index.files.metadata",
        metadata_text(_PART, "c_table", lambda old: f"{old[:-8]}        ")),
    fault("words-cut", "words of seven bytes", "L.index.fm.node",
        values(_PART, "words", words(7), 0, "string ends")),
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
        metadata_text(_PART, "num_bwt_nodes", lambda _: "12")),
    fault("numbers-samples", "one sample more", "L.index.fm.numbers",
        metadata_text(_PART, "sa_samples_len", lambda _: "3")),
    fault("numbers-rate", "a sample of every zeroth byte", "L.index.fm.samples",
        metadata_text(_PART, "sa_sample_rate", lambda _: "00")),
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
    case("index/any/fm/letter", "one letter, also in a row that was appended", COVERED,
        filtered(FM, "contains(c, 'b')", [5, 6, 11])),
    case("index/any/fm/bytes", "a letter of two bytes", COVERED,
        filtered(FM, "contains(c, 'Äp')", [3])),
    case("index/any/fm/row-ids", "addresses where rows have stable ids", COVERED,
        filtered(Indexed(TEXTS_INDICES, "FM", {}, "2.2", stable_row_ids=True), "contains(c, 'pl')",
            [0, 1, 10])),
    case("index/any/fm/own-plain", "a text in an index of the reference", COVERED,
        filtered(FM, "contains(c, 'ana')", [5, 6], by="reference")),
    case("index/any/fm/blank", "a blank, as which another byte is stored too",
        (*COVERED, "L.index.fm.texts"),
        filtered(Indexed(pa.array(["a b", "a\x00b", None, "ab", "a b", "x", "y", "z", "", "b a",
                        "a\x00b", "a b"]), "FM", {}, "2.0"), "contains(c, 'a b')", [0, 4, 11])),
    case("index/any/fm/blocks", "a text of 280 006 letters: samples and bits in several blocks",
        (*COVERED, "L.index.fm.samples"), filtered(Indexed(pa.array(_LONG, pa.utf8()), "FM", {},
        "2.1"), "contains(c, 'needle')", [0, 11])),
    case("index/any/fm/none", "letters that never follow each other so", COVERED,
        filtered(FM, "contains(c, 'nab')", [])),
    case("index/any/fm/no-letter", "a letter that is nowhere", COVERED,
        filtered(FM, "contains(c, '#')", [])),
    *damaged("fm"),
)  # fmt: skip
