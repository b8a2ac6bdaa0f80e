"""Indexed vectors: those of a column that an index can have, with the keys of their rows.

Left out are rows that are null, vectors that are not finite, and for cosine those of length 0.

Clauses: L.index.vector.rows.left-out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.index.row_set import Keys
from lanceref.index.training import Training, unnested
from lanceref.index.vector.vectors import Vectors, vectors_of
from lanceref.kernels.distance import AnyVectors, Metric, normalized

SCAN_SHARE = 4
"""A sample of more than one in so many rows is taken by reading all of them."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Vectors [n, d], normalized for cosine, and the keys [n] of their rows."""

    vectors: AnyVectors
    keys: Keys


def indexed_vectors(training: Training, metric: Metric) -> Iterator[Keyed]:
    """Yield the vectors of rows in the order of the table."""
    for run in training.runs():
        held = _usable(vectors_of(run.values), metric)
        yield Keyed(held.values, run.keys[held.rows])


def sampled_vectors(
    training: Training, metric: Metric, most: int, random: np.random.Generator
) -> AnyVectors:
    """Return vectors of up to so many rows, drawn at random, in the order of the table."""
    total = sum(rows.num_rows for rows in training.fragments)
    if most * SCAN_SHARE > total:
        runs = [one.vectors for one in indexed_vectors(training, metric)]
        vectors: AnyVectors = np.concatenate(runs)
        if len(vectors) > most:
            vectors = vectors[np.sort(random.choice(len(vectors), most, replace=False))]
        return vectors
    chosen = np.sort(random.choice(total, most, replace=False))
    parts, start = [], 0
    for rows in training.fragments:
        own = chosen[(chosen >= start) & (chosen < start + rows.num_rows)] - start
        start += rows.num_rows
        (values,) = rows.take(own, (training.field,), ())
        parts.append(_usable(vectors_of(unnested(values, training.field)), metric).values)
    found: AnyVectors = np.concatenate(parts)
    return found


def has_vectors(training: Training, least: int) -> bool:
    """Return whether so many vectors are not null, whatever their numbers; few more are read."""
    seen = 0
    for rows in training.fragments:
        for _, (values,) in rows.scan((training.field,), (), least, 0, rows.num_rows):
            seen += len(vectors_of(unnested(values, training.field)).rows)
            if seen >= least:
                return True
    return False


def _usable(held: Vectors, metric: Metric) -> Vectors:
    if held.values.dtype == np.uint8:
        return held
    held = held.chosen(_finite(held.values))
    if metric != "cosine":
        return held
    unit = normalized(held.values)
    return Vectors(unit, held.rows).chosen(_finite(unit))


def _finite(vectors: AnyVectors) -> NDArray[np.bool_]:
    """Return of each vector [n, d] whether all its numbers are finite."""
    return np.asarray(np.isfinite(vectors).all(axis=1), np.bool_)
