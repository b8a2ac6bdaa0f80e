"""RQ rows: the columns that RabitQ keeps of vectors, and distances from them.

Layout, each row: _rabit_codes, a list of d / 8 bytes of signs; __add_factors and __scale_factors
f32; __error_factors f32, of the newer estimator. With more than one bit also: __blocked_ex_codes, a
list of 8 (bits - 1) bytes for each 64 components, or older __ex_codes, (bits - 1) d / 8 bytes in
which codes follow each other; __add_factors_ex and __scale_factors_ex f32.

Clauses: L.index.vector.rq.columns, L.index.vector.rq.signs, L.index.vector.rq.factors,
L.index.vector.rq.extended
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.vector.storage import (
    Columns,
    Mode,
    Score,
)
from lanceref.kernels.distance import AnyVectors, Floats, Metric, distances
from lanceref.kernels.rabitq_codes import (
    block_bytes,
    codes_in,
    extended_codes,
    halves,
    sign_columns,
    signs_in,
    width_of,
)
from lanceref.kernels.rabitq_estimate import (
    FINE_STEPS,
    STEPS,
    Factors,
    QueryTerms,
    Rotation,
    by_codes,
    by_residual,
    by_signs,
    error_factors,
    factors,
    residual_factors,
    sign_sums,
)
from lanceref.kernels.rabitq_estimate import (
    query_terms as terms_of,
)

SIGNS = "_rabit_codes"
ADD, SCALE, ERROR = "__add_factors", "__scale_factors", "__error_factors"
BLOCKED, FOLLOWING = "__blocked_ex_codes", "__ex_codes"
EXTENDED = "_ex"
"""Suffix of the factors that go with extended codes."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns there are.

    `residual` is the older estimator; with `errors` there are error factors, with `blocked` the
    extended codes lie in blocks.
    """

    dim: int
    num_bits: int
    residual: bool = False
    errors: bool = True
    blocked: bool = True

    @property
    def extra_bits(self) -> int:
        """Bits of the extended code of one dimension, beyond its sign."""
        return self.num_bits - 1

    @property
    def fields(self) -> list[pa.Field]:
        """The columns of the storage file: signs, extended codes and factors."""
        widths = {SIGNS: self.dim // 8, ADD: 0, SCALE: 0}
        if self.errors:
            widths[ERROR] = 0
        if self.extra_bits and self.blocked:
            widths[BLOCKED] = width_of(self.dim, self.extra_bits)
        elif self.extra_bits:
            widths[FOLLOWING] = self.dim * self.extra_bits // 8
        if self.extra_bits:
            widths |= {ADD + EXTENDED: 0, SCALE + EXTENDED: 0}
        return [
            pa.field(name, pa.list_(pa.uint8(), width) if width else pa.float32())
            for name, width in widths.items()
        ]

    def encode(
        self, residuals: Floats, centers: Floats, squares: Floats, metric: Metric
    ) -> Columns:
        """Return the columns of rotated residuals and centroids [n, d], and their n2 [n]."""
        signs = sign_columns(residuals)
        up = signs_in(signs)
        w = halves(up, np.zeros(up.shape, np.uint8), 0)
        make = residual_factors if self.residual else factors
        plain = make(residuals, w, centers, squares, metric)
        columns: dict[str, NDArray[np.generic]] = {
            SIGNS: np.ascontiguousarray(signs.T),
            ADD: plain.add,
            SCALE: plain.scale,
        }
        if self.errors:
            columns[ERROR] = error_factors(residuals, w, squares, metric)
        if self.extra_bits:
            codes = extended_codes(residuals, self.extra_bits)
            w = halves(up, codes, self.extra_bits)
            more = factors(residuals, w, centers, squares, metric)
            columns[BLOCKED] = block_bytes(codes, self.extra_bits)
            columns[ADD + EXTENDED], columns[SCALE + EXTENDED] = more.add, more.scale
        return columns

    def extended(self, rows: Columns) -> Bytes | None:
        """Return the extended codes [n, d] of rows, None for one bit."""
        if not self.extra_bits:
            return None
        if self.blocked:
            return codes_in(rows[BLOCKED].view(np.uint8), self.dim, self.extra_bits)
        bits = np.unpackbits(rows[FOLLOWING].view(np.uint8), axis=1, bitorder="little")
        bits = bits.reshape(len(bits), self.dim, self.extra_bits)
        return np.packbits(bits, axis=2, bitorder="little")[:, :, 0]


class RotatedRows:
    """The rows of a partition, read from their columns: signs, extended codes [n, d], and factors.

    `center` [d] is the centroid in the column's type, `turned` the same rotated.
    """

    def __init__(
        self,
        layout: Layout,
        rows: Columns,
        metric: Metric,
        rotation: Rotation,
        center: AnyVectors,
        turned: Floats,
    ) -> None:
        self.layout, self.metric, self.rotation = layout, metric, rotation
        self.center, self.turned = center, turned
        self.signs: Bytes = np.ascontiguousarray(rows[SIGNS].view(np.uint8).T)
        self.codes = layout.extended(rows)
        self.plain, self.more = (
            Factors(rows[ADD + suffix].view(np.float32), rows[SCALE + suffix].view(np.float32))
            for suffix in ("", EXTENDED if layout.extra_bits else "")
        )

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return the estimated distances from a query.

        They depend on the places of the rows in the partition, so all are computed.
        """
        if self.layout.residual:
            near = self._by_residual(query)
        else:
            terms, sums = self.query_terms(query, mode)
            if self.codes is None or mode == "fast":
                near = by_signs(terms, sums, self.plain)
            else:
                near = by_codes(terms, sums, self.codes, self.layout.extra_bits, self.more)
        return near.__getitem__

    def query_terms(self, query: AnyVectors, mode: Mode) -> tuple[QueryTerms, Floats]:
        """Return the rotated query, and the sums [n] that signs choose."""
        turned = self.rotation.rotate(query[None].astype(np.float32))[0]
        far = distances(query[None], self.center[None], "l2")[0, 0]
        terms = terms_of(turned, self.turned, far, self.metric)
        return terms, sign_sums(turned, self.signs, FINE_STEPS if mode == "accurate" else STEPS)

    def _by_residual(self, query: AnyVectors) -> Floats:
        residual = (query - self.center).astype(np.float32)
        turned = self.rotation.rotate(residual[None])[0]
        metric: Metric = "dot" if self.metric == "dot" else "l2"
        far = distances(query[None], self.center[None], metric)[0, 0]
        sums = sign_sums(turned, self.signs)
        return by_residual(turned, sums, self.plain, far - np.float32(metric == "dot"))

    def points(self) -> AnyVectors:
        """Return the decoded vectors in the rotated space: (rows, dimension)."""
        bits, up = self.layout.extra_bits, signs_in(self.signs)
        w = halves(up, np.zeros(up.shape, np.uint8) if self.codes is None else self.codes, bits)
        share = -1 if self.metric == "dot" else -0.5
        if self.layout.residual:  # whose scale goes with w of length 1
            share *= 2 / self.layout.dim**0.5
        scale = (self.more if bits else self.plain).scale * np.float32(share)
        return np.asarray(self.turned + w * scale[:, None], np.float32)
