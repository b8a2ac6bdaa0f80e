"""Vector indices, checked: the bytes of the files, each partition and graph, where vectors are.

Clauses: L.index.vector.assignment, L.index.vector.rows.left-out

Graphs, checked: what writers owe and no search depends on.

Clauses: L.index.vector.graph.degree, L.index.vector.graph.reached, L.index.vector.graph.sequence,
L.index.vector.graph.lengths

Vector indices against rows: the keys of partitions, and whether they keep the vectors of these.

Rows that the table does not have any more do no harm. A code that stands for a vector about as well
as the one expected is taken for it.

Clauses: L.index.vector.row-id, L.index.vector.column-type, L.index.vector.flat.values,
L.index.vector.sq.code, L.index.vector.pq.codes, L.index.vector.rq.signs, L.index.vector.assignment,
L.index.segment.complete
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OutOfRange
from lanceref.core.integers import is_in, unique
from lanceref.data_file.check import check_file
from lanceref.index.row_set import LOW, SHIFT, Keys
from lanceref.index.segment import Segment
from lanceref.index.training import Training
from lanceref.index.vector import flat_storage, pq_storage, sq_storage
from lanceref.index.vector.flat_storage import FlatRows
from lanceref.index.vector.graph import GraphText, graph_text, parse_graph_text
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.rq_rows import SIGNS
from lanceref.index.vector.rq_storage import Rotated
from lanceref.index.vector.single_file import SingleFileIndex, open_index
from lanceref.index.vector.storage import Columns
from lanceref.index.vector.vector_file import AUXILIARY, HEAD
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.index.vector.vectors import Keyed, indexed_vectors, vector_type
from lanceref.kernels.distance import AnyVectors, distances
from lanceref.kernels.hnsw_graph import Graph, Level, Space, space_of
from lanceref.kernels.product_quantizer import codes_in

TOLERANCE = 1e-2
"""How far lengths may be from those computed here, beside the longest of a level."""

MOST_LEVELS = 1 << 16
"""Levels that a text may speak of for its sequence to be looked at."""


def check_graphs(index: VectorIndex) -> None:
    """Report what is wrong with the graphs of an index. Raises FormatError."""
    for number in np.flatnonzero(index.auxiliary.partitions.lengths).tolist():
        said = parse_graph_text(index.head.texts[number], index.head.place)
        graph = index.graph(number, distances=True)
        if said is not None:
            _check_sequence(index, number, said, graph)
            _check_degrees(index, number, said, graph)
            _check_reached(index, number, graph)
            metric, points = index.head.model.of_vectors, index.partition(number).stored.points()
            _check_lengths(index, number, graph, space_of(points, metric))


def _report(index: VectorIndex, clause: str, number: int, found: str, wanted: str) -> None:
    file = index.segment.file(HEAD)
    found = f"in partition {number} {found}"
    file.ctx.lint(clause, file.place, found=found, wanted=wanted, severity="should")


def _check_sequence(index: VectorIndex, number: int, said: GraphText, graph: Graph) -> None:
    parameters = said.parameters
    usable = parameters.m > 1 and 0 < parameters.max_level < MOST_LEVELS
    wanted = graph_text(graph.num_nodes, parameters, None) if usable else None
    sound = wanted is not None and (wanted.entry_point, wanted.offsets) == (
        said.entry_point,
        said.offsets,
    )
    if not sound:
        _report(
            index,
            "L.index.vector.graph.sequence",
            number,
            f"entry point {said.entry_point}, levels {str(said.offsets)[:60]}",
            "those of the sequence" if wanted is None else f"{wanted.text[:100]}",
        )


def _check_degrees(index: VectorIndex, number: int, said: GraphText, graph: Graph) -> None:
    for place, level in enumerate(graph.levels):
        degrees = np.diff(level.offsets)
        limit = said.parameters.m if place else 2 * said.parameters.m + 1
        to_itself = bool((_owners(level) == level.neighbours).any())
        elsewhere = not np.isin(level.neighbours, level.nodes).all()
        if degrees.max() > limit or to_itself or elsewhere:
            _report(
                index,
                "L.index.vector.graph.degree",
                number,
                f"up to {degrees.max()} neighbours on level {place}"
                + ", a node its own" * to_itself
                + ", some not of the level" * elsewhere,
                f"at most {limit}, others of the level",
            )


def _owners(level: Level) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the node that each edge of a level starts from."""
    return np.repeat(level.nodes, np.diff(level.offsets))


def _check_reached(index: VectorIndex, number: int, graph: Graph) -> None:
    level = graph.levels[0]
    known = np.zeros(graph.num_nodes, np.bool_)
    known[graph.entry_point] = True
    border = np.array([graph.entry_point])
    while len(border):
        ahead = np.concatenate([level.neighbours_of(node) for node in border.tolist()])
        border = unique(ahead[~known[ahead]])
        known[border] = True
    if not known.all():
        _report(
            index,
            "L.index.vector.graph.reached",
            number,
            f"{int((~known).sum())} nodes that no walk reaches, {int((~known).argmax())} first",
            "all reached from the entry point",
        )


