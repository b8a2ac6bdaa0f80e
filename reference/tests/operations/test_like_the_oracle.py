"""Operations as the oracle performs them: rows, fragments, fields and refusals as one table."""

import importlib
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.table.lineage import decode_row_ids
from lanceref_testing.table_facts import facts

from tests.table.states import add, alter

pytestmark = pytest.mark.oracle

REFUSALS = (
    *(ValueError, OSError, TypeError, KeyError, RuntimeError, NotImplementedError),
    pa.ArrowException,
)

NESTED = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.struct([("p", pa.int8())]))])


def _rows(start: int = 0, stop: int = 12) -> pa.Table:
    """Return keys, numbers, words with nulls, and structs with nulls."""
    numbers = range(start, stop)
    return pa.table(
        {
            "k": pa.array(numbers, pa.int64()),
            "b": pa.array([10 * n for n in numbers], pa.int64()),
            "s": pa.array([None if n % 5 == 2 else f"w{n}" for n in numbers], pa.string()),
            "n": pa.array(
                [None if n % 4 == 3 else {"x": n, "y": "q", "z": {"p": n % 7}} for n in numbers],
                NESTED,
            ),
        }
    )


def _source(*keys: int | None, **columns: list[object]) -> pa.Table:
    """Return rows of a merge: keys and new values of `b`."""
    b = pa.array(range(1, len(keys) + 1), pa.int64())
    return pa.table({"k": pa.array(keys, pa.int64()), "b": b, **columns})


def _merge(build, source: pa.Table, on: object = "k"):
    return lambda dataset: build(dataset.merge_insert(on)).execute(source)


def _all(merge):
    return merge.when_matched_update_all().when_not_matched_insert_all()


FEW, TWICE = _source(100, 2, 9), _source(2, 2)

MERGES = {
    "update": _merge(lambda m: m.when_matched_update_all(), FEW),
    "update, of the source": _merge(lambda m: m.when_matched_update_all("source.b > 2"), FEW),
    "update, of the target": _merge(lambda m: m.when_matched_update_all("target.b < 50"), FEW),
    "update and insert": _merge(_all, FEW, "`K`"),
    "a key below a column": _merge(_all, FEW, "s.x"),
    "update of every column": _merge(_all, _rows(9, 14)),
    "insert": _merge(lambda m: m.when_not_matched_insert_all(), FEW),
    "delete": _merge(lambda m: m.when_matched_delete(), FEW),
    **{
        f"{act}, {name}": _merge(lambda m, act=act: getattr(m, act)(), pa.table(columns))
        for act in ("when_matched_delete", "when_not_matched_by_source_delete")
        for name, columns in {
            "other columns": {"k": [1], "other": [1]},
            "a column of another type": {"k": [1], "s": [5]},
            "narrow keys": {"k": pa.array([1], pa.int32())},
            "keys as text": {"k": ["1"]},
            "null keys": {"k": pa.array([None, 1], pa.int64()), "other": [1, 2]},
        }.items()
    },
    "fail": _merge(lambda m: m.when_matched_fail(), FEW),
    "fail without a match": _merge(
        lambda m: m.when_matched_fail().when_not_matched_insert_all(), _source(100)
    ),
    "delete others": _merge(lambda m: m.when_not_matched_by_source_delete(), FEW),
    "delete some others": _merge(lambda m: m.when_not_matched_by_source_delete("k < 5"), FEW),
    "replace": _merge(lambda m: _all(m).when_not_matched_by_source_delete(), FEW),
    "a row twice": _merge(_all, TWICE),
    "a row twice, one of them": _merge(lambda m: m.when_matched_update_all("source.b > 1"), TWICE),
    "delete a row twice": _merge(lambda m: m.when_matched_delete(), TWICE),
    "null keys": _merge(_all, _source(None, 3)),
    "two keys": _merge(_all, _source(1, 2, s=["w1", "zz"]), ["k", "s"]),
    "some columns": _merge(lambda m: m.when_matched_update_all(), FEW.select(["k", "b"])),
    "without the index": _merge(lambda m: m.when_matched_update_all().use_index(False), FEW),
    "no action": _merge(lambda m: m, FEW),
    "an unknown key": _merge(_all, FEW, "zz"),
}

UPDATES = {
    "update some": lambda d: d.update({"b": "k + 1", "s": "'new'"}, where="k % 3 = 1"),
    "update all": lambda d: d.update({"b": "b * 2"}),
    "update none": lambda d: d.update({"b": "0"}, where="k > 100"),
    "update to a fraction": lambda d: d.update({"b": "k / 2.0 + 0.7"}, where="k < 4"),
    "update columns of an unknown name": lambda d: d.get_fragments()[0].update_columns(
        _source(1, zz=[1]), "k"
    ),
    "update a column of the table": lambda d: d.get_fragments()[0].update_columns(
        _source(1, _rowaddr=[1]), "k"
    ),
    "update nothing": lambda d: d.update({}),
    "update an unknown column": lambda d: d.update({"zz": "1"}),
    "update to another type": lambda d: d.update({"k": "'x'"}),
    "delete some": lambda d: d.delete("k in (0, 5, 11)"),
    "delete a fragment": lambda d: d.delete("k < 4"),
    "delete all": lambda d: d.delete("true"),
    "delete none": lambda d: d.delete("k > 100"),
    "delete by the null of a word": lambda d: d.delete("s is null"),
}


