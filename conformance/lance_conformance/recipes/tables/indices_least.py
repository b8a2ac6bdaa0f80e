"""Cases of indices that only just tell: ends of ranges, blanks, last letters, no rows.

A reader that is off by one in a search, or that believes an index where it may be wrong, answers
otherwise.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyroaring
from lanceref.proto.table_pb2 import IndexMetadata
from pylanceref.file import LanceFileReader

from lance_conformance.recipes.hand import reworked, words
from lance_conformance.recipes.indexed import COLUMN, DELETED, Indexed, create_index, made
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import DATA, Made, Negative, Positive, SpanPatch
from lance_conformance.recipes.oracle_made import file
from lance_conformance.recipes.scores import scores
from lance_conformance.recipes.tables.faults_indices import lint, values
from lance_conformance.recipes.tables.faults_vectors import GRAPH
from lance_conformance.recipes.tables.indices import search
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.indices_text import match, text_case
from lance_conformance.recipes.tables.indices_vectors import ALL, CLAUSES, TYPES, case
from lance_conformance.recipes.vectors import DIMENSION, Numbers, Vectors, numbers
from lance_conformance.recipes.vectors import made as vectors_made

_BLANKS = ["a b", "a\0b", None, "ab", "a b", "x", "y", "z", "", "b a", "a\0b", "a b"]

_RANGED = Vectors("IVF_FLAT", "hamming", "u1", seed=18, rows=40)
_BETWEEN = _RANGED.asked(k=40, nprobes=2, range=["28", "32"])

_WALKED = replace(TYPES["hnsw-pq"], seed=19, rows=420)
_NEAREST = _WALKED.asked(k=1, nprobes=2)

_FAR = (100, 102, 104, 106, 108, 110, 130, 140)
"""Squares of how far the centroids are from the query, each along an axis of its own."""

_AS_FAR = 6
"""So many of them are about as near as the first."""


class _Spread(Vectors):
    """Eight partitions around the query: six of one row, and the nearest row in the next one."""

    @property
    def values(self) -> Numbers:
        """The rows, of which one lies far from its centroid, and the query."""
        centroids = _centroids()
        rows = [*centroids[:_AS_FAR], *[centroids[7]] * 5, *[centroids[6]] * 4]
        near = np.zeros((1, DIMENSION))
        near[0, 6] = 2
        return np.concatenate([rows, near, np.zeros((1, DIMENSION))]).astype("f4")


def _centroids() -> Numbers:
    return np.diag(np.sqrt(_FAR)).astype("f4")


_APART = _Spread("IVF_FLAT", rows=16, version="2.0",
                 parameters={"num_partitions": len(_FAR),
                             "ivf_centroids": _centroids()})  # fmt: skip
_ENOUGH = _APART.asked(k=_AS_FAR)

_EMPTY = Indexed(pa.array(["fox", "dog", *["x"] * 10]), "INVERTED", {"stem": False}, "2.0")


def _no_rows(module: Any, uri: str) -> None:
    """Make an index before there are rows."""
    rows = _EMPTY.table
    dataset = module.write_dataset(rows.slice(0, 0), uri, data_storage_version="2.0")
    create_index(module, dataset, COLUMN, _EMPTY.type, _EMPTY.parameters)
    module.write_dataset(rows, uri, mode="append", max_rows_per_file=6)


class _Three(Vectors):
    """Three vectors around the first centroid, and all others around the second."""

    @property
    def values(self) -> Numbers:
        """The rows, and the query."""
        found = numbers(self.element, self.rows + 1, self.seed).astype(np.float32) / np.float32(10)
        found[3:] += np.float32(50)
        return np.asarray(found)


_CENTRES = np.repeat([[0], [50]], DIMENSION, axis=1).astype("f4")
_THREE = _Three("IVF_HNSW_FLAT", rows=24, seed=20, version="2.0",
                parameters={"m": 4, "ef_construction": 40, "ivf_centroids": _CENTRES})  # fmt: skip

_GREEK = {0: ["οδοσ"], 1: ["σοφοσ"], **{row: ["x"] for row in range(2, 12) if row != 7}}
_OF_GREEK = Indexed(pa.array(["ΟΔΟΣ", "ΣΟΦΟΣ", *["x"] * 10]), "INVERTED",
                    {"stem": False, "ascii_folding": False}, "2.0")  # fmt: skip

_ALIKE = Indexed(pa.array(["the quick brown fox"] * 12), "MINHASHLSH", {}, "2.0")

_PAGE_ROWS = 2


def _in_pages() -> Made:
    """Put few bands of equal texts on a page, so that pages end with the same one."""
    alike = _ALIKE.table
    base = reworked(made(_ALIKE, alike.filter(pc.not_equal(alike["id"], DELETED))),
                    index(without_sizes, LAST))()  # fmt: skip
    (name,) = (name for name in base.files if name.endswith("bands.lance"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        path.write_bytes(base.files[name])
        rows = LanceFileReader(path).read_all().to_table()
    texts = {key.decode(): text.decode() for key, text in rows.schema.metadata.items()}
    texts["minhash_lsh_page_rows"] = f"{_PAGE_ROWS}"
    keys = rows["band_key"].to_pylist()
    table = words(*keys[_PAGE_ROWS - 1 :: _PAGE_ROWS], *keys[len(keys) & ~1 :])
    rows = rows.replace_schema_metadata(None)
    written = file(rows, "2.0", global_buffers=(table,), schema_metadata=texts)()
    return replace(base, files={**base.files, name: written.files[DATA]})


POSITIVES: tuple[Positive, ...] = (
    search("blank", "a blank, as which another byte is stored too", "contains(c, 'a b')",
           [0, 4, 11], Indexed(pa.array(_BLANKS), "FM", {}, "2.0"), ("L.index.fm.texts",)),
    Positive(
        id="index/any/minhash/pages",
        title="pages of two bands, many of which end alike",
        clauses=("L.index.minhash.pages",),
        make=_in_pages,
        version="2.0",
        kind="read-dataset",
        reachable=False,
    ),
    text_case("sigma", "the last letter of a word is made small like every other", match("οδοσ"),
              scores({**_GREEK, 7: ["x"]}, ["οδοσ"], [0], 10), _OF_GREEK,
              ("L.index.fts.analyzer.order",)),
    replace(search("of-no-rows", "an index of no rows, beside some that came later",
                   "contains_tokens(c, 'fox')", [0], _EMPTY, ("L.index.fts.words",), used=False),
            make=made(_no_rows, pa.table({"id": pa.array([0], pa.int64())}))),
    replace(case("range-ends", "rows as far away as a range begins, and as it ends", _RANGED,
                 (*CLAUSES, "L.index.vector.search.range"), nprobes=2, range=["28", "32"]),
            make=vectors_made(_RANGED, _BETWEEN, None, by="oracle"), args=_BETWEEN),
    replace(case("walked", "the nearest row of many, to which a graph leads", _WALKED,
                 nprobes=2), make=vectors_made(_WALKED, _NEAREST, None, by="oracle"),
            args=_NEAREST),
    case("three", "a graph of three rows, and another after it", _THREE,
         (*CLAUSES, "L.index.vector.graph.levels"), nprobes=2, ef=ALL),
    replace(case("just-enough", "as many rows in the nearest partitions as are wanted", _APART,
                 (*CLAUSES, "L.index.vector.search.first")),
            make=vectors_made(_APART, _ENOUGH, None, by="oracle"), args=_ENOUGH),
)  # fmt: skip
"""Every positive case of an index that only just tells."""


def _covering(entry: IndexMetadata) -> None:
    entry.fragment_bitmap = pyroaring.BitMap([1]).serialize()


NEGATIVES: tuple[Negative, ...] = (
    lint(GRAPH, "elsewhere", "a neighbour that is a node, but not on its level",
         "L.index.vector.graph.degree",
         SpanPatch(("field __neighbors", "items", "values"), lambda old: old[:-4] + bytes(4),
                   target="_indices/*/index.idx")),
    lint("minhash/plain", "exchanged", "the signatures of two rows, exchanged",
         "L.index.segment.complete",
         SpanPatch(("field _rowid", "values"), lambda old: old[8:16] + old[:8] + old[16:],
                   target="_indices/*/signatures.lance")),
    lint("inverted/plain-blocks", "width-last", "frequencies of 32 bits, with bytes for two",
          "L.index.fts.posting.width",
          values("part_0_invert.lance", "_posting", b"\x20", 378, "bytes")),
    lint("bitmap/4-0-1-unordered", "complete",
         "a value that no row has, among keys that do not rise",
         "L.index.segment.complete",
         SpanPatch(("field keys", "values"),
                   lambda old: old.replace(words(9, width=4), words(10, width=4)),
                   target="_indices/*/bitmap_page_lookup.lance")),
    lint("inverted/of-no-rows", "covered", "an index of no rows that is to cover some",
         "L.index.segment.complete", index(_covering, "_versions/18446744073709551612.manifest")),
)  # fmt: skip
"""Every fault of them."""
