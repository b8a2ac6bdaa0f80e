"""Negative cases of what the files of indices say in their metadata: parameters and numbers."""

from __future__ import annotations

import json
from collections.abc import Callable

from lanceref.proto.index_pb2 import Index, Tensor

from lance_conformance.recipes.messages import single_file
from lance_conformance.recipes.model import MessageEdit, Negative
from lance_conformance.recipes.tables.faults_indices import fault, metadata
from lance_conformance.recipes.tables.faults_vectors import HEAD, centroids, graph, text
from lance_conformance.recipes.tables.faults_vectors_codes import EARLY, PQ, RQ, SQ, stored

_TEXTS = "inverted/plain"
_FM, _RTREE = "fm/plain", "rtree/plain"
_PART, _BOXES = "part_0_fm.lance", "page_data.lance"


def _params(**changed: object) -> MessageEdit:
    """Change parameters of a full-text index."""
    return text("metadata.lance", "params", lambda old: json.dumps({**json.loads(old), **changed}))


def _parameter(slug: str, title: str, **changed: object) -> Negative:
    return fault(_TEXTS, f"params-{slug}", title, "L.index.fts.params", _params(**changed))


_PARAMETERS = (
    _parameter("tokenizer", "a tokenizer that none knows", base_tokenizer="complex"),
    _parameter("language", "a language that none knows", language="Klingon"),
    _parameter("stem", "a word where true or false belongs", stem="yes"),
    _parameter("length", "a token of true letters at most", max_token_length=True),
    _parameter("negative", "a token of -1 letters at most", max_token_length=-1),
    _parameter("words", "stop words that are numbers", custom_stop_words=[1]),
    _parameter("word", "one stop word in place of a list", custom_stop_words="the"),
    _parameter("ngram-none", "n-grams of no letters", base_tokenizer="ngram", min_ngram_length=0),
    _parameter("ngram-falls", "n-grams of five to three letters", base_tokenizer="ngram",
               min_ngram_length=5),
    fault(_TEXTS, "params-list", "parameters that are a list", "L.index.fts.params",
          text("metadata.lance", "params", lambda _: "[]")),
    fault(_TEXTS, "partition-text", "partitions that are words", "L.index.fts.partitions",
          text("metadata.lance", "partitions", lambda _: '["0"]')),
    fault(_TEXTS, "partition-negative", "a partition of number -1", "L.index.segment.files",
          text("metadata.lance", "partitions", lambda _: "[-1]")),
    fault(_TEXTS, "token-set-word", "a set of tokens of no known kind",
          "L.index.fts.token-set-format",
          text("metadata.lance", "token_set_format", lambda _: "bst")),
    fault(_TEXTS, "format-zero", "format 0", "L.index.fts.format-version",
          text("metadata.lance", "format_version", lambda _: "0")),
    fault(_TEXTS, "total-word", "a number of tokens that is a word", "L.index.files.metadata",
          text("part_0_docs.lance", "total_tokens", lambda _: "many")),
    fault(_TEXTS, "total-more", "one token more than documents have", "L.index.fts.total-tokens",
          text("part_0_docs.lance", "total_tokens", lambda _: "22")),
)  # fmt: skip


def _words(change: Callable[[list[int]], None]) -> Callable[[str], str]:
    """Change numbers of 8 bytes that stand as hex digits."""

    def changed(old: str) -> str:
        data = bytes.fromhex(old)
        numbers = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
        change(numbers)
        return b"".join(number.to_bytes(8, "little") for number in numbers).hex()

    return changed


def _digits(at: int, new: str) -> Callable[[str], str]:
    """Write over hex digits from `at` on."""
    return lambda old: old[:at] + new + old[at + len(new) :]


def _fm(slug: str, title: str, clause: str, key: str, change: Callable[[str], str]) -> Negative:
    return fault(_FM, slug, title, clause, text(_PART, key, change))


def _swapped(numbers: list[int]) -> None:
    numbers[1], numbers[2] = numbers[2], numbers[1]


def _late(numbers: list[int]) -> None:
    numbers[0] = 1


def _last_beyond(numbers: list[int]) -> None:
    numbers[-1] = 49


def _starts_at_one(numbers: list[int]) -> None:
    numbers[0] = 1


def _more(numbers: list[int]) -> None:
    numbers[-1] += 1


def _one_end_less(numbers: list[int]) -> None:
    """Count one byte FF less, and one byte FE more."""
    numbers[255] += 1


