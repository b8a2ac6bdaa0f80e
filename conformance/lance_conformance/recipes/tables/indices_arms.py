"""Cases of indices whose entries say what those of other cases leave out.

Some of it the oracle writes when it is asked to; the rest is put into entries and files by hand,
where it is legal and readers go by other words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from lanceref.proto import index_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.proto.table_pb2 import IndexMetadata, IndexSection

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import INDEXED, Indexed, made
from lance_conformance.recipes.messages import index, indices, single_file
from lance_conformance.recipes.model import MessageEdit, Positive
from lance_conformance.recipes.scores import scores
from lance_conformance.recipes.tables import indices_json, indices_vectors_plain
from lance_conformance.recipes.tables.faults_indices import held, lint, metadata, values
from lance_conformance.recipes.tables.indices import BITMAP, BTREE, search
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_segments import (
    LAST,
    MOVED,
    and_then,
    beside,
    compacted,
    moved_rows,
)
from lance_conformance.recipes.tables.indices_text import match, text_case
from lance_conformance.recipes.tables.indices_vectors import TYPES, case

_PREFIXED = pa.array(
    ["the fox", "quick fox", None, "lazy dog", "the dog", "quit", "", "fox", "bear", "dog",
     "quiz", "dog"]
)  # fmt: skip
_PREFIXES = {
    row: [text[:3]] for row, text in enumerate(_PREFIXED.to_pylist()) if text and len(text) >= 3
}
_PREFIX = {"base_tokenizer": "ngram", "prefix_only": True, "min_ngram_length": 3,
           "max_ngram_length": 3, "stem": False, "remove_stop_words": False}  # fmt: skip

_CODE = pa.array(["getUserName", "user_name", "x == get2Names", *[None] * 9], pa.utf8())
_PARTS = {
    0: ["getusername", "get", "user", "name"],
    1: ["user_name", "user", "name"],
    2: ["x", "==", "get2names", "get", "2", "names"],
}
_FLAGS = dict.fromkeys(
    ("split_identifiers", "split_on_numerics", "preserve_original", "index_operators"), True
)

_TEXTS = (
    text_case("prefix", "only how texts begin", match("qui"),
              scores(_PREFIXES, ["qui"], [1, 5, 10], INDEXED),
              Indexed(_PREFIXED, "INVERTED", _PREFIX), ("L.index.fts.tokenizer.ngram",)),
    text_case("code", "names of a program and their parts", match("get"),
              scores(_PARTS, ["get"], [0, 2], INDEXED),
              Indexed(_CODE, "INVERTED", {"base_tokenizer": "code", "stem": False,
                                          "remove_stop_words": False, **_FLAGS}),
              ("L.index.fts.tokenizer.code",)),
)  # fmt: skip


def _details(kind: type[Message], edit: Callable[..., None], target: str = LAST) -> MessageEdit:
    """Change the details of the first index of a manifest."""

    def apply(entry: IndexMetadata) -> None:
        message = kind.FromString(entry.index_details.value)
        edit(message)
        entry.index_details.value = message.SerializeToString(deterministic=True)

    return index(apply, target)


def _matrix(message: index_pb2.VectorIndexDetails) -> None:
    message.rq.rotation_type = index_pb2.VectorIndexDetails.RabitQuantization.MATRIX
    message.target_num_partitions = 2


def _of_type(message: index_pb2.JsonIndexDetails) -> None:
    message.target_data_type = 3


def _said(slug: str, title: str, parent: Positive, change: MessageEdit) -> Positive:
    """Return a case like another, whose entry says more."""
    folder, _, _ = parent.id.rpartition("/")
    made = reworked(parent.make, change)
    return replace(parent, id=f"{folder}/{slug}", title=title, make=made, reachable=False)


_SIZED = replace(TYPES["pq"], seed=6, parameters={**TYPES["pq"].parameters,
                                                  "target_partition_size": 40})  # fmt: skip

_THIRD = "_versions/18446744073709551612.manifest"
"""The third version, which a table with an index of vectors has in the end."""


def _old_numbers(message: index_pb2.Index) -> None:
    """State centroids and codewords as early releases did, without a tensor around them."""
    ivf, pq = (getattr(stage, stage.WhichOneof("stage")) for stage in message.vector_index.stages)
    ivf.centroids.extend(_floats(ivf.centroids_tensor))
    ivf.ClearField("centroids_tensor")
    pq.codebook.extend(_floats(pq.codebook_tensor))
    pq.ClearField("codebook_tensor")


def _floats(tensor: index_pb2.Tensor) -> list[float]:
    return [float(one) for one in np.frombuffer(tensor.data, "<f4")]


_EARLY = next(
    one for one in indices_vectors_plain.POSITIVES if one.id.endswith("ivf-pq/early-plain")
)

_VECTORS = (
    case("sized", "partitions of a size", _SIZED, nprobes=2),
    _said("matrix", "an entry that tells of a matrix; the files say how vectors are turned",
          case("base", "", replace(TYPES["rq"], seed=6), nprobes=2),
          _details(index_pb2.VectorIndexDetails, _matrix, _THIRD)),
    _said("early-numbers", "centroids and codewords as bare numbers", _EARLY,
          single_file(_old_numbers, "_indices/*/index.idx")),
)  # fmt: skip


def _transition() -> MessageEdit:
    """Say what moved in the words of index version 1."""

    def apply(section: IndexSection) -> None:
        own = moved_rows(section)
        details = FragmentReuseIndexDetails.FromString(own.index_details.value)
        first = details.inline.versions[0].groups[0]
        transition = details.inline.transitions.add()
        transition.sources.extend(first.old_fragments)
        transition.destinations.extend(first.new_fragments)
        transition.ordered_compaction.changed_row_addrs = first.changed_row_addrs
        del details.inline.versions[:]
        own.index_details.value = details.SerializeToString(deterministic=True)
        own.index_version = 1

    return indices(apply, MOVED)


_OLDER = FragmentReuseIndexDetails.InlineContent(
    versions=[FragmentReuseIndexDetails.Version(dataset_version=1)]
).SerializeToString()
"""What the file said once, and its entry passes over."""

_COMPACTED = search("moved", "", "c = 3", [10, 0, 4], and_then(BTREE, compacted),
                    ("L.index.details.version",))  # fmt: skip

_BESIDE = search("moved-beside-offset", "addresses that moved, told after other bytes of a file",
                 "c = 3", [10, 0, 4], and_then(BTREE, compacted),
                 ("L.index.reuse.external",))  # fmt: skip

_MOVED = (
    _said("ordered", "rows that moved in order, told in words of a later version", _COMPACTED,
          _transition()),
    replace(_BESIDE, make=beside(_BESIDE.make, before=_OLDER), reachable=False),
)  # fmt: skip

_LIKE = Indexed(pa.array([f"the quick brown fox of number {n % 4}" for n in range(12)]),
                "MINHASHLSH")  # fmt: skip
_LEFT = _LIKE.table.take([*range(7), *range(8, 12)])

MINHASH = Positive(
    id="index/any/minhash/plain",
    title="texts that are alike: the rows are what they are",
    clauses=tuple(
        f"L.index.minhash.{one}"
        for one in ("details", "version", "docs", "bands", "pages", "band-key")
    ),
    make=reworked(made(replace(_LIKE, version="2.0"), _LEFT), index(without_sizes, LAST)),
    version="2.0",
    kind="read-dataset",
    reachable=False,
)

_BY_ID = search("keys", "row ids, in files of 2.0", "c = 5", [3],
                replace(BITMAP, version="2.0", stable_row_ids=True))  # fmt: skip

_JSON = next(one for one in indices_json.POSITIVES if one.id.endswith("json/plain"))

POSITIVES = (
    *_TEXTS,
    *_VECTORS,
    *_MOVED,
    MINHASH,
    _BY_ID,
    _said("typed", "an entry that tells the type of the values", _JSON,
          _details(index_pb2.JsonIndexDetails, _of_type)),
)  # fmt: skip

_BANDS = "bands.lance"

NEGATIVES = (
    lint("minhash/plain", "details", "details that are none", "L.index.minhash.details",
         metadata(_BANDS, "minhash_lsh_details", "00")),
    lint("minhash/plain", "version", "files of a version to come", "L.index.minhash.version",
         metadata(_BANDS, "minhash_lsh_index_version", "1")),
    lint("minhash/plain", "docs", "fewer documents than there are", "L.index.minhash.docs",
         metadata(_BANDS, "minhash_lsh_num_docs", "3")),
    lint("minhash/plain", "bands", "bands that do not rise", "L.index.minhash.bands",
         values(_BANDS, "band_key", b"\xff" * 8)),
    lint("minhash/plain", "pages", "another last band of a page", "L.index.minhash.pages",
         held(_BANDS, b"\0", 0)),
    lint("minhash/plain", "band-key", "a band that is not that of a signature",
         "L.index.minhash.band-key", values(_BANDS, "band_key", b"\0")),
)  # fmt: skip
"""What only `validate` looks at: a table with such an index reads well."""
