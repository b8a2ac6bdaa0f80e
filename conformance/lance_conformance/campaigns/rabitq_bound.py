"""The error bound of RabitQ: how often distances are as near as the papers say.

The residual z of a vector is kept as w, at an angle of cosine c to it. Of a random rotation, the
error of the estimated product with a query y is, for |y| = |z| = 1, that of a component of a random
direction:

    |error| <= eps sqrt((1 / c ** 2 - 1) / (d - 1))

with probability erf(eps / sqrt(2)) when d is large (arXiv 2405.12497, theorem 3.2, says that what
is outside falls as exp(-c eps ** 2)). With B bits, |error| <= 5.75 * 2 ** -B / sqrt(d) for 99.9 %
of the pairs (arXiv 2409.09913). Vectors here are far from round: components differ in size by up to
30 times, and rotations are those of the format. Sums by signs are rounded to steps when a query is
asked, as the format has it, by default and when it is to be accurate: that adds to the error.

    python -m lance_conformance.campaigns.rabitq_bound --report conformance/results
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lanceref.kernels.distance import Floats
from lanceref.kernels.rabitq_codes import extended_codes, halves, sign_columns, signs_in
from lanceref.kernels.rabitq_estimate import (
    CONFIDENCE,
    FINE_STEPS,
    STEPS,
    Factors,
    QueryTerms,
    Signs,
    by_codes,
    by_signs,
    draw_rotation,
    factors,
    query_terms,
    sign_sums,
    sign_table,
)
from numpy.typing import NDArray

ROWS = 1000
"""Vectors that are looked at with each rotation."""

QUERIES = 50
"""Queries that are looked at with each rotation."""

DIMS = (64, 128, 384)
BITS = (1, 2, 3, 5, 9)

PER_BIT, PER_BIT_SHARE = 5.75, 0.999
"""The constant of the second paper, and the share that it is for."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Of each pair the eps at which the bound is the error, and the error times sqrt(d) 2 ** B."""

    dim: int
    bits: int
    steps: int
    eps: Floats
    scaled: Floats

    def share(self, eps: float) -> float:
        """Return the share of pairs inside the bound."""
        return float((self.eps <= eps).mean())


def expected(eps: float) -> float:
    """Return the probability of being inside the bound, of many dimensions."""
    return math.erf(eps / math.sqrt(2))


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of vectors."""

    signs: Signs
    codes: NDArray[np.uint8]
    bits: int
    factors: Factors

    def near(self, asked: QueryTerms, steps: int) -> Floats:
        """Return the estimated distances from a query."""
        sums = sign_sums(asked.rotated, self.signs, steps)
        if self.bits == 1:
            return by_signs(asked, sums, self.factors)
        return by_codes(asked, sums, self.codes, self.bits - 1, self.factors)


def measure(dim: int, bits: int, steps: int, pairs: int, seed: int) -> Errors:
    """Return the errors of so many pairs, rounded up to whole rotations."""
    random = np.random.default_rng((seed, dim, bits))
    parts = [_rotation(dim, bits, steps, random) for _ in range(-(-pairs // (ROWS * QUERIES)))]
    eps, scaled = (np.concatenate(one) for one in zip(*parts, strict=True))
    return Errors(dim, bits, steps, eps, scaled)


def _rotation(
    dim: int, bits: int, steps: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return both figures of the pairs of one rotation."""
    rotation = draw_rotation(dim, random)
    sizes = np.geomspace(1, 30, dim)
    center = random.normal(size=dim) * sizes
    vectors = (center + random.normal(size=(ROWS, dim)) * sizes).astype(np.float32)
    queries = (center + random.normal(size=(QUERIES, dim)) * sizes).astype(np.float32)
    middle = center.astype(np.float32)[None]
    turned = rotation.rotate(middle)[0]
    z = rotation.rotate(vectors - middle)
    squares: Floats = np.einsum("ij,ij->i", z, z)
    columns = sign_columns(z)
    codes = extended_codes(z, bits - 1) if bits > 1 else np.zeros(z.shape, np.uint8)
    w = halves(signs_in(columns), codes, bits - 1)
    found = factors(z, w, np.broadcast_to(turned, z.shape), squares, "l2")
    cosines = np.einsum("ij,ij->i", z, w) / np.sqrt(squares * np.einsum("ij,ij->i", w, w))
    spread = np.sqrt(np.maximum(1 / cosines.astype(np.float64) ** 2 - 1, 0) / (dim - 1))
    kept = Kept(sign_table(columns), codes, bits, found)
    eps, scaled = [], []
    for query in queries:
        away = query - middle[0]
        asked = query_terms(rotation.rotate(query[None])[0], turned, np.float32(away @ away), "l2")
        gaps = vectors.astype(np.float64) - query
        wrong = np.abs(kept.near(asked, steps) - np.einsum("ij,ij->i", gaps, gaps)) / 2
        share = wrong / np.sqrt(squares * float(away @ away))
        eps.append(share / spread)
        scaled.append(share * math.sqrt(dim) * 2**bits)
    return np.concatenate(eps).astype(np.float32), np.concatenate(scaled).astype(np.float32)