def _drop(*names: str):
    return lambda dataset: dataset.drop_columns(list(names))


def _add_by_a_function(dataset) -> None:
    module = importlib.import_module(type(dataset).__module__.partition(".")[0])

    @module.batch_udf()
    def plus(batch):
        return pa.record_batch({"w": pa.array([1 + n for n in batch["k"].to_pylist()])})

    dataset.add_columns(plus, read_columns=["k"])


CAST_IN_A_LIST = alter(path="w.item.x", data_type=pa.int64())
COLUMNS = {
    "drop": _drop("s"),
    "drop below a struct": _drop("n.z.p", "n.x"),
    "drop all": _drop("k", "b", "s", "n"),
    "drop an unknown one": _drop("zz"),
    "drop in backticks, twice and below each other": _drop("s", "s", "`n`.`x`", "n.z", "n.z.p"),
    "rename": alter(path="s", name="t"),
    "rename below a struct": alter(path="n.y", name="yy"),
    "rename to a known name": alter(path="s", name="b"),
    "alter an unknown one": alter(path="zz", name="q"),
    "alter nothing": alter(path="k"),
    "make nullable": alter(path="k", nullable=True),
    "make strict": alter(path="b", nullable=False),
    "make strict with nulls": alter(path="s", nullable=False),
    "make strict and cast": alter(path="b", nullable=False, data_type=pa.int32()),
    "cast": alter(path="b", data_type=pa.int32()),
    "cast below structs": alter(path="n.z.p", data_type=pa.int32()),
    "cast in a list": lambda d: (add({"w": "make_array(n, n)"})(d), CAST_IN_A_LIST(d)),
    "cast to another kind": alter(path="b", data_type=pa.string()),
    "add by an expression": add({"w": "b + 1", "v": "upper(s)"}),
    "add moments and quotients": add(
        {"w": "timestamp '2020-01-02'", "v": "arrow_cast(k, 'UInt64') / 3 / (b + 7)"}
    ),
    "add nulls": add(pa.schema([("w", pa.list_(pa.int8()))])),
    "add nulls of strict items": add(pa.schema([("w", pa.list_(pa.field("a", pa.int8(), False)))])),
    "add nulls by an expression": add({"w": "CAST(NULL AS INT)", "v": "cast(null as string)"}),
    "add what is computed as null": add({"w": "CAST(NULL AS INT) + 1"}),
    "add by a reader": add(pa.table({"w": range(12)})),
    "add by a reader of live rows": add(pa.table({"w": range(8)})),
    "add what was dropped": lambda d: (d.drop_columns(["s"]), d.add_columns({"s": "b * 2"})),
    "add a known name": add({"s": "k"}),
    "add by an unknown column": add({"w": "zz + 1"}),
    "add by a function": _add_by_a_function,
    "index an unknown column": lambda d: d.create_scalar_index("zz", "BTREE"),
    "index a struct": lambda d: d.create_scalar_index("n", "BTREE"),
    "merge": lambda d: d.merge(pa.table({"kk": [1, 7, 50], "w": ["x", "y", "z"]}), "k", "kk"),
}


def _compact(**options: object):
    return lambda dataset: dataset.optimize.compact_files(**options)


COMPACTIONS = {
    f"compact {options}": _compact(**options)
    for options in (
        {},
        {"target_rows_per_fragment": 4},
        {"target_rows_per_fragment": 5},
        {"target_rows_per_fragment": 8},
        {"target_rows_per_fragment": 3, "materialize_deletions_threshold": 0.5},
        {"target_rows_per_fragment": 3, "materialize_deletions_threshold": 0.75},
        {"target_rows_per_fragment": 3, "materialize_deletions": False},
        {"target_rows_per_fragment": 100, "materialize_deletions": False},
    )
}

METRICS = ("fragments_removed", "fragments_added", "files_removed", "files_added")
"""What a compaction tells."""

OPERATIONS: dict[str, Callable[[object], object]] = {**MERGES, **UPDATES, **COLUMNS, **COMPACTIONS}
PRIMARY = {"lance-schema:unenforced-primary-key": "true"}


