"""MinHash search: the rows of a table whose text has much in common with another.

Rows that segments of an index cover are found by their bands; the others are read and signed the
same way. Rows without an equal band are not found.

Clauses: L.index.minhash.search
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.errors import QueryRefused
from lanceref.core.integers import is_in
from lanceref.file.schema_view import joined_path, names_in
from lanceref.index.bloom import Hashes
from lanceref.index.indices import Index, indexed_column
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from lanceref.index.minhash.signature import Signatures, band_keys
from lanceref.index.segment import Segment
from lanceref.index.training import Training
from lanceref.index.vector.searching import NO_NEIGHBOURS, Neighbours, concat
from lanceref.search.row_locator import locator
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import FragmentRows


@dataclass
class MinHashQuery:
    """A search for rows like `text` in a column that has a MINHASHLSH index.

    Given as `nearest`; rows have `_distance`, 1 less the share of their signatures that is equal,
    in ascending order. There are as many as the scan's limit says, 10 without one.
    """

    text: str
    column: str


DEFAULT_LIMIT = 10
"""Rows of a result when a scan has no limit."""


class MinHashSearch:
    """One query over some fragments of a version; `fast` leaves out what no index covers.

    Raises QueryRefused for a column without an index.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        query: MinHashQuery,
        count: int,
        *,
        fast: bool = False,
    ) -> None:
        self._snapshot, self._fragments, self.query = snapshot, fragments, query
        self.count = count
        self.index = _index_of(snapshot, query.column)
        covered = bitmaps.BitMap().union(*(one.covers for one in self.index.segments))
        others = [rows for rows in fragments if rows.fragment.id not in covered]
        self.unindexed = [] if fast else others

    def nearest(self, condition: Condition | None) -> list[Neighbours]:
        """Return the rows, the nearest first. Raises FormatError."""
        parts = []
        for segment in self.index.segments:
            own = [rows for rows in self._fragments if rows.fragment.id in segment.covers]
            parts.append(self._indexed(self._open(segment), own, condition))
        if self.unindexed:
            parts.append(self._read(condition))
        return [concat(parts).best(self.count)]

    def _open(self, segment: Segment) -> MinHashLsh:
        opened = self.index.open(segment)
        assert isinstance(opened, MinHashLsh)
        return opened

    def _signed_query(self, index: MinHashLsh) -> tuple[Signatures, Hashes]:
        """Return the signature of the query and its bands, by the parameters of a segment."""
        _, signature = index.signer.sign([self.query.text])
        return signature, band_keys(signature, index.parameters.num_bands).reshape(-1)

    def _indexed(
        self, index: MinHashLsh, fragments: Sequence[FragmentRows], condition: Condition | None
    ) -> Neighbours:
        """Return the rows of fragments that a segment covers."""
        signature, bands = self._signed_query(index)
        if not len(signature):
            return NO_NEIGHBOURS
        keys, signatures = index.signatures(index.documents_with(bands))
        locate = locator(index, fragments)
        positions, first = np.unique(locate(keys), return_index=True)
        distances = _distances(signature, signatures[first])
        parts = []
        for rows in fragments:
            start, end = rows.rows_before, rows.rows_before + rows.num_rows
            own = slice(*np.searchsorted(positions, [start, end]))
            parts.append(_neighbours(rows, positions[own] - start, distances[own], condition))
        return concat(parts)

    def _read(self, condition: Condition | None) -> Neighbours:
        """Return the rows that no segment covers, signed with the parameters of the first one."""
        index = self._open(self.index.segments[0])
        signature, bands = self._signed_query(index)
        if not len(signature):
            return NO_NEIGHBOURS
        indexed = indexed_column(self._snapshot.manifest.schema, self.query.column)
        stable, parts = self._snapshot.stable_row_ids, []
        for rows in self.unindexed:
            runs = Training(indexed, [rows], stable, not stable).runs()
            texts = [text for run in runs for text in run.values.to_pylist()]
            numbers, signatures = index.signer.sign(texts)
            alike = band_keys(signatures, index.parameters.num_bands) == bands
            own = alike.any(axis=1)  # L.index.minhash.search
            distances = _distances(signature, signatures[own])
            parts.append(_neighbours(rows, numbers[own], distances, condition))
        return concat(parts)


def _index_of(snapshot: Snapshot, path: str) -> Index:
    """Return the index of a column that covers a fragment. Raises QueryRefused."""
    live = bitmaps.BitMap([rows.fragment.id for rows in snapshot.fragments])
    for index in snapshot.indices.by_path.get(joined_path(names_in(path)), ()):
        if index.kind is MinHashLsh and any(segment.covers & live for segment in index.segments):
            return index
    raise QueryRefused(
        f'No MinHash LSH index found for column {path}; create a "minhashlsh" scalar index on '
        "the column before running a MinHash search"
    )


def _distances(signature: Signatures, others: Signatures) -> NDArray[np.float32]:
    equal = (others == signature).sum(axis=1, dtype=np.float32)
    return np.asarray(np.float32(1) - equal / np.float32(signature.shape[1]))


def _neighbours(
    rows: FragmentRows,
    positions: NDArray[np.int64],
    distances: NDArray[np.float32],
    condition: Condition | None,
) -> Neighbours:
    """Return live rows of a fragment, by their ids, that pass a condition."""
    if condition is not None:
        passing = is_in(positions, condition.positions(rows))
        positions, distances = positions[passing], distances[passing]
    (ids,) = rows.take(positions, (), (ROW_ID,))
    return Neighbours(np.asarray(ids, np.uint64), distances)