def line(errors: Errors) -> str:
    """Return what is printed of a measurement."""
    inside = float((errors.scaled <= PER_BIT).mean())
    return (
        f"{errors.dim:5} {errors.bits:4} {errors.steps:6} {len(errors.eps):9} "
        f"{errors.share(CONFIDENCE):9.4f} {expected(CONFIDENCE):9.4f} "
        f"{inside:11.5f} {PER_BIT_SHARE:7.3f}"
    )


PICTURE = "rabitq.svg"
"""Name of the picture beside the page."""

HEADING = "  dim bits  steps     pairs eps<=1.9  expected  5.75/2**B  paper"


def plot(measured: Sequence[Errors]) -> str:
    """Return an SVG picture: the share of pairs inside the bound, over eps."""
    width, height, left, top, most = 640, 400, 70, 20, 4.0

    def curve(shares: NDArray[np.float64], style: str) -> str:
        across = np.linspace(left, width - 20, len(shares))
        down = top + (1 - shares) * (height - top - 50)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
        return f'<polyline points="{points}" fill="none" {style}/>'

    def told(number: int, text: str, color: str) -> str:
        return f'<text x="{width}" y="{60 + 16 * number}" fill="{color}">{text}</text>'

    eps = np.linspace(0, most, 81)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 150} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width + 150}" height="{height}" fill="white"/>',
        curve(np.array([expected(one) for one in eps]), 'stroke="black" stroke-width="3"'),
        told(-1, "the papers", "black"),
    ]
    for number, errors in enumerate(measured):
        hue = 360 * number // len(measured)
        shares = np.array([errors.share(float(one)) for one in eps])
        parts.append(curve(shares, f'stroke="hsl({hue},70%,45%)"'))
        bits = "1 bit" if errors.bits == 1 else f"{errors.bits} bits"
        parts.append(told(number, f"{bits}, {errors.steps} steps", f"hsl({hue},70%,35%)"))
    at = left + CONFIDENCE / most * (width - 20 - left)
    middle = (top + height - 50) // 2
    parts += [
        f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{height - 50}" stroke="gray"/>',
        f'<text x="{at:.1f}" y="{height - 34}" text-anchor="middle">{CONFIDENCE}</text>',
        f'<text x="{width - 20}" y="{height - 34}" text-anchor="middle">{most:.0f}</text>',
        f'<text x="{width // 2}" y="{height - 12}" text-anchor="middle">eps</text>',
        f'<text x="{left - 8}" y="{top + 4}" text-anchor="end">1</text>',
        f'<text x="{left - 8}" y="{height - 50}" text-anchor="end">0</text>',
        f'<text transform="translate({left - 30} {middle}) rotate(-90)" text-anchor="middle">'
        "share of pairs inside the bound</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def page(measured: Sequence[Errors], pairs: int, seed: int) -> str:
    """Return the report in Markdown: the picture of one width, and every figure."""
    lines = [
        "# The error bound of RabitQ",
        "",
        f"Made by `nox -s rabitq -- --pairs {pairs} --seed {seed} --report conformance/results`.",
        "",
        f"![Share of pairs inside the bound, {DIMS[1]} dimensions]({PICTURE})",
        "",
        f"Of {pairs} pairs of a vector and a query: the share whose error is inside the bound at",
        f"eps = {CONFIDENCE}, beside the probability of arXiv 2405.12497, and the share inside",
        "5.75 / 2**B beside that of arXiv 2409.09913. Sums by signs are rounded to so many steps",
        "when a query is asked, 255 unless it is to be accurate: of many bits that is the larger",
        "error.",
        "",
        "| dimensions | bits | steps | pairs | eps <= 1.9 | papers | 5.75 / 2**B | paper |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(line(one).split()) + " |" for one in measured]
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path, help="folder for rabitq.md and its picture")
    given = parser.parse_args()
    print(HEADING)
    measured = []
    for dim in DIMS:
        for bits in BITS:
            for steps in (STEPS, FINE_STEPS):
                measured.append(measure(dim, bits, steps, given.pairs, given.seed))
                print(line(measured[-1]), flush=True)
    if given.report is not None:
        picture = plot([one for one in measured if one.dim == DIMS[1]])
        (given.report / PICTURE).write_text(picture, "utf-8")
        (given.report / "rabitq.md").write_text(page(measured, given.pairs, given.seed), "utf-8")


if __name__ == "__main__":
    main()