def _check_lengths(index: VectorIndex, number: int, graph: Graph, space: Space) -> None:
    for place, level in enumerate(graph.levels):
        wanted = space.pairs(_owners(level), level.neighbours)
        wrong = ~np.isclose(
            level.distances, wanted, TOLERANCE, TOLERANCE * float(np.abs(wanted).max(initial=0))
        )
        if wrong.any():
            first = int(wrong.argmax())
            _report(
                index,
                "L.index.vector.graph.lengths",
                number,
                f"an edge of length {level.distances[first]} on level {place}",
                f"{wanted[first]}",
            )


NEAR = 1e-3
"""A centroid may be so much further than the nearest one, as a share of how far that is."""


def check(segment: Segment) -> None:
    """Report what is wrong with a segment. Raises FormatError."""
    index = open_index(segment)
    if not isinstance(index, SingleFileIndex):
        for path in (HEAD, AUXILIARY):
            file = segment.file(path)
            check_file(file.source, file.ctx)
    for number in range(len(index.head.model.centroids)):
        _check_partition(index, number)
    if index.head.type.graphs:
        check_graphs(index)


def _check_partition(index: VectorIndex, number: int) -> None:
    """Report vectors that should be in no partition, or in another."""
    held = index.partition(number).stored
    if not isinstance(held, FlatRows) or not len(held.vectors):
        return
    place, ctx = index.head.place, index.segment.ctx
    if held.vectors.dtype != np.uint8 and not np.isfinite(held.vectors).all():
        ctx.lint(
            "L.index.vector.rows.left-out",
            place,
            found=f"a vector in partition {number} of {index.segment.folder} that is not finite",
            wanted="finite numbers",
        )
        return
    check_assignment(index, number, held.vectors)


def check_assignment(index: VectorIndex, number: int, vectors: AnyVectors) -> None:
    """Report the first of some vectors [n, d] of a partition that should be in another."""
    model = index.head.model
    near = distances(model.centroids, vectors, model.of_vectors)
    nearest = near.min(axis=0)
    wrong = np.flatnonzero(near[number] > nearest + NEAR * (1 + np.abs(nearest)))
    if len(wrong):
        index.segment.ctx.lint(
            "L.index.vector.assignment",
            index.head.place,
            found=f"row {wrong[0]} in partition {number} of {index.segment.folder}",
            wanted=f"partition {int(near[:, wrong[0]].argmin())}, the nearest",
        )


SAME = 1e-2
"""How far numbers may be off, as a share of the largest."""

Mask = NDArray[np.bool_]


def check_rows(segment: Segment, training: Training) -> None:
    """Report what a segment keeps otherwise than the rows of a table. Raises FormatError."""
    index = open_index(segment)
    check_column(index, training)
    rows = _sorted([*indexed_vectors(training, index.head.model.metric)], index)
    missing = np.ones(len(rows.keys), np.bool_)
    for number in range(len(index.head.model.centroids)):
        kept, own = _keys(index, number, by_address=training.by_address)
        if training.by_address:
            _check_addresses(index, number, own, training)
        missing &= ~is_in(rows.keys, own)
        if len(rows.keys) and not (np.diff(rows.keys) == 0).any():
            _check_partition_rows(index, number, kept, own, rows)
    if missing.any():
        found = f"no vector of row {rows.keys[missing][0]}"
        _lint(index, "L.index.segment.complete", found, "one of each row that has one")


def _sorted(parts: list[Keyed], index: VectorIndex) -> Keyed:
    """Return the vectors of all rows by key."""
    keys = np.concatenate([np.empty(0, np.uint64), *(one.keys for one in parts)])
    none = index.head.model.centroids[:0]
    vectors = np.concatenate([none, *(one.vectors for one in parts)])
    order = np.argsort(keys, kind="stable")
    return Keyed(vectors[order], keys[order])


def check_column(index: VectorIndex, training: Training) -> None:
    """Raise FormatError where centroids are of another size or type than the column."""
    type_, centroids = vector_type(training.type), index.head.model.centroids
    if type_ is not None and (type_.dimension, type_.dtype) != (
        centroids.shape[1],
        centroids.dtype,
    ):
        raise FormatError(
            "L.index.vector.column-type",
            index.head.place,
            found=f"centroids of {centroids.shape[1]} {centroids.dtype} each",
            wanted=f"{type_.dimension} {type_.dtype}, as the column has",
        )


def _keys(index: VectorIndex, number: int, *, by_address: bool) -> tuple[Mask, Keys]:
    """Return which rows of a partition are left, and the keys these have now."""
    keys, moves = index.keys(number), index.segment.moves
    if by_address and moves is not None:
        return moves(keys)
    return np.ones(len(keys), np.bool_), keys


