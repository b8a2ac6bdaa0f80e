"""Partitions, written: documents are added one by one and get numbers in this order.

Tokens get numbers in the order in which they first appear.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.fulltext.bit_packer import Numbers
from lanceref.index.fulltext.bm25 import Scores, bound, norms, weight
from lanceref.index.fulltext.documents import Tokens
from lanceref.index.fulltext.fst_build import build_fst
from lanceref.index.fulltext.impacts import encode_impacts
from lanceref.index.fulltext.parameters import Settings
from lanceref.index.fulltext.partition import BLOCKS, OFFSETS, Partition
from lanceref.index.fulltext.positions import encode_position_blobs, encode_positions
from lanceref.index.fulltext.posting_blocks import Postings, encode_postings
from lanceref.index.row_set import Keys
from lanceref.index.segment_writer import SegmentWriter

BATCH_TOKENS = 1 << 13
"""Rows of postings that are written together."""

TOKENS = pa.schema(
    [
        pa.field("_token_fst_bytes", pa.large_binary(), nullable=False),
        pa.field("_token_next_id", pa.uint32(), nullable=False),
        pa.field("_token_total_length", pa.uint64(), nullable=False),
    ]
)


@dataclass
class _Held:
    """Documents of a token, how often each holds it, and where."""

    documents: list[int] = field(default_factory=list)
    frequencies: list[int] = field(default_factory=list)
    positions: list[Sequence[int]] = field(default_factory=list)

    @property
    def postings(self) -> Postings:
        """The documents as arrays."""
        return Postings(np.array(self.documents, np.uint32), np.array(self.frequencies, np.uint32))


class PartitionWriter:
    """Collects documents."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tokens: defaultdict[str, _Held] = defaultdict(_Held)
        self._keys: list[int] = []
        self._lengths: list[int] = []
        self._elements: list[int] = []

    @property
    def num_documents(self) -> int:
        """Documents so far."""
        return len(self._keys)

    def add(self, key: int, element: int, tokens: Tokens) -> None:
        """Add a document: key of its row, place in its list, tokens and their positions."""
        document = len(self._keys)
        self._keys.append(key)
        self._elements.append(element)
        self._lengths.append(len(tokens))
        if not self._settings.analysis.with_position:
            for token, frequency in Counter([token for token, _ in tokens]).items():
                held = self._tokens[token]
                held.documents.append(document)
                held.frequencies.append(frequency)
            return
        places: dict[str, list[int]] = {}
        for token, position in tokens:
            places.setdefault(token, []).append(position)
        for token, own in places.items():
            held = self._tokens[token]
            held.documents.append(document)
            held.frequencies.append(len(own))
            held.positions.append(own)

    def add_partition(self, partition: Partition, kept: NDArray[np.int64], keys: Keys) -> None:
        """Add documents of another partition, by their numbers, with the keys of their rows."""
        numbers = np.full(len(partition.keys), -1, np.int64)
        numbers[kept] = np.arange(len(self._keys), len(self._keys) + len(kept))
        self._keys += keys.tolist()
        self._lengths += partition.lengths[kept].tolist()
        elements = partition.elements
        self._elements += [0] * len(kept) if elements is None else elements[kept].tolist()
        for token, number in sorted(partition.items(), key=lambda item: item[1]):
            postings = partition.postings(number)
            new = numbers[postings.documents]
            own = np.flatnonzero(new >= 0)
            if not len(own):
                continue
            held = self._tokens[token]
            held.documents += new[own].tolist()
            held.frequencies += postings.frequencies[own].tolist()
            if self._settings.analysis.with_position:
                positions = partition.positions(number) or []
                held.positions += [positions[at].tolist() for at in own.tolist()]

    def write(self, writer: SegmentWriter, number: int, folder: str = "") -> None:
        """Write the files of the partition, `folder` below those of the segment."""
        prefix = f"{folder}part_{number}_"
        self._write_tokens(writer, f"{prefix}tokens.lance")
        self._write_documents(writer, f"{prefix}docs.lance")
        schema = postings_schema(self._settings)
        path = f"{prefix}invert.lance"
        writer.write_file(path, schema, self._batches(schema), self._settings.metadata)

    def _write_tokens(self, writer: SegmentWriter, path: str) -> None:
        numbered = sorted((token.encode(), number) for number, token in enumerate(self._tokens))
        columns = [
            pa.array([build_fst(numbered)], pa.large_binary()),
            pa.array([len(numbered)], pa.uint32()),
            pa.array([sum(len(token) for token, _ in numbered)], pa.uint64()),
        ]
        writer.write_file(path, TOKENS, [pa.record_batch(columns, schema=TOKENS)])

    def _write_documents(self, writer: SegmentWriter, path: str) -> None:
        columns = {
            "_rowid": pa.array(self._keys, pa.uint64()),
            "_num_tokens": pa.array(self._lengths, pa.uint32()),
        }
        if self._settings.list_elements:
            columns["_doc_index_0"] = pa.array(self._elements, pa.uint32())
        schema = pa.schema(
            [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
        )
        batch = pa.record_batch(list(columns.values()), schema=schema)
        writer.write_file(path, schema, [batch], {"total_tokens": f"{sum(self._lengths)}"})

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        lengths = np.array(self._lengths, np.uint32)
        mean = np.float32(lengths.sum(dtype=np.uint64)) / np.float32(max(1, len(lengths)))
        norm = norms(lengths, mean)
        held = list(self._tokens.values())
        for start in range(0, len(held), BATCH_TOKENS):
            rows = [self._row(one, lengths, norm) for one in held[start : start + BATCH_TOKENS]]
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    def _row(self, held: _Held, lengths: Numbers, norm: Scores) -> dict[str, object]:
        """Return the row of a token."""
        layout, postings = self._settings.layout, held.postings
        own = weight(len(lengths), len(held.documents))
        scores = [
            bound(
                postings.frequencies[at : at + layout.size],
                norm[postings.documents[at : at + layout.size]],
                own,
            )
            for at in range(0, len(held.documents), layout.size)
        ]
        row: dict[str, object] = {
            "_posting": encode_postings(postings, layout, scores),
            "_max_score": max(scores),
            "_length": len(held.documents),
            "_impacts": encode_impacts(postings, lengths[postings.documents], layout),
        }
        if self._settings.analysis.with_position:
            row |= self._positions(held)
        return row

    def _positions(self, held: _Held) -> dict[str, object]:
        places = [np.array(one, np.uint32) for one in held.positions]
        if self._settings.format_version == 1:
            return {"_position": [encode_position_blobs(one) for one in places]}
        size = self._settings.layout.size
        blocks = [encode_positions(places[at : at + size]) for at in range(0, len(places), size)]
        ends = np.cumsum([0, *map(len, blocks)])
        return {
            "_compressed_position": b"".join(blocks),
            "_position_block_offset": ends[:-1].tolist(),
        }


def postings_schema(settings: Settings) -> pa.Schema:
    """Return the columns of postings."""
    types = {
        "_posting": BLOCKS,
        "_max_score": pa.float32(),
        "_length": pa.uint32(),
        "_impacts": BLOCKS,
    }
    if settings.analysis.with_position and settings.format_version == 1:
        types["_position"] = pa.list_(BLOCKS)
    elif settings.analysis.with_position:
        types |= {"_compressed_position": pa.large_binary(), "_position_block_offset": OFFSETS}
    return pa.schema([pa.field(name, type_, nullable=False) for name, type_ in types.items()])
