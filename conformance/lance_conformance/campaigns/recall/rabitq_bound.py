"""The error bound of RaBitQ: the share of distances within the bounds of the papers.

The residual z of a vector is quantized to w, at an angle of cosine c to it. With a random rotation,
the error of the estimated product with a query y is, for |y| = |z| = 1, that of a component of a
random direction:

    |error| <= eps sqrt((1 / c ** 2 - 1) / (d - 1))

with probability erf(eps / sqrt(2)) for large d (arXiv 2405.12497, theorem 3.2: the share outside
decreases as exp(-c eps ** 2)). With B bits, |error| <= 5.75 * 2 ** -B / sqrt(d) for 99.9 % of the
pairs (arXiv 2409.09913). The vectors here are anisotropic: scales of components differ by up to 30
times, and rotations are those of the format. Queries round sums by signs to steps, as the format
does by default and in the accurate mode, which adds to the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from lanceref.kernels.distance import Floats
from lanceref.kernels.rabitq_codes import extended_codes, halves, sign_columns, signs_in
from lanceref.kernels.rabitq_estimate import (
    CONFIDENCE,
    FINE_STEPS,
    STEPS,
    by_codes,
    by_signs,
    draw_rotation,
    factors,
    query_terms,
    sign_sums,
)

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, Verdict

ROWS = 1000
"""Vectors of each rotation."""

QUERIES = 50
"""Queries of each rotation."""

DIMS = (64, 128, 384)
BITS = (1, 2, 3, 5, 9)
ALL_STEPS = (STEPS, FINE_STEPS)

PER_BIT, PER_BIT_SHARE = 5.75, 0.999
"""The constant of the second paper, and its share of pairs."""


def measure(dim: int, bits: int, steps: int, pairs: int, seed: int) -> tuple[Floats, Floats]:
    """Return two errors of at least `pairs` pairs, for whole rotations, each float32 [pairs].

    The first is the eps for which the bound equals the error, the second the error times
    sqrt(d) 2 ** B.
    """
    random = np.random.default_rng((seed, dim, bits))
    parts = [_rotation(dim, bits, steps, random) for _ in range(-(-pairs // (ROWS * QUERIES)))]
    eps, scaled = (np.concatenate(one) for one in zip(*parts, strict=True))
    return eps, scaled


def _rotation(
    dim: int, bits: int, steps: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return both errors of the pairs of one rotation."""
    rotation = draw_rotation(dim, random)
    sizes = np.geomspace(1, 30, dim)
    center = random.normal(size=dim) * sizes
    vectors = (center + random.normal(size=(ROWS, dim)) * sizes).astype(np.float32)
    queries = (center + random.normal(size=(QUERIES, dim)) * sizes).astype(np.float32)
    middle = center.astype(np.float32)[None]
    rotated = rotation.rotate(middle)[0]
    z = rotation.rotate(vectors - middle)
    squares: Floats = np.einsum("ij,ij->i", z, z)
    columns = sign_columns(z)
    codes = extended_codes(z, bits - 1) if bits > 1 else np.zeros(z.shape, np.uint8)
    w = halves(signs_in(columns), codes, bits - 1)
    row_factors = factors(z, w, np.broadcast_to(rotated, z.shape), squares, "l2")
    cosines = np.einsum("ij,ij->i", z, w) / np.sqrt(squares * np.einsum("ij,ij->i", w, w))
    spread = np.sqrt(np.maximum(1 / cosines.astype(np.float64) ** 2 - 1, 0) / (dim - 1))
    eps, scaled = [], []
    for query in queries:
        offset = query - middle[0]
        squared = np.float32(offset @ offset)
        terms = query_terms(rotation.rotate(query[None])[0], rotated, squared, "l2")
        differences = vectors.astype(np.float64) - query
        sums = sign_sums(terms.rotated, columns, steps)
        estimates = by_signs(terms, sums, row_factors)
        if bits > 1:
            estimates = by_codes(terms, sums, codes, bits - 1, row_factors)
        error = np.abs(estimates - np.einsum("ij,ij->i", differences, differences)) / 2
        share = error / np.sqrt(squares * float(offset @ offset))
        eps.append(share / spread)
        scaled.append(share * math.sqrt(dim) * 2**bits)
    return np.concatenate(eps).astype(np.float32), np.concatenate(scaled).astype(np.float32)


TOLERANCE, MARGIN_BITS = 0.02, 0.005
"""Tolerances of the shares of the papers, for sums by signs rounded to fine steps."""


def rabitq(plan: Plan) -> Iterator[Session]:
    """Open the part: every width and number of bits and steps, with the planned number of pairs."""
    pairs = -(-plan.count // (len(DIMS) * len(BITS) * 2))
    names = [f"{dim}/{bits} bits/{n} steps" for dim in DIMS for bits in BITS for n in ALL_STEPS]

    def run(case: str) -> Outcome:
        dim, bits, steps = (int(word.split()[0]) for word in case.split("/"))
        return error_outcome(*measure(dim, bits, steps, pairs, plan.seed), steps)

    yield Session(names, run)


def error_outcome(eps: Floats, scaled: Floats, steps: int) -> Outcome:
    """Return the outcome of a measurement, which can differ only with fine steps."""
    share, expected = float((eps <= CONFIDENCE).mean()), math.erf(CONFIDENCE / math.sqrt(2))
    inside = float((scaled <= PER_BIT).mean())
    detail = f"eps <= {CONFIDENCE}: {share:.4f} of {expected:.4f}; "
    detail += f"5.75 / 2**B: {inside:.5f} of {PER_BIT_SHARE}"
    is_low = share < expected - TOLERANCE or inside < PER_BIT_SHARE - MARGIN_BITS
    verdict: Verdict = "differed" if is_low and steps == FINE_STEPS else "agreed"
    return Outcome(verdict, (detail,), {"pairs": len(eps)})


def summary(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the shares of every measurement and of the papers."""
    yield from (f"  {case.partition('/')[2]:24} {one.details[0]}" for case, one in outcomes.items())


PARTS = (Part("rabitq", 30_000_000, rabitq, summary=summary),)
