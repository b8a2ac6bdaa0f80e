"""Posting rows: what the file of postings says of each token, made for many tokens at once.

Clauses: L.index.fts.postings
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.bm25 import Scores, bounds, norms, weights
from lanceref.index.full_text.byte_runs import ByteRuns, Counts, cut, offsets_of
from lanceref.index.full_text.impacts import impact_runs
from lanceref.index.full_text.occurrences import Occurrences
from lanceref.index.full_text.parameters import Settings
from lanceref.index.full_text.partition import OFFSETS
from lanceref.index.full_text.positions import encode_position_blobs, position_runs
from lanceref.index.full_text.posting_blocks import Postings, posting_runs


class PostingRows:
    """Makes rows of tokens over documents of some lengths."""

    def __init__(self, settings: Settings, lengths: Numbers) -> None:
        self._settings = settings
        self._lengths = lengths
        mean = np.float32(lengths.sum(dtype=np.uint64)) / np.float32(max(1, len(lengths)))
        self._norms: Scores = norms(lengths, mean)

    def batch(self, held: Occurrences, counts: Counts, schema: pa.Schema) -> pa.RecordBatch:
        """Return the rows of tokens, which have so many occurrences each."""
        layout, documents = self._settings.layout, held.documents
        postings = Postings(documents, held.frequencies)
        starts, sizes, blocks = cut(counts, layout.size)
        own = np.repeat(weights(len(self._lengths), counts), blocks)
        scores = bounds(held.frequencies, self._norms[documents], starts, own)
        impacts, entries = impact_runs(postings, counts, self._lengths[documents], layout)
        columns = {
            "_posting": _lists(posting_runs(postings, counts, layout, scores), blocks),
            "_max_score": pa.array(np.maximum.reduceat(scores, offsets_of(blocks)[:-1])),
            "_length": pa.array(counts.astype(np.uint32)),
            "_impacts": _lists(impacts, entries),
        }
        if self._settings.analysis.with_position and self._settings.format_version == 1:
            columns["_position"] = _position_lists(held, counts)
        elif self._settings.analysis.with_position:
            columns |= _position_columns(held, sizes, blocks)
        return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def _binaries(runs: ByteRuns) -> pa.Array:
    buffers = [None, pa.py_buffer(runs.ends), pa.py_buffer(np.ascontiguousarray(runs.data))]
    return pa.Array.from_buffers(pa.large_binary(), len(runs.sizes), buffers)


def _lists(runs: ByteRuns, counts: Counts) -> pa.Array:
    """Return lists with so many runs each."""
    ends = pa.array(offsets_of(counts).astype(np.int32))
    return pa.ListArray.from_arrays(ends, _binaries(runs))


def _position_columns(held: Occurrences, sizes: Counts, blocks: Counts) -> Mapping[str, pa.Array]:
    """Return the positions of each token, and where those of its blocks begin."""
    runs = position_runs(held.positions, held.frequencies, sizes)
    ends, first = runs.ends[:-1], offsets_of(blocks)
    begins = ends - np.repeat(ends[first[:-1]], blocks)
    offsets = pa.ListArray.from_arrays(
        pa.array(first.astype(np.int32)), pa.array(begins.astype(np.uint32)), type=OFFSETS
    )
    return {
        "_compressed_position": _binaries(runs.merged(blocks)),
        "_position_block_offset": offsets,
    }


def _position_lists(held: Occurrences, counts: Counts) -> pa.Array:
    """Return of each token the parts of the positions of each of its documents, in format 1."""
    places: Sequence[Numbers] = np.split(
        held.positions, np.cumsum(held.frequencies, dtype=np.int64)[:-1]
    )
    blobs = [encode_position_blobs(one) for one in places]
    inner = pa.array(blobs, pa.list_(pa.large_binary()))
    return pa.ListArray.from_arrays(pa.array(offsets_of(counts).astype(np.int32)), inner)
