"""MinHash search: the rows of a table that have much of a text in common.

Rows that segments of an index cover are found by their bands; the others are read and signed the
same way. Rows without an equal band are not found.

Clauses: L.index.minhash.search

MinHash query: the rows whose text has much in common with another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lanceref.core.errors import QueryRefused
from lanceref.core.integers import intersection
from lanceref.file.schema import project
from lanceref.index.indices import Index, Opened
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from lanceref.index.minhash.signature import Hashes, Signatures, Signer, band_keys
from lanceref.index.row_set import SHIFT, Keys, row_set
from lanceref.index.training import Training
from lanceref.index.vector.searching import NOBODY, Neighbours, joined
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import FragmentRows


@dataclass
class MinHashQuery:
    """A search for rows like `text` in a column that has a MINHASHLSH index.

    Given as `nearest`; rows have `_distance`, 1 less the share of their signatures that is equal,
    and come by it. There are as many as the scan's limit says, 10 without one.
    """

    text: str
    column: str


KIND = "MINHASHLSH"
DEFAULT_LIMIT = 10
"""Rows that are found when a scan says no limit."""


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
        self._snapshot, self._fragments, self._query = snapshot, fragments, query
        self._count, self._fast = count, fast
        self._index = _index_of(snapshot, query.column)

    def nearest(self, condition: Condition | None) -> list[Neighbours]:
        """Return the rows, the nearest first. Raises FormatError."""
        parts = []
        covered = BitMap()
        for segment in self._index.segments:
            opened = self._index.open(segment)
            own = [rows for rows in self._fragments if rows.fragment.id in segment.covers]
            covered |= segment.covers
            parts.append(self._indexed(opened, own, condition))
        others = [rows for rows in self._fragments if rows.fragment.id not in covered]
        if others and not self._fast:
            parts.append(self._read(others, condition))
        return [joined(parts).best(self._count)]

    @property
    def explained(self) -> list[str]:
        """The steps of a plan."""
        text = f"column={self._query.column}, limit={self._count}"
        steps = [f"MinHashSearch: {text}, segments={len(self._index.segments)}"]
        covered = BitMap().union(*(one.covers for one in self._index.segments))
        if not self._fast and any(one.fragment.id not in covered for one in self._fragments):
            steps.append(f"MinHashFlatSearch: {text}")
        return steps

    def _indexed(
        self, opened: Opened, fragments: Sequence[FragmentRows], condition: Condition | None
    ) -> Neighbours:
        """Return the rows of fragments that a segment covers."""
        index = opened.index
        assert isinstance(index, MinHashLsh)
        signature, bands = self._signed(Signer(index.parameters), index.parameters.num_bands)
        if not len(signature):
            return NOBODY
        keys, signatures = index.signatures(index.documents_with(bands))
        if opened.by_address and opened.segment.moves is not None:
            kept, keys = opened.segment.moves(keys)
            signatures = signatures[kept]
        keys, first = np.unique(keys, return_index=True)
        distances = _distances(signature, signatures[first])
        parts = []
        for rows in fragments:
            positions = _positions(opened, keys, rows)
            if condition is not None:
                positions = intersection(positions, condition.positions(rows))
            ids, own = _ids(rows, positions), _keys(opened, rows, positions)
            parts.append(Neighbours(ids, distances[np.searchsorted(keys, own)]))
        return joined(parts)

    def _signed(self, signer: Signer, num_bands: int) -> tuple[Signatures, Hashes]:
        """Return the signature of the query, none when it has no token, and its bands."""
        _, signature = signer.sign([self._query.text])
        return signature, band_keys(signature, num_bands).reshape(-1)

    def _read(self, fragments: Sequence[FragmentRows], condition: Condition | None) -> Neighbours:
        """Return the rows of fragments that no segment covers, signed as the first one says."""
        first = self._index.open(self._index.segments[0]).index
        assert isinstance(first, MinHashLsh)
        signer, num_bands = Signer(first.parameters), first.parameters.num_bands
        signature, bands = self._signed(signer, num_bands)
        if not len(signature):
            return NOBODY
        (field,) = project(self._snapshot.manifest.schema, [self._query.column])
        parts = []
        for rows in fragments:
            stable = self._snapshot.stable_row_ids
            runs = list(Training(field, [rows], stable, not stable).runs())
            texts = [text for run in runs for text in run.values.to_pylist()]
            numbers, signatures = signer.sign(texts)
            alike = (band_keys(signatures, num_bands) == bands).any(
                axis=1
            )  # L.index.minhash.search
            if condition is not None:
                alike &= np.isin(numbers, condition.positions(rows))
            found = signatures[alike]
            parts.append(Neighbours(_ids(rows, numbers[alike]), _distances(signature, found)))
        return joined(parts)


def _index_of(snapshot: Snapshot, path: str) -> Index:
    """Return the index of a column that covers a fragment. Raises QueryRefused."""
    live = BitMap([rows.fragment.id for rows in snapshot.fragments])
    for index in snapshot.indices.by_path.get(path, ()):
        if index.kind.name == KIND and any(segment.covers & live for segment in index.segments):
            return index
    raise QueryRefused(
        f'No MinHash LSH index found for column {path}; create a "minhashlsh" scalar index on '
        "the column before running a MinHash search"
    )


def _distances(signature: Signatures, others: Signatures) -> NDArray[np.float32]:
    """Return 1 less the share of numbers that are equal."""
    equal = (others == signature).sum(axis=1, dtype=np.float32)
    found: NDArray[np.float32] = np.float32(1) - equal / np.float32(signature.shape[1])
    return found


def _positions(opened: Opened, keys: Keys, rows: FragmentRows) -> NDArray[np.int64]:
    """Return the live rows of a fragment that have one of ascending keys, ascending."""
    found = row_set(keys)
    if not opened.by_address:
        return found.among(_ids(rows, np.arange(rows.num_rows)))
    return rows.positions(found.offsets(rows.fragment.id, rows.columns.stated_rows))


def _ids(rows: FragmentRows, positions: NDArray[np.int64]) -> Keys:
    (ids,) = rows.take(positions, (), (ROW_ID,))
    return np.asarray(ids, np.uint64)


def _keys(opened: Opened, rows: FragmentRows, positions: NDArray[np.int64]) -> Keys:
    if not opened.by_address:
        return _ids(rows, positions)
    return rows.offsets(positions).astype(np.uint64) | np.uint64(rows.fragment.id) << SHIFT
