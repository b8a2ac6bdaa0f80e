"""Fast forms of what builds and searches indices; importing this module registers all of them.

Posting blocks of 128 are parsed many at a time; what is wrong in any of them is found by parsing
them one by one.

The k-th distance of some rows bounds that of all: rows of a partition that are further are left
out at once. For vectors by l2 distances are first estimated, which costs a third. x.x - 2 x.q + q.q
loses digits, but is off by a known error: no row is among the k nearest that seems further than the
k-th by more than the error of both.

K-means assigns vectors by one matrix product for each block of them.

    l2   |v - c| ** 2 = |v| ** 2 + (|c| ** 2 - 2 v.c);  the bracket is the score
    dot  1 - v.c

Where another centroid is nearer by l2 than the rounding of such a product, or of the distances
themselves, could tell apart, `assign` computes distances as they are defined. By dot, centroids as
near as the rounding of a product may change places; so they may in the rounds of training
(`partial_sums`), by any metric.

A level of an HNSW graph is searched with heaps and a mask of the nodes that were met; candidates
farther than all that is kept are dropped for all neighbours of a node at once. Such a walk looks up
few product codes at a time, which costs its calls alone: all columns are looked up at once. Many
rows of codes are looked up, or multiplied, by compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush, heapreplace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.fast.codecs import KERNEL_USE
from lanceref.index.full_text import packed_integers, posting_blocks
from lanceref.index.full_text.packed_integers import MOST_BYTES, PER_LANE, Counts, Numbers
from lanceref.index.full_text.posting_blocks import SMALL, Blobs, BlockLayout, Postings
from lanceref.index.vector import storage
from lanceref.index.vector.storage import FlatRows, Mask, Mode, PartitionRows, Rows
from lanceref.kernels import distance, hnsw_graph, kmeans, product_quantizer
from lanceref.kernels.distance import (
    BLOCK_VALUES,
    AnyVectors,
    Floats,
    Metric,
    Number,
    Vectors,
    accumulator,
    blocks,
    distances,
)
from lanceref.kernels.hnsw_graph import Admitted, DistanceOf, Level
from lanceref.kernels.kmeans import Ids, Partial, cluster_sums
from lanceref.kernels.product_quantizer import Bytes, Sums

RUN = 1024
"""Blocks of 128 that are unpacked together."""

HEAD_BYTES = 8
"""Score and first document."""

SHORT = MOST_BYTES - 1
"""Bytes of a number that cannot have too many bits."""

FEW_VARINTS = 8
"""Varints from which on parsing all at once pays."""


@posting_blocks.parse_full_blocks.replaced_by
def parse_full_blocks(blocks: Blobs, num_documents: int, layout: BlockLayout) -> list[Postings]:
    """Parse the full blocks of a token. Raises FormatError."""
    if len(blocks) and layout.size == SMALL and blocks.ctx.spans is None:
        together = full_postings(blocks, num_documents)
        if together is not None:
            return [Postings(*np.empty((2, 0), np.uint32)), together]
    return posting_blocks.parse_full_blocks.plain(blocks, num_documents, layout)


def full_postings(blocks: Blobs, num_documents: int) -> Postings | None:
    """Return the postings of full blocks of 128, many at a time; None when anything is wrong."""
    parts = [Postings(*np.empty((2, 0), np.uint32))]
    for first in range(0, len(blocks), RUN):
        before = int(parts[-1].documents[-1]) if first else -1
        part = _parse_full(blocks.part(first, first + RUN), before, num_documents)
        if part is None:
            return None
        parts.append(part)
    return Postings(
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.frequencies for part in parts]),
    )


def _parse_full(blocks: Blobs, before: int, num_documents: int) -> Postings | None:
    data, starts, sizes = blocks.data, blocks.ends[:-1], np.diff(blocks.ends)
    if np.any(sizes < HEAD_BYTES + 2):
        return None
    widths = data[starts + HEAD_BYTES].astype(np.int64)
    counted = starts + HEAD_BYTES + 1 + SMALL // 8 * widths
    if np.any(counted >= starts + sizes):
        return None
    second = data[counted].astype(np.int64)
    ends = counted + 1 + SMALL // 8 * second
    if max(widths.max(), second.max()) > PER_LANE or np.any(ends != starts + sizes):
        return None
    firsts = data[starts[:, None] + np.arange(4, HEAD_BYTES)].view("<u4").astype(np.uint64)
    steps = _unpacked(data, starts + HEAD_BYTES + 1, widths)
    documents = (np.cumsum(steps, axis=1, dtype=np.uint64) + firsts).reshape(-1)
    frequencies = _unpacked(data, counted + 1, second).reshape(-1)
    rising = documents[0] > before and not np.any(documents[1:] <= documents[:-1])
    if not rising or documents[-1] >= num_documents or not frequencies.all():
        return None
    return Postings(documents.astype(np.uint32), frequencies)


def _unpacked(data: NDArray[np.uint8], starts: Counts, widths: Counts) -> Numbers:
    """Return the numbers of groups that begin at some places: [groups, 128]."""
    numbers = np.zeros((len(starts), SMALL), np.uint32)
    for width in np.unique(widths[widths > 0]).tolist():
        own = np.flatnonzero(widths == width)
        rows = data[starts[own][:, None] + np.arange(SMALL // 8 * width)]
        numbers[own] = unpack_rows(rows, width, SMALL // PER_LANE)
    return numbers


def unpack_rows(rows: NDArray[np.uint8], width_bits: int, lanes: int) -> Numbers:
    """Return the numbers of groups with 1 bit or more: [groups, bytes] to [groups, 32 x lanes]."""
    words = rows.view("<u4").reshape(len(rows), width_bits, lanes)
    word, bit = np.divmod(np.arange(PER_LANE) * width_bits, 32)
    numbers = words.take(word, axis=1)
    numbers >>= bit.astype(np.uint32)[:, np.newaxis]
    split = np.flatnonzero(bit + width_bits > 32)  # these go on in the next word
    rest = words.take(word[split] + 1, axis=1)
    rest <<= (32 - bit[split]).astype(np.uint32)[:, np.newaxis]
    numbers[:, split] |= rest
    numbers &= np.uint32((1 << width_bits) - 1)
    return numbers.reshape(len(rows), PER_LANE * lanes)


@packed_integers.parse_varints.replaced_by
def parse_varints(cursor: Cursor, count: int, name: str) -> Numbers:
    """Parse so many numbers, at least a byte each: (count,). Raises FormatError."""
    cursor.require(count, name, "L.index.fts.varint")
    if count >= FEW_VARINTS and cursor.ctx.spans is None:
        octets = np.frombuffer(cursor.data, np.uint8)[cursor.position :][: MOST_BYTES * count]
        ends = np.flatnonzero(octets < 0x80)[:count]
        starts = np.append(0, ends[:-1] + 1)
        if len(ends) == count and int((ends - starts).max()) < SHORT:
            cursor.skip(int(ends[-1]) + 1, name, "L.index.fts.varint")
            values = np.zeros(count, np.uint32)
            for number in range(int((ends - starts).max()) + 1):
                there = starts + number <= ends
                bits = (octets[starts[there] + number] & 0x7F).astype(np.uint32)
                values[there] |= bits << 7 * number
            return values
    return packed_integers.parse_varints.plain(cursor, count, name)


SHARE = 16
"""Rows of which one is looked at for a first bound."""

TINY = np.finfo(np.float32).tiny
"""Least float32 that has all its digits."""

_squares: WeakKeyDictionary[FlatRows, Vectors] = WeakKeyDictionary()


@storage.nearest_rows.replaced_by
def nearest_rows(
    rows: PartitionRows, query: AnyVectors, mode: Mode, kept: Mask, k: int
) -> tuple[Rows, Floats]:
    """Return rows, ascending, of those `kept` [n], and their distances; the k nearest are among.

    `query` (dimension,).
    """
    if not isinstance(rows, FlatRows) or rows.metric != "l2" or rows.vectors.size <= BLOCK_VALUES:
        near = rows.score(query, mode)(slice(None))
        places = _candidates(near, np.float32(0), kept, k)
        return places, near[places]
    if rows not in _squares:
        _squares[rows] = squares_of(rows.vectors)
    about, error = estimates(query, rows.vectors, _squares[rows])
    places = _candidates(about, error, kept, k)
    return places, rows.score(query, mode)(places)


def _candidates(near: Floats, error: np.float32, kept: Mask, k: int) -> Rows:
    """Return rows, ascending, of those `kept` [n], with the k nearest among them.

    `near` [n] are distances that are off by at most `error`. The k-th nearest of every sixteenth
    row is at least as far as the k-th of all.
    """
    some = near[::SHARE][kept[::SHARE]]
    if not 0 < k <= len(some):
        return np.flatnonzero(kept)
    with np.errstate(all="ignore"):
        furthest = np.partition(some, k - 1)[k - 1] + error
        places = np.flatnonzero(~(near - error > furthest))  # NaN may be at any distance
    return places[kept[places]]


def estimates(
    query: AnyVectors, vectors: AnyVectors, squares: Vectors
) -> tuple[Floats, np.float32]:
    """Return approximate l2 distances of vectors [n, d] from a query [d], and their largest error.

    By x.x - 2 x.q + q.q with the `squares` x.x [n]. Each sum is off by d roundings of its terms at
    most; there are four, the true distance's among them. What is less than the least number of full
    precision may be lost.
    """
    numbers: Vectors = query.astype(squares.dtype)
    square = numbers @ numbers
    with np.errstate(all="ignore"):
        near = distance.products(vectors, numbers)
        near *= -2
        near += squares
        near += square
        digits = np.finfo(np.float32).eps + (4 * len(numbers) + 8) * np.finfo(squares.dtype).eps
        error = np.float32(digits * (squares.max(initial=0) + square)) + TINY
        return near.astype(np.float32, copy=False), error


def squares_of(vectors: AnyVectors) -> Vectors:
    """Return x.x of vectors [n, d]: [n]."""
    squares: Vectors = np.empty(len(vectors), accumulator(vectors))
    with np.errstate(all="ignore"):
        for rows in blocks(vectors):
            block = vectors[rows].astype(squares.dtype, copy=False)
            np.einsum("ij,ij->i", block, block, out=squares[rows])
    return squares


BLOCK_SCORES, BLOCK_NUMBERS = 2**17, 2**22
"""Scores, and numbers of vectors, that are processed together, so that they stay in the cache."""


@kmeans.assign.replaced_by
def assign(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Ids:
    """Return the nearest of centroids [k, d] for each vector [n, d].

    `metric` is l2, dot or hamming; k is at least 1.
    """
    ids = np.empty(len(vectors), np.int64)
    for start, scores in score_blocks(vectors, centroids, metric):
        rows = slice(start, start + len(scores))
        ids[rows] = _first_nearest(vectors[rows], centroids, metric, scores)
    return ids


def score_blocks(
    vectors: AnyVectors, centroids: AnyVectors, metric: Metric
) -> Iterator[tuple[int, AnyVectors]]:
    """Yield the first place of each block of vectors, and their scores [rows, k], used up at once.

    The smaller, the nearer; of l2 they lack the squared length of the vector.
    """
    step = max(1, min(BLOCK_SCORES // len(centroids), BLOCK_NUMBERS // centroids.shape[1]))
    if metric == "hamming":
        for start in range(0, len(vectors), step):
            yield start, distances(vectors[start : start + step], centroids, metric)
        return
    wide = np.asarray(centroids, accumulator(vectors))
    factor, last = -1.0, np.ones(len(wide), wide.dtype)
    if metric != "dot":
        factor, last = -2.0, np.einsum("ij,ij->i", wide, wide)
    table = np.ascontiguousarray(np.vstack([wide.T * factor, last]), wide.dtype)
    rows = np.ones((step, len(table)), table.dtype)  # vectors, each followed by a 1
    scores = np.empty((step, len(centroids)), table.dtype)
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        rows[: len(block), :-1] = block
        yield start, np.matmul(rows[: len(block)], table, out=scores[: len(block)])


def _first_nearest(
    vectors: AnyVectors, centroids: AnyVectors, metric: Metric, scores: AnyVectors
) -> Ids:
    """Return the nearest centroids of vectors with these scores, which are overwritten."""
    ids: Ids = scores.argmin(axis=1)
    if metric != "l2" or len(centroids) == 1:
        return ids
    places = np.arange(len(ids))
    best = scores[places, ids]
    scores[places, ids] = np.inf
    wide = accumulator(vectors)
    largest = np.linalg.norm(np.asarray(centroids, wide), axis=1).max()
    lengths = np.linalg.norm(np.asarray(vectors, wide), axis=1)
    share = 2 * (vectors.shape[1] + 2) * np.finfo(wide).eps
    # of two scores together, and of two distances as the plain form computes them
    rounding = share * (largest * (largest + 2 * lengths) + best + lengths**2)
    rounding += np.finfo(wide).tiny
    doubtful = np.flatnonzero(scores.min(axis=1) - best <= rounding)
    step = max(1, BLOCK_SCORES // len(centroids))
    for start in range(0, len(doubtful), step):
        some = doubtful[start : start + step]
        ids[some] = distances(vectors[some], centroids, metric).argmin(axis=1)
    return ids


@kmeans.partial_sums.replaced_by
def partial_sums(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Partial:
    """Return the contribution of vectors [n, d], each near to the centroid of the best score."""
    ids, loss = np.empty(len(vectors), np.int64), 0.0
    for start, scores in score_blocks(vectors, centroids, metric):
        near = scores.argmin(axis=1)
        ids[start : start + len(near)] = near
        loss += float(scores[np.arange(len(near)), near].sum(dtype=np.float64))
    return Partial(*cluster_sums(vectors, ids, len(centroids), metric), loss)


@hnsw_graph.search_layer.replaced_by
def search_layer(
    level: Level, distance_of: DistanceOf, start: int, ef: int, admitted: Admitted
) -> list[tuple[float, int]]:
    """Return distance and number of the at most `ef` nearest admitted nodes of level 0."""
    offsets, neighbours = level.offsets, level.neighbours
    seen = np.zeros(len(level.nodes), np.bool_)
    seen[start] = True
    first = np.array([start])
    distances = distance_of(first)
    ahead = [(float(distances[0]), start)]
    kept = [(-ahead[0][0], start)] if admitted.of(first, distances)[0] else []
    while ahead:
        distance, node = heappop(ahead)
        full = len(kept) >= ef
        if full and distance > -kept[0][0]:
            break
        new = neighbours[offsets[node] : offsets[node + 1]]
        new = new[~seen[new]]
        if not len(new):
            continue
        seen[new] = True
        distances = distance_of(new)
        if full:
            near = distances <= -kept[0][0]
            new, distances = new[near], distances[near]
        rows = zip(distances.tolist(), new.tolist(), admitted.of(new, distances), strict=True)
        for far, neighbour, is_admitted in rows:
            if len(kept) >= ef and far > -kept[0][0]:
                continue
            heappush(ahead, (far, neighbour))
            if is_admitted and len(kept) < ef:
                heappush(kept, (-far, neighbour))
            elif is_admitted and far < -kept[0][0]:
                heapreplace(kept, (-far, neighbour))
    return [(-far, node) for far, node in kept]


FEW_ROWS = 256
"""Rows whose columns are looked up at once."""

CACHED_ROWS = 2**15
"""Rows whose sums stay in the cache while entries are added."""


@product_quantizer.look_up.replaced_by
def look_up(table: NDArray[Sums], columns: Bytes) -> NDArray[Sums]:
    """Return the sums [n] of the entries in a table [w, 256] for columns [w, n]."""
    if columns.shape[1] == 1:  # NumPy adds in another order
        return product_quantizer.look_up.plain(table, columns)
    sums: NDArray[Sums]
    if columns.shape[1] <= FEW_ROWS:
        firsts = np.arange(len(table))[:, None] * table.shape[1]
        entries = table.ravel().take(firsts + columns)
        sums = np.add.reduce(entries, axis=0, dtype=table.dtype)
        return sums
    sums = np.zeros(columns.shape[1], table.dtype)
    if KERNEL_USE.use(columns.size):
        from lanceref.fast import compiled as kernel

        kernel.add_entries(table, columns, sums)
        return sums
    for start in range(0, len(sums), CACHED_ROWS):
        some = slice(start, start + CACHED_ROWS)
        for row, column in zip(table, columns[:, some], strict=True):
            sums[some] += row.take(column, mode="wrap")  # bytes all lie inside: no check
    return sums


@distance.products.replaced_by
def products(rows: NDArray[np.number], vector: NDArray[Number]) -> NDArray[Number]:
    """Return the products [n] of rows [n, d] and a vector [d], in its type."""
    if len(rows) <= FEW_ROWS:
        few: NDArray[Number] = np.matmul(rows.astype(vector.dtype, copy=False), vector)
        return few
    are_bytes = rows.dtype == np.uint8 and vector.dtype == np.float32
    if not (are_bytes and KERNEL_USE.use(rows.size)):
        return distance.products.plain(rows, vector)
    from lanceref.fast import compiled as kernel

    result = np.empty(len(rows), vector.dtype)
    kernel.multiply(rows.view(np.uint8), vector, result)
    return result