_NUMBERS = (
    _fm("texts-order", "texts whose starts fall", "L.index.fm.texts", "doc_start_positions",
        _words(_swapped)),
    _fm("texts-first", "a first text at byte 1", "L.index.fm.texts", "doc_start_positions",
        _words(_late)),
    _fm("texts-last", "a last text after the last byte", "L.index.fm.texts",
        "doc_start_positions", _words(_last_beyond)),
    _fm("counts-first", "a byte before byte 00", "L.index.fm.counts", "c_table",
        _words(_starts_at_one)),
    _fm("counts-last", "one byte more than there are", "L.index.fm.counts", "c_table",
        _words(_more)),
    _fm("counts-ends", "an end of text less than texts", "L.index.fm.topology", "c_table",
        _words(_one_end_less)),
    _fm("topology-nodes", "one node less than the tree has", "L.index.fm.topology",
        "tree_topology", _digits(0, "0c")),
    _fm("topology-kind", "a side of kind 2", "L.index.fm.topology", "tree_topology",
        _digits(8, "02")),
    _fm("topology-loop", "a node below itself", "L.index.fm.topology", "tree_topology",
        _digits(10, "00")),
    _fm("topology-byte", "a leaf of another byte", "L.index.fm.topology", "tree_topology",
        lambda old: old.replace("0162000000", "0163000000")),
    _fm("hex", "digits that are none", "L.index.files.metadata", "c_table", _digits(0, "zz")),
    _fm("numbers-nodes", "one node less", "L.index.fm.numbers", "num_bwt_nodes", lambda _: "12"),
    _fm("numbers-samples", "one sample more", "L.index.fm.numbers", "sa_samples_len",
        lambda _: "3"),
    _fm("numbers-rate", "a sample of every zeroth byte", "L.index.fm.samples", "sa_sample_rate",
        lambda _: "00"),
    fault(_RTREE, "page-rows", "pages of one box", "L.index.rtree.levels",
          metadata(_BOXES, "page_size", "1")),
    fault(_RTREE, "no-items", "no items", "L.index.rtree.levels",
          metadata(_BOXES, "num_items", "0")),
    fault(_RTREE, "num-pages", "five pages where four are", "L.index.rtree.levels",
          metadata(_BOXES, "num_pages", "5")),
)  # fmt: skip


def _flat_tensor(message: Tensor) -> None:
    message.shape[:] = [16]


def _no_rows(message: Tensor) -> None:
    message.shape[0] = 0
    message.data = b""


def _offset_less(message: Index) -> None:
    del message.vector_index.stages[0].ivf.offsets[-1]


def _no_dimension(message: Index) -> None:
    message.vector_index.stages[1].pq.num_sub_vectors = 0


_VECTORS = (
    fault("ivf-flat/plain", "head-list", "a head that is a list", "L.index.vector.metadata",
          text(HEAD, "lance:index", lambda _: "[]")),
    fault("ivf-flat/plain", "head-number", "a type that is a number", "L.index.vector.head.type",
          text(HEAD, "lance:index", lambda _: '{"type":1,"distance_type":"l2"}')),
    fault("ivf-flat/plain", "centroids-shape", "centroids in one row",
          "L.index.vector.tensor.shape", centroids(_flat_tensor)),
    fault("ivf-flat/plain", "centroids-none", "no centroid", "L.index.vector.ivf.centroids",
          centroids(_no_rows)),
    fault("ivf-flat/plain", "position-word", "partitions in buffer x", "L.index.files.metadata",
          text(HEAD, "lance:ivf", lambda _: "x")),
    fault("ivf-flat/plain", "position-far", "partitions in buffer 7", "L.index.files.buffer",
          text(HEAD, "lance:ivf", lambda _: "7")),
    fault(PQ, "bits-true", "codes of true bits", "L.index.vector.pq.metadata", stored(nbits=True)),
    fault(PQ, "bits-negative", "codes of -4 bits", "L.index.vector.pq.metadata",
          stored(nbits=-4)),
    fault(PQ, "sub-vectors-none", "no sub-vectors", "L.index.vector.pq.sub-vectors",
          stored(num_sub_vectors=0)),
    fault(SQ, "bounds-text", "a bound that is a word", "L.index.vector.sq.bounds",
          stored(bounds={"start": "low", "end": 1.0})),
    fault(RQ, "signs-text", "signs that are words", "L.index.vector.rq.rotation",
          stored(fast_rotation_signs=["a", "b", "c", "d"])),
    fault(RQ, "signs-large", "a sign of 256", "L.index.vector.rq.rotation",
          stored(fast_rotation_signs=[256, 0, 0, 0])),
    fault(RQ, "packed-text", "signs that lie somehow", "L.index.vector.rq.metadata",
          stored(packed="yes")),
    fault("ivf-hnsw-flat/plain", "entry-negative", "a graph entered at -1",
          "L.index.vector.graph.text", graph(entry_point=-1)),
    fault("ivf-hnsw-flat/plain", "entry-text", "a graph entered at a word",
          "L.index.vector.graph.text", graph(entry_point="first")),
    fault("ivf-hnsw-flat/plain", "levels-text", "levels that are a word",
          "L.index.vector.graph.text", graph(level_offsets="all")),
    fault(EARLY, "offsets-less", "a partition without a place",
          "L.index.vector.single.partitions", single_file(_offset_less, f"_indices/*/{HEAD}")),
    fault(EARLY, "no-sub-vectors", "no sub-vectors", "L.index.vector.pq.sub-vectors",
          single_file(_no_dimension, f"_indices/*/{HEAD}")),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_PARAMETERS, *_NUMBERS, *_VECTORS)
"""Every negative case of what files of indices say."""
