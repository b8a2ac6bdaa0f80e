"""Positive cases of odd pages: what descriptions allow and no writer does, drawn by chance.

The odd encoders choose layers, layouts, codecs, chunks and widths at random; the seeds named here
draw what no other case shows. The frozen files are those that the encoder drew when they were made:
it draws others since it has learned more oddities.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion
from lanceref_testing.odd_files import odd_file
from lanceref_testing.oddities import Chance

from lance_conformance.recipes.model import DATA, Made, Positive

_Items = Callable[[int], pa.Array]


class _Chance:
    """Columns of one seed."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._rows = self._rng.choice((40, 120, 400))

    def flat(self) -> pa.Table:
        """Return four columns of many types, or lists of numbers or strings."""
        rows, numbers = self._rows, self._numbers
        runs = np.repeat(numbers.integers(0, 9, rows // 8), 8).astype(np.int8)
        urls = [f"http://a.b/{i % 13}/index.html" for i in range(rows)]
        vectors = pa.array(numbers.standard_normal(2 * rows), pa.float32())
        columns = {
            "runs": pa.array(runs, mask=self._nulls(0.2)),
            "float": pa.array(numbers.standard_normal(rows), pa.float32()),
            "double": pa.array(numbers.standard_normal(rows), mask=self._nulls(0.5)),
            "urls": pa.array(urls, mask=self._nulls(0.1)),
            "vectors": pa.FixedSizeListArray.from_arrays(vectors, 2),
            "decimals": pa.array(range(rows)).cast(pa.decimal128(20, 0)),
            "lists": self._lists(self._integers(pa.int16()), rows),
            "words": self._lists(lambda count: pa.array(urls * 3).slice(0, count), rows),
            "integers": pa.array(numbers.integers(0, 1000, rows), pa.int64()),
        }
        return pa.table({name: columns[name] for name in self._rng.sample(list(columns), 4)})

    def nested(self) -> pa.Table:
        """Return a column of lists of lists of lists."""
        inner = self._integers(pa.int8())
        return pa.table({"c": self._lists(lambda n: self._twice(inner, n), self._rows // 8)})

    def _twice(self, items: _Items, count: int) -> pa.Array:
        return self._lists(lambda inner_count: self._lists(items, inner_count), count)

    def _nulls(self, share: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return self._numbers.random(self._rows) < share

    def _integers(self, type_: pa.DataType) -> _Items:
        return lambda count: pa.array(self._numbers.integers(0, 50, count), type_)

    def _lists(self, items: _Items, count: int) -> pa.Array:
        """Return lists of up to three items, of which some may be empty and some null."""
        lengths = self._numbers.integers(self._rng.randrange(2), 4, count)
        nulls = self._numbers.random(count) < self._rng.choice((0, 0.3))
        offsets = np.append(0, np.cumsum(np.where(nulls, 0, lengths)))
        mask = pa.array(nulls) if nulls.any() else None
        ends = pa.array(offsets, pa.int32())
        return pa.ListArray.from_arrays(ends, items(int(offsets[-1])), mask=mask)


def odd(version: FileVersion, seed: int, nested: bool) -> Callable[[], Made]:
    """Return a maker of the odd file of a seed."""

    def make() -> Made:
        table = _Chance(seed).nested() if nested else _Chance(seed).flat()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, DATA)
            odd_file(path, table, version, Chance(seed))
            return Made({DATA: path.read_bytes()}, table, made_by="hand")

    return make


def _case(version: FileVersion, seed: int, nested: bool = False) -> Positive:
    slug = f"{'nested' if nested else 'flat'}-{seed}"
    return Positive(
        id=f"file/{version}/odd/{slug}",
        title=f"{'lists of lists of lists' if nested else 'four columns'}, encoded by chance",
        clauses=("L.page.layers.code", "L.page.miniblock.log"),
        make=odd(version, seed, nested),
        version=str(version),
        reachable=False,
    )


POSITIVES: tuple[Positive, ...] = (
    _case(V2_1, 84),
    _case(V2_1, 53, nested=True),
    _case(V2_1, 54, nested=True),
    _case(V2_2, 70),
    _case(V2_3, 168),
    _case(V2_3, 75, nested=True),
)
"""The odd files that were drawn."""