def _check_addresses(index: VectorIndex, number: int, keys: Keys, training: Training) -> None:
    sizes = {rows.fragment.id: rows.columns.stated_rows for rows in training.fragments}
    for key in keys.tolist():
        size = sizes.get(key >> int(SHIFT))
        if size is not None and key & int(LOW) >= size:
            raise OutOfRange(
                "L.index.vector.row-id",
                index.head.place,
                found=f"row address {key} in partition {number}",
                wanted=f"one of {size} rows",
            )


def _check_partition_rows(
    index: VectorIndex, number: int, kept: Mask, own: Keys, rows: Keyed
) -> None:
    """Compare what a partition keeps of rows with what it should keep."""
    at = np.minimum(np.searchsorted(rows.keys, own), len(rows.keys) - 1)
    known = rows.keys[at] == own
    held = {name: column[kept][known] for name, column in index.rows(number).items()}
    vectors = rows.vectors[at[known]]
    if len(vectors) and flat_storage.COLUMN not in held:
        check_assignment(index, number, vectors)
    places = np.full(len(vectors), number, np.int64)
    wanted = index.auxiliary.quantizer.encode(vectors, places)
    for clause, wrong in _differing(index, held, wanted, vectors, places):
        if wrong.any():
            found = f"another code of row {own[known][wrong][0]} in partition {number}"
            _lint(index, clause, found, "that of its vector")


def _differing(
    index: VectorIndex,
    kept: Columns,
    wanted: Columns,
    vectors: AnyVectors,
    places: NDArray[np.int64],
) -> Iterator[tuple[str, Mask]]:
    """Yield the clauses of a storage, and of each row whether its numbers break it."""
    quantizer = index.auxiliary.quantizer
    if flat_storage.COLUMN in kept:
        numbers, own = (one[flat_storage.COLUMN].astype(np.float64) for one in (kept, wanted))
        room = SAME * max(1e-6, float(np.abs(own).max(initial=0)))
        far = ~(np.abs(numbers - own) <= room)
        yield "L.index.vector.flat.values", np.asarray(far.any(axis=1), np.bool_)
    elif sq_storage.COLUMN in kept:
        codes, right = (one[sq_storage.COLUMN].astype(np.int64) for one in (kept, wanted))
        off = np.abs(codes - right) > 1
        yield "L.index.vector.sq.code", np.asarray(off.any(axis=1), np.bool_)
    elif isinstance(quantizer, Product):
        if quantizer.of_residuals:
            vectors = vectors - quantizer.model.centroids[places]
        errors = [_error(quantizer, one, vectors) for one in (kept, wanted)]
        room = SAME * max(1e-6, float(errors[1].max(initial=0)))
        worse = errors[0] > errors[1] + room
        if index.head.model.metric == "dot" and worse.any():
            worse[worse] = ~_greatest(quantizer, kept[pq_storage.COLUMN][worse], vectors[worse])
            worse &= bool(index.segment.entry.index_details.type_url)  # L.index.vector.pq.codes
        yield "L.index.vector.pq.codes", worse
    elif isinstance(quantizer, Rotated):
        signs, true = (np.unpackbits(one[SIGNS].view(np.uint8), axis=1) for one in (kept, wanted))
        # the sign of a number near 0 depends on rounding
        yield "L.index.vector.rq.signs", (signs != true).sum(axis=1) > 1


def _greatest(quantizer: Product, rows: NDArray[np.generic], vectors: AnyVectors) -> Mask:
    """Return for vectors [n, d] whether their codes have the greatest products with them."""
    inner = quantizer.quantizer
    columns = np.ascontiguousarray(rows.view(np.uint8).T)
    decoded = inner.decode(codes_in(columns, inner.num_bits)).astype(np.float64)
    parts = vectors.reshape(len(vectors), len(inner.codebook), -1).astype(np.float64)
    products = np.einsum("nms,mks->nmk", parts, inner.codebook.astype(np.float64))
    best, own = products.max(axis=2).sum(axis=1), (vectors * decoded).sum(axis=1)
    return np.asarray(own >= best - SAME * np.abs(best), np.bool_)


def _error(quantizer: Product, rows: Columns, vectors: AnyVectors) -> NDArray[np.float64]:
    """Return how far vectors [n, d] are from what their codes stand for, squared."""
    columns = np.ascontiguousarray(rows[pq_storage.COLUMN].view(np.uint8).T)
    inner = quantizer.quantizer
    decoded = inner.decode(codes_in(columns, inner.num_bits)).astype(np.float64)
    found: NDArray[np.float64] = ((vectors - decoded) ** 2).sum(axis=1)
    return found


def _lint(index: VectorIndex, clause: str, found: str, wanted: str) -> None:
    where = index.segment.folder
    index.segment.ctx.lint(clause, index.head.place, found=f"{found} of {where}", wanted=wanted)
