"""Indices through histories of a table: the oracle covers the same fragments and finds the same."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.transactions.index_entries import covered
from lanceref.transactions.manifest_builder import REUSE_INDEX

pytestmark = pytest.mark.oracle

REFUSALS = (ValueError, OSError, RuntimeError, NotImplementedError, pa.ArrowException)

Step = Callable[[object], object]

POINTS = pa.field("g", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb"})
VECTORS = pa.field("v", pa.list_(pa.float32(), 4))
SCHEMA = pa.schema(
    [
        *(("k", pa.int64()), ("i", pa.int64()), ("s", pa.string()), ("t", pa.string())),
        *(("l", pa.list_(pa.string())), POINTS, VECTORS),
    ]
)


def _rows(start: int, stop: int) -> pa.Table:
    """Return numbers, words, lists of them, points and vectors."""
    made = [
        {
            "k": n,
            "i": n * 7 % 50,
            "s": f"w{n % 5} word{n % 3}",
            "t": f"text {n % 5} of many words",
            "l": ["a"] if n % 2 else ["a", "b"],
            "g": struct.pack("<BIdd", 1, 1, n, n),
            "v": [float(n % 8)] * 4,
        }
        for n in range(start, stop)
    ]
    return pa.Table.from_pylist(made, SCHEMA)


def _index(column: str, kind: str, **more: object) -> Step:
    return lambda dataset: dataset.create_scalar_index(column, kind, **more)


def _segments(column: str, kind: str) -> Step:
    """Build an index of one segment for each of three fragments."""

    def build(dataset) -> None:
        built = [
            dataset.create_index_uncommitted(column, kind, fragment_ids=[number])
            for number in range(3)
        ]
        dataset.commit_existing_index_segments(f"{column}_idx", column, built)

    return build


def _vectors(dataset) -> None:
    dataset.create_index("v", "IVF_FLAT", ivf_centroids=np.float32([[1] * 4, [5] * 4]))


def _optimize(**options: object) -> Step:
    return lambda dataset: dataset.optimize.optimize_indices(**options)


def _compact(**options: object) -> Step:
    return lambda dataset: dataset.optimize.compact_files(**options)


def _defer(rows: int) -> Step:
    return _compact(target_rows_per_fragment=rows, defer_index_remap=True)


def _insert(start: int, stop: int) -> Step:
    return lambda dataset: dataset.insert(_rows(start, stop))


def _delete(where: str) -> Step:
    return lambda dataset: dataset.delete(where)


def _update(where: str) -> Step:
    return lambda dataset: dataset.update({"i": "i + 100"}, where=where)


def _late(step: Step, index: Step) -> Step:
    """Do something to the latest version, and index the one before."""

    def act(dataset) -> None:
        step(type(dataset)(dataset.uri))
        index(dataset)

    return act


SCALARS = (_index("i", "BTREE"), _index("s", "BITMAP"), _index("l", "LABEL_LIST"))
PARTS = (
    *(_segments("i", "BTREE"), _segments("s", "INVERTED")),
    *(_segments("g", "RTREE"), _segments("t", "MINHASHLSH")),
    _delete("k % 10 = 3"),
)

HISTORIES: dict[str, tuple[Step, ...]] = {
    "new rows join the last segment": (*SCALARS, _insert(30, 35), _optimize(), _optimize()),
    "new rows in a segment of their own, then in one": (
        *(*SCALARS, _insert(30, 35), _optimize(num_indices_to_merge=0)),
        _optimize(index_names=["i_idx"], num_indices_to_merge=9),
        _optimize(retrain=True),
    ),
    "all rows are replaced": (
        *(*SCALARS, _delete("k >= 5"), _insert(30, 32), _optimize(), _delete("true")),
        *(_insert(32, 35), _optimize()),
    ),
    "rows are updated": (_segments("i", "BTREE"), _update("k = 3"), _optimize()),
    "compactions between": (
        *(*SCALARS, _insert(30, 35), _compact(target_rows_per_fragment=20), _optimize()),
        *(_insert(35, 42), _optimize(num_indices_to_merge=0), _delete("k = 21")),
        *(_update("k = 22"), _compact(), _optimize(num_indices_to_merge=10)),
    ),
    "segments without new rows": (*PARTS, _optimize()),
    "segments without new rows, retrained": (*PARTS, _optimize(retrain=True)),
    "segments without new rows, one merged": (*PARTS, _optimize(num_indices_to_merge=1)),
    "segments without new rows, two merged": (*PARTS, _optimize(num_indices_to_merge=2)),
    "deferred compactions": (
        *(_index("i", "BTREE"), _index("k", "ZONEMAP"), _delete("k % 7 = 0"), _defer(15)),
        *(_delete("k = 5"), _defer(40), _optimize(num_indices_to_merge=9)),
    ),
    "an index of rows that moved meanwhile": (
        *(_index("k", "BTREE"), _delete("k in (5, 21)")),
        _late(_defer(15), _index("i", "BITMAP")),
    ),
    "an index of rows that moved without a record": (_late(_defer(15), _index("i", "BITMAP")),),
    "rows that moved again and again, without an index in the end": (
        *(_index("i", "BTREE"), _defer(40), _insert(30, 35), _optimize(), _defer(60)),
        *(_insert(35, 40), _optimize(), _defer(100)),
        *(lambda dataset: dataset.drop_index("i_idx"), _insert(40, 45), _defer(100)),
    ),
    "an index of rows that moved, dropped meanwhile": (
        *(_index("t", "BITMAP"), _index("k", "BTREE")),
        _late(lambda dataset: dataset.drop_columns(["t"]), _compact(target_rows_per_fragment=20)),
    ),
    "texts that moved": (
        *(_index("s", "NGRAM"), _defer(40), _insert(30, 35), _optimize()),
        *(_insert(35, 40), _optimize()),
    ),
    "vectors of a fragment that is gone": (_vectors, _delete("k < 10"), _optimize()),
    "vectors of rows that moved": (
        *(_vectors, _update("k >= 20"), _optimize(num_indices_to_merge=1)),
    ),
    "vectors of which none is left": (
        *(_vectors, _update("k >= 0"), _optimize(num_indices_to_merge=0)),
    ),
    "vectors of no row": (_vectors, _delete("true"), _optimize(num_indices_to_merge=1)),
    "vectors of no row, retrained": (_vectors, _delete("true"), _optimize(retrain=True)),
}

CONDITIONS = (
    *("i = 3", "i > 40", "not (i = 3)", "k between 4 and 22", "s = 'w3 word0'"),
    *("array_has(l, 'b')", "contains(s, 'word1')", "i in (3, 103)"),
)


def _indices(uri: str) -> list[tuple[object, ...]]:
    dataset = pylanceref.dataset(uri)
    listed = dataset.list_indices()
    moved = [one for one in dataset._snapshot.manifest.indices if one.name == REUSE_INDEX]
    return [
        *((list(covered(one)), one.dataset_version) for one in moved),
        *sorted((one["name"], sorted(one["fragment_ids"]), one["version"]) for one in listed),
    ]


def _found(module, uri: str) -> list[object]:
    """Return the keys that each condition finds, asked of the indices."""
    dataset = module.dataset(uri)
    return [sorted(dataset.to_table(["k"], filter=one)["k"].to_pylist()) for one in CONDITIONS]


def _scanned(uri: str) -> list[object]:
    dataset = pylanceref.dataset(uri)
    return [
        sorted(dataset.to_table(["k"], filter=one, use_scalar_index=False)["k"].to_pylist())
        for one in CONDITIONS
    ]


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable ids"])
@pytest.mark.parametrize("name", HISTORIES)
def test_the_oracle_covers_and_finds_the_same(tmp_path, name, stable):
    """After every step segments, their fragments and versions are equal; answers are a scan's."""
    modules = [importlib.import_module(one) for one in ("lance", "pylanceref")]
    uris = [str(tmp_path / one.__name__) for one in modules]
    for module, uri in zip(modules, uris, strict=True):
        module.write_dataset(_rows(0, 30), uri, max_rows_per_file=10, enable_stable_row_ids=stable)
    for number, step in enumerate(HISTORIES[name]):
        refused = []
        for module, uri in zip(modules, uris, strict=True):
            try:
                step(module.dataset(uri))
            except REFUSALS:
                refused.append(uri)
        assert refused in ([], uris), number
        assert _indices(uris[0]) == _indices(uris[1]), number
        wanted = _scanned(uris[1])
        for uri in uris:
            assert wanted == _found(pylanceref, uri), number
        assert wanted == _found(modules[0], uris[1]), number
    nearest = {"column": "v", "q": [2.0] * 4, "k": 50, "nprobes": 2}
    for uri in uris:
        dataset = pylanceref.dataset(uri)
        assert dataset.count_rows() == dataset.to_table(nearest=nearest).num_rows