def _table(module, uri: str, stable: bool, deleted: str | None, kind: str = "plain"):
    rows = _rows()
    if kind == "primary key":
        key = pa.field("k", pa.int64(), nullable=False, metadata=PRIMARY)
        rows = rows.set_column(0, key, rows["k"])
    made = module.write_dataset(
        rows, uri, max_rows_per_file=4, enable_stable_row_ids=stable, data_storage_version="2.1"
    )
    if kind in ("BTREE", "BITMAP"):
        made.create_scalar_index("k", kind)
    if deleted:
        made.delete(deleted)
    return module.dataset(uri)


def _row_ids(fragment) -> list[int]:
    """Return the ids of all rows, deleted ones too; their segments are the writer's choice."""
    if not fragment.inline_row_ids:
        return []
    rows, ctx = fragment.physical_rows, Context("manifest")
    ids = decode_row_ids(fragment.inline_row_ids, rows, ctx, ctx.at(0))
    return ids.at(np.arange(rows)).tolist()


def _state(uri: str) -> tuple[object, ...]:
    """Return what a table holds: rows, the ids of all, and what manifest and transaction say."""
    dataset = pylanceref.dataset(uri)
    manifest = dataset._snapshot.manifest
    columns = [*dataset.schema.names, "_row_last_updated_at_version", "_row_created_at_version"]
    rows = dataset.to_table(columns) if dataset.schema.names else None
    return (
        rows and sorted(map(str, rows.to_pylist())),
        [_row_ids(one) for one in manifest.message.fragments],
        facts(manifest, uri),
    )


def _states(tmp_path, name: str, *how: object) -> list[object]:
    """Return what becomes of the table of each library, and whether it refused or what it told."""
    found = []
    for library in ("lance", "pylanceref"):
        uri = str(tmp_path / f"{library}{len(list(tmp_path.iterdir()))}")
        made = _table(importlib.import_module(library), uri, *how)
        try:
            result = OPERATIONS[name](made)
        except REFUSALS:
            result = "refused"
        told = [getattr(result, name, None) for name in METRICS]
        counts = result if isinstance(result, dict) else (result == "refused", told)
        found.append((counts, _state(uri)))
    return found


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable ids"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_leaves_the_same_table(tmp_path, name, stable):
    """Both perform it alike on whole fragments and on some with deleted rows, or refuse it."""
    for deleted in (None, "k in (1, 2, 3, 9)"):
        theirs, ours = _states(tmp_path, name, stable, deleted)
        assert theirs == ours


CASTS = (
    *(pa.decimal128(20, 3), pa.date32(), pa.timestamp("ns", "Europe/Paris"), pa.float16()),
    *(pa.dictionary(pa.int8(), pa.int32()), pa.binary(), pa.string(), pa.list_(pa.int8())),
)

TEXTS = ("1", "k", "concat('x', k)", "1.5", "'7'", "k = 1", "timestamp '2020-01-02T03:04:05'")


@pytest.mark.parametrize("type_", CASTS, ids=str)
def test_an_update_casts_numbers_texts_and_moments(tmp_path, type_):
    """To the type of the column, or it is refused by both."""
    found = {}
    for library in (importlib.import_module("lance"), pylanceref):
        rows, tables = pa.table({"k": [1], "a": pa.nulls(1, type_)}), found.setdefault(library, [])
        made = library.write_dataset(rows, tmp_path / library.__name__)
        for text in TEXTS:
            with suppress(*(REFUSALS if library is not pylanceref else [LanceError])):
                made.update({"a": text})
            tables.append(made.to_table())
    theirs, ours = found.values()
    assert theirs == ours


BY_KEY = [
    *("update", "update, of the source", "update and insert", "update of every column"),
    *("delete", "delete others", "replace", "a row twice", "columns", "rows", "without the index"),
]
"""Merges whose rows both libraries find by an index too; D.txn.merge-null-key differs."""


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP", "primary key"])
@pytest.mark.parametrize("name", BY_KEY)
def test_a_merge_by_an_indexed_or_primary_key_is_written_alike(tmp_path, name, kind):
    """Both choose rows or columns alike, list the same inserted keys, and keep the same index."""
    theirs, ours = _states(tmp_path, name, True, "k = 3", kind)
    if name == "delete":  # the oracle lists the fields below structs too
        for _, (_, _, told) in (theirs, ours):
            told["transaction"]["update"].pop("fields_for_preserving_frag_bitmap", None)
    assert theirs == ours


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
@pytest.mark.parametrize("name", MERGES)
def test_a_merge_by_an_index_leaves_the_rows_of_one_without(tmp_path, name, kind):
    """Null keys, rows that match twice and conditions are the same by an index and by a scan."""
    rows = []
    for one in ("plain", kind):
        made = _table(pylanceref, str(tmp_path / one), False, "k = 3", one)
        with suppress(*REFUSALS):
            OPERATIONS[name](made)
        rows.append(sorted(map(str, pylanceref.dataset(made.uri).to_table().to_pylist())))
    assert rows[0] == rows[1]
