"""Cases of indices of JSON paths and of MinHash signatures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
from lanceref.proto.index_pb2 import JsonIndexDetails, MinHashLshIndexDetails

from lance_conformance.recipes import indexed
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import Held, metadata, values
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import FOURTH, byte, index, inside
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.indexed import Indexed, all_rows, filtered
from lance_conformance.recipes.model import Recipe, SpanPatch

_LIKE = Indexed(
    pa.array([f"the quick brown fox of number {n % 4}" for n in range(12)]), "MINHASHLSH"
)

_BANDS = "bands.lance"
_ALIKE = Indexed(pa.array(["the quick brown fox"] * 12), "MINHASHLSH", {}, "2.0")
_PAGE_ROWS = 2


def _in_pages(held: Held) -> Held:
    """Put few bands of equal texts on a page, so that pages end with the same one."""
    keys = held.rows["band_key"].to_pylist()
    table = words(*keys[_PAGE_ROWS - 1 :: _PAGE_ROWS], *keys[len(keys) & ~1 :])
    texts = {**held.texts, "minhash_lsh_page_rows": f"{_PAGE_ROWS}"}
    return Held(held.rows, texts, (table,))


_ALIKE_WORDS = Indexed(
    pa.array(["fox", "the fox", "a", "", None, "dog fox", *["fox"] * 6], pa.utf8()), "MINHASHLSH",
    {}, "2.0")  # fmt: skip

DOCUMENTS = pa.array(['{"a":3}', None, '{"a":1}', '{"a":5,"b":"x"}', '{"a":3}', '{"b":2}',
        '{"a":null}', '{"a":5}', '{"a":9}', '{"a":1}', '{"a":3}', '{"a":8}'],
    pa.json_())  # fmt: skip


def _over(target: str, version: str = "2.0", path: str = "a") -> Indexed:
    """Return documents whose members `a` are held by an index of another type."""
    return Indexed(DOCUMENTS, "JSON", {"path": path, "target_index_type": target}, version)


_A = _over("btree")


def _of(*texts: str | None, **others: Any) -> Indexed:
    """Return documents, whose members `a` are held by a B-tree."""
    return replace(_A, values=pa.array(texts, pa.json_()), **others)


_MIXED = _of('{"a":2.5}', '{"a":1.5}', None, '{"a":2}', '{"a":1}', '{"a":3}', *["{}"] * 6)
_LONG = _of(*(f'{{"a":{2**53 + n}}}' for n in (0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 1, 3)))
_NULL_LEFT = _of('{"a":1.5}', "{}", '{"a":2.5}', *['{"b":1}'] * 9,
    afterwards=lambda dataset: dataset.delete("id IN (0, 2)"))  # fmt: skip


def _one_more(details: str) -> str:
    """Return details, as digits, by which a token more is taken together."""
    message = MinHashLshIndexDetails.FromString(bytes.fromhex(details))
    message.shingle_size += 1
    return message.SerializeToString(deterministic=True).hex()


CASES: tuple[Recipe, ...] = (
    case("index/any/minhash/signed", "signatures of texts", "L.index.minhash.signature",
        edited(all_rows(replace(_LIKE, version="2.0")), index({"files": None}, FOURTH))),
    case("index/any/minhash/plain", "texts that are alike: the rows are what they are",
        ("L.index.minhash.details", "L.index.minhash.version", "L.index.minhash.docs",
            "L.index.minhash.bands", "L.index.minhash.pages", "L.index.minhash.band-key"),
        edited(all_rows(replace(_LIKE, version="2.0")), index({"files": None}, FOURTH))),
    lint("document-next", "the number one after the last document", "L.index.minhash.bands",
        values("bands.lance", "doc_id", words(10, width=4), 0)),
    lint("keys-fall", "a band that falls", "L.index.minhash.bands",
        values("bands.lance", "band_key", words(1), 8)),
    lint("signature", "a signature that is not that of the text", "L.index.minhash.band-key",
        values("signatures.lance", "signature", b"\x00\x01"), also="L.index.minhash.signature"),
    lint("details", "details that are none", "L.index.minhash.details",
        metadata(_BANDS, "minhash_lsh_details", "00")),
    lint("details-other", "shingles of other sizes in the two files", "L.index.minhash.details",
        index_files.metadata_text(_BANDS, "minhash_lsh_details", _one_more)),
    lint("pages-cut", "a table of pages that ends inside of a number", "L.index.minhash.pages",
        SpanPatch(("GBO", "GBO[[]1].size"), 12, target=f"_indices/*/{_BANDS}")),
    lint("version", "files of a version to come", "L.index.minhash.version",
        metadata(_BANDS, "minhash_lsh_index_version", "1")),
    lint("docs", "fewer documents than there are", "L.index.minhash.docs",
        metadata(_BANDS, "minhash_lsh_num_docs", "3")),
    lint("bands", "bands that do not rise", "L.index.minhash.bands",
        values(_BANDS, "band_key", b"\xff" * 8)),
    lint("pages", "another last band of a page", "L.index.minhash.pages",
        index_files.held_bytes(_BANDS, b"\x00", 0)),
    lint("band-key", "a band that is not that of a signature", "L.index.minhash.band-key",
        values(_BANDS, "band_key", b"\x00")),
    lint("exchanged", "the signatures of two rows, exchanged", "L.index.segment.complete",
        values("signatures.lance", "_rowid", lambda old: old[8:16] + old[:8] + old[16:])),
    fault("text", "a text of the table that is not UTF-8", "L.array.binary.utf8",
        byte("field c", "page 0", "bytes", at=0, new=0xFF, target="data/1101*.lance")),
    case("index/any/minhash/pages", "pages of two bands, many of which end alike",
        "L.index.minhash.pages",
        edited(all_rows(_ALIKE), index_files.rewritten(_BANDS, _in_pages, FOURTH))),
    case("index/any/minhash/short", "texts of fewer words than are taken together",
        ("L.index.minhash.signature", "L.index.minhash.band-key"), all_rows(_ALIKE_WORDS)),
    case("index/any/json/typed", "an entry that tells the type of the values",
        "L.index.json.details",
        edited(filtered(_A, "json_get_int(c, 'a') = 3", [0, 4, 10]),
            index({"index_details.value": inside(JsonIndexDetails, {"target_data_type": 3})},
                FOURTH))),
    case("index/any/json/one-fragment", "documents of one fragment", "L.index.json.details",
        filtered(_A, "json_get_int(c, 'a') = 3", [0, 4, 10],
            steps=indexed.at_once(_A.table, "JSON", _A.parameters, "2.0"))),
    case("index/any/json/plain", "a whole number", "L.index.json.details",
        filtered(_A, "json_get_int(c, 'a') = 3", [0, 4, 10])),
    lint("rows", "the rows of two values, exchanged", "L.index.segment.complete",
        values("page_data.lance", "ids", lambda old: old[-8:] + old[8:-8] + old[:8])),
    lint("details", "values held by an index of texts", "L.index.json.details",
        index({"index_details.value": inside(JsonIndexDetails,
                    {"target_details.type_url": "/lance.index.pb.InvertedIndexDetails"})}, FOURTH)),
    case("index/any/json/floats", "floats, and whole numbers among them", "L.index.json.details",
        filtered(_MIXED, "json_get_float(c, 'a') > 1.6", [0, 3, 5])),
    case("index/any/json/long", "whole numbers that no float tells apart", "L.index.json.details",
        filtered(_LONG, f"json_get_int(c, 'a') = {2**53 + 1}", [1, 10])),
    case("index/any/json/range", "numbers of a range, one of their rows deleted",
        "L.index.json.details", filtered(_over("bitmap"), "json_get_int(c, 'a') >= 5", [3, 8, 11])),
    case("index/any/json/nulls", "null, a member that is null, and none", "L.index.json.details",
        filtered(_A, "json_get_int(c, 'a') IS NULL", [1, 5, 6])),
    case("index/any/json/zones", "numbers of zones", "L.index.json.details",
        filtered(_over("zonemap", "2.2"), "json_get_int(c, 'a') < 2", [2, 9])),
    case("index/any/json/asked-type",
        "a float is asked for, whole numbers are held: the rows are scanned",
        "L.index.json.asked-type",
        filtered(_A, "json_get_float(c, 'a') = 3.0", [0, 4, 10])),
    case("index/any/json/member",
        "a member that is called as the path is spelled, which no document has",
        "L.index.json.member",
        filtered(_over("btree", path="$.a"), "json_get_int(c, '$.a') = 3", [], used=False)),
    case("index/any/json/own-plain", "a whole number in an index of the reference",
        filtered(_A, "json_get_int(c, 'a') = 3", [0, 4, 10], by="reference")),
    case("index/any/json/null-left", "documents of which none has the number any more",
        filtered(_NULL_LEFT, "json_get_float(c, 'a') IS NULL", [1, 3, 4, 5, 6, 8, 9, 10, 11])),
    *index_files.damaged("json"),
)  # fmt: skip
