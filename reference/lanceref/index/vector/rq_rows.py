"""RQ rows: what RabitQ keeps of vectors.

Layout, each row: _rabit_codes, a list of d / 8 bytes of signs; __add_factors and __scale_factors
f32; __error_factors f32, of the newer estimator. With more than one bit also: __blocked_ex_codes, a
list of 8 (bits - 1) bytes for each 64 components, or older __ex_codes, (bits - 1) d / 8 bytes in
which codes follow each other; __add_factors_ex and __scale_factors_ex f32.

Clauses: L.index.vector.rq.columns, L.index.vector.rq.signs, L.index.vector.rq.factors,
L.index.vector.rq.extended
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.vector.storage import Chosen, Columns, Mode, Score
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
    Signs,
    by_codes,
    by_residual,
    by_signs,
    error_factors,
    factors,
    query_terms,
    residual_factors,
    sign_sums,
    sign_table,
)
from lanceref.kernels.top_k import Errors, nearest

SIGNS = "_rabit_codes"
ADD, SCALE, ERROR = "__add_factors", "__scale_factors", "__error_factors"
BLOCKED, FOLLOWING = "__blocked_ex_codes", "__ex_codes"
EXTENDED = "_ex"
"""Behind the names of the factors that go with extended codes."""

SURE = np.float32(2)
"""So many times the stored error is what a distance by signs is off at most: in one of 14 000 rows
it is off by more."""

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns there are.

    `residual` is the older estimator; `errors` says whether there are those, `blocked` how extended
    codes lie.
    """

    dim: int
    num_bits: int
    residual: bool = False
    errors: bool = True
    blocked: bool = True

    @property
    def extra_bits(self) -> int:
        """Bits of the extended codes."""
        return self.num_bits - 1

    @property
    def fields(self) -> list[pa.Field]:
        """The columns."""
        names = [ADD, SCALE, *([ERROR] if self.errors else [])]
        found = [pa.field(SIGNS, pa.list_(pa.uint8(), self.dim // 8))]
        found += [pa.field(name, pa.float32()) for name in names]
        if self.extra_bits:
            width = width_of(self.dim, self.extra_bits)
            width = width if self.blocked else self.dim * self.extra_bits // 8
            name = BLOCKED if self.blocked else FOLLOWING
            found.append(pa.field(name, pa.list_(pa.uint8(), width)))
            found += [pa.field(name + EXTENDED, pa.float32()) for name in (ADD, SCALE)]
        return found


def encode(
    layout: Layout, residuals: Floats, centers: Floats, squares: Floats, metric: Metric
) -> Columns:
    """Return the columns of vectors: rotated residuals and centroids [n, d], and their n2 [n]."""
    signs = sign_columns(residuals)
    up = signs_in(signs)
    w = halves(up, np.zeros(up.shape, np.uint8), 0)
    make = residual_factors if layout.residual else factors
    plain = make(residuals, w, centers, squares, metric)
    found: dict[str, NDArray[np.generic]] = {
        SIGNS: np.ascontiguousarray(signs.T),
        ADD: plain.add,
        SCALE: plain.scale,
    }
    if layout.errors:
        found[ERROR] = error_factors(residuals, w, squares, metric)
    if layout.extra_bits:
        codes = extended_codes(residuals, layout.extra_bits)
        more = factors(residuals, halves(up, codes, layout.extra_bits), centers, squares, metric)
        found[BLOCKED] = block_bytes(codes, layout.extra_bits)
        found[ADD + EXTENDED], found[SCALE + EXTENDED] = more.add, more.scale
    return found


def with_blocks(layout: Layout, rows: Columns) -> Columns:
    """Return columns with extended codes in blocks."""
    if layout.blocked:
        return rows
    codes = _extended(layout, rows)
    kept = {name: column for name, column in rows.items() if name != FOLLOWING}
    return {**kept, BLOCKED: block_bytes(codes, layout.extra_bits)}


def _extended(layout: Layout, rows: Columns) -> Bytes:
    """Return the extended codes [n, d] of rows."""
    if layout.blocked:
        return codes_in(rows[BLOCKED].view(np.uint8), layout.dim, layout.extra_bits)
    bits = np.unpackbits(rows[FOLLOWING].view(np.uint8), axis=1, bitorder="little")
    bits = bits.reshape(len(bits), layout.dim, layout.extra_bits)
    return np.packbits(bits, axis=2, bitorder="little")[:, :, 0]


@dataclass(frozen=True)
class RotatedRows:
    """The rows of a partition: signs, extended codes [n, d], and factors.

    `center` is the centroid in the column's type, `turned` the same rotated.
    """

    layout: Layout
    metric: Metric
    rotation: Rotation
    center: AnyVectors
    turned: Floats
    signs: Signs
    plain: Factors
    codes: Bytes | None
    more: Factors
    errors: Floats

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return the estimated distances from a query.

        They depend on the places of the rows in the partition, so all are computed.
        """
        near = self._by_residual(query) if self.layout.residual else self._near(query, mode)
        return near.__getitem__

    def nearest(
        self, query: AnyVectors, mode: Mode, kept: Mask, k: int
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows that may be nearest by their signs, and their distances by codes."""
        if self.codes is None or mode != "normal":
            rows = np.flatnonzero(kept)
            return rows, self.score(query, mode)(rows)
        asked, sums = self._ask(query, mode)
        seeming = by_signs(asked, sums, self.plain)
        errors = Errors(self.errors, SURE * asked.error)
        if kept.all():
            return nearest(seeming, k, partial(self._by_codes, asked, sums), errors)
        rows = np.flatnonzero(kept)
        errors = replace(errors, stored=self.errors[rows])

        def of_kept(places: NDArray[np.int64]) -> Floats:
            return self._by_codes(asked, sums, rows[places])

        places, near = nearest(seeming[rows], k, of_kept, errors)
        return rows[places], near

    def _near(self, query: AnyVectors, mode: Mode) -> Floats:
        asked, sums = self._ask(query, mode)
        if self.codes is None or mode == "fast":
            return by_signs(asked, sums, self.plain)
        return by_codes(asked, sums, self.codes, self.layout.extra_bits, self.more)

    def _by_codes(self, asked: QueryTerms, sums: Floats, rows: NDArray[np.int64]) -> Floats:
        """Return the distances of some rows; all have sums of signs."""
        assert self.codes is not None
        more = Factors(self.more.add[rows], self.more.scale[rows])
        return by_codes(asked, sums[rows], self.codes[rows], self.layout.extra_bits, more)

    def _ask(self, query: AnyVectors, mode: Mode) -> tuple[QueryTerms, Floats]:
        """Return what is asked, and the sums [n] that signs choose."""
        turned = self.rotation.rotate(query[None].astype(np.float32))[0]
        far = distances(query[None], self.center[None], "l2")[0, 0]
        asked = query_terms(turned, self.turned, far, self.metric)
        return asked, sign_sums(turned, self.signs, FINE_STEPS if mode == "accurate" else STEPS)

    def _by_residual(self, query: AnyVectors) -> Floats:
        residual = (query - self.center).astype(np.float32)
        turned = self.rotation.rotate(residual[None])[0]
        metric: Metric = "dot" if self.metric == "dot" else "l2"
        far = distances(query[None], self.center[None], metric)[0, 0]
        sums = sign_sums(turned, self.signs)
        return by_residual(turned, sums, self.plain, far - np.float32(metric == "dot"))

    def points(self) -> AnyVectors:
        """Return what the codes stand for, rotated."""
        w, scale = self._directions(slice(None))
        found: Floats = self.turned + w * scale[:, None]
        return found

    @property
    def code_bytes(self) -> int:
        """Return the bytes of codes, each by itself, or of signs, and of two or three numbers."""
        dim, bits = self.layout.dim, self.layout.num_bits
        codes = dim // 8 if bits == 1 else dim * -(-bits // 8)
        return codes + 8 * (2 if self.metric == "l2" else 3)

    def decoded(self, rows: Chosen) -> AnyVectors:
        """Return what codes stand for, rotated."""
        w, scale = self._directions(rows)
        return self.turned + w.astype(np.float64) * scale[:, None]

    def _directions(self, rows: Chosen) -> tuple[Floats, Floats]:
        """Return w [m, d] of rows, and how long it is in what they stand for [m]."""
        bits, codes = self.layout.extra_bits, self.codes
        up = signs_in(self.signs.columns[:, rows])
        w = halves(up, np.zeros(up.shape, np.uint8) if codes is None else codes[rows], bits)
        scale = (self.more.scale if bits else self.plain.scale)[rows]
        share = -1 if self.metric == "dot" else -0.5
        if self.layout.residual:  # whose scale goes with w of length 1
            share *= 2 / self.layout.dim**0.5
        return w, scale * np.float32(share)


def rotated_rows(
    layout: Layout,
    rows: Columns,
    metric: Metric,
    rotation: Rotation,
    center: AnyVectors,
    turned: Floats,
) -> RotatedRows:
    """Return the rows of a partition from their columns."""
    more = EXTENDED if layout.extra_bits else ""
    return RotatedRows(
        layout,
        metric,
        rotation,
        center,
        turned,
        sign_table(np.ascontiguousarray(rows[SIGNS].view(np.uint8).T)),
        Factors(rows[ADD].view(np.float32), rows[SCALE].view(np.float32)),
        _extended(layout, rows) if layout.extra_bits else None,
        Factors(rows[ADD + more].view(np.float32), rows[SCALE + more].view(np.float32)),
        rows[ERROR].view(np.float32) if layout.errors else np.empty(0, np.float32),
    )
