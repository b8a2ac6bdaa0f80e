"""Cases of tables that an implementation writes and changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.cases.transactions.commits import VERSIONS, rows
from lance_conformance.recipes.constructors import act
from lance_conformance.recipes.model import Plan, Recipe
from lance_conformance.recipes.model import Step as model_Step
from lance_conformance.recipes.oracle_files import write
from lance_conformance.recipes.scenario_plans import step_plan

INPUT = "input.arrow"
"""Name of the rows that are written."""

_MIXED = pa.table({"n": pa.array([1, None, 3], pa.int32()), "s": pa.array(["ä", "", None]),
        "l": pa.array([[1.5], None, []], pa.list_(pa.float64())), "r": pa.array(
            [{"x": 1}, {"x": None}, {"x": 2}], pa.struct({"x": pa.int64()}))})  # fmt: skip


def _write(mode: str, version: str = "2.1", **options: object) -> model_Step:
    named = {"options": options} if options else {}
    return model_Step("write.dataset", {"input": INPUT, "mode": mode, "version": version, **named})


def _mutate(verb: str, **args: object) -> model_Step:
    return model_Step("mutate", {"verb": verb, "args": args})


def _created(table: pa.Table, *steps: model_Step, **facts: object) -> Callable[[], Plan]:
    """Return a maker of a plan that begins with no table; `table` is written and then held."""

    def make() -> Plan:
        return Plan({}, steps, table, manifest=facts, inputs={INPUT: table})

    return make


def created(table: pa.Table, version: str) -> Plan:
    """Return the plan of a new table of files of a version."""
    facts = {"version": "1", "data_format": {"version": version}}
    return Plan({}, (_write("create", version),), table, manifest=facts, inputs={INPUT: table})


def _six(uri: str, **options: object) -> None:
    write(rows(0, 6), uri, data_storage_version="2.1", max_rows_per_file=3, **options)


def _changed(
    table: pa.Table,
    *steps: model_Step,
    source: pa.Table | None = None,
    read: Mapping[str, object] | None = None,
    **facts: object,
) -> Callable[[], Plan]:
    """Return a maker of a plan on the table of six rows in two fragments; `table` is left."""

    def build(uri: str) -> pa.Table:
        _six(uri)
        return table

    inputs = {} if source is None else {INPUT: source}
    return step_plan(build, *steps, inputs=inputs, read=read, manifest=facts)


def _tagged(uri: str) -> pa.Table:
    _six(uri)
    made = write(rows(6, 8), uri, mode="append")
    made.tags.create("kept", 1)
    made.delete("a < 7")
    return rows(0, 6)


def _stable(uri: str) -> pa.Table:
    _six(uri, enable_stable_row_ids=True)
    columns = {VERSIONS[0]: [1] * 6, VERSIONS[1]: [1] * 5 + [2], "_rowid": [0, 2, 3, 4, 5, 1]}
    table = pa.table({name: pa.array(values, pa.uint64()) for name, values in columns.items()})
    return table.add_column(0, "a", pa.array([0, 2, 3, 4, 5, 1], pa.int64()))


_MERGED = pa.table({"a": [5, 6], "b": [55, 66]})
_ROWS = 3000
"""Rows of the tables that need several chunks of a page."""

_PAIR = pa.struct({"x": pa.int32(), "y": pa.string()})


def _numbers(type_: pa.DataType) -> pa.Array:
    edges = [0, 1, None, 2 ** (type_.bit_width - 1) - 1]
    if pa.types.is_signed_integer(type_):
        return pa.array([*edges, -(2 ** (type_.bit_width - 1))], type_)
    return pa.array([*edges, 2**type_.bit_width - 1], type_)


def _moments(type_: pa.DataType, each: int = 1) -> pa.Array:
    """Return three moments, of which one is null."""
    whole = pa.int32() if type_.bit_width == 32 else pa.int64()
    return pa.array([3 * each, None, 7 * each], whole).view(type_)


_DECIMALS = [Decimal("1.25"), None, Decimal("-99999999.99")]
_PAIRS = [{"x": 1, "y": "a"}, None, {"x": None, "y": ""}]


def _random(count: int, most: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, most, count)


def _vectors(type_: pa.DataType, dimension: int) -> pa.Array:
    values = pa.array(_random(4 * dimension, 100), pa.int64()).cast(type_)
    mask = pa.array([False, True, False, False])
    return pa.FixedSizeListArray.from_arrays(values, dimension, mask=mask)


TABLES: dict[str, tuple[str, pa.Table, str]] = {
    "integers": ("integers of every width, their least and greatest", pa.table(
            {str(type_): _numbers(type_) for type_ in (pa.int8(), pa.int16(), pa.int32(),
                    pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())}), "2.0"),
    "floats": ("floats of three widths, with NaN, infinity and the negative zero",
        pa.table({"h": pa.array([1.5, None, -0.0], pa.float16()),
                "f": pa.array([float("nan"), None, float("inf")], pa.float32()),
                "d": pa.array([0.1, None, float("-inf")], pa.float64())}), "2.0"),
    "booleans": ("booleans, nine of them", pa.table({"b": [True, None, False] * 3}), "2.0"),
    "strings": ("strings, empty ones and nulls; no string is not null",
        pa.table({"s": ["ä", "", None], "t": ["x", "yy", "zzz"], "u": pa.nulls(3, pa.string())}),
        "2.0"), "binary": ("binary, large strings and large binary",
        pa.table({"b": pa.array([b"\x00", b"", None], pa.binary()),
                "s": pa.array(["a", None, "b"], pa.large_string()),
                "l": pa.array([None, b"\xff", b""], pa.large_binary())}), "2.0"),
    "fixed-binary": ("binary of 16 bytes a value",
        pa.table({"f": pa.array([bytes(16), None], pa.binary(16))}), "2.0"),
    "moments": ("dates, times, timestamps, durations", pa.table({"date32": _moments(pa.date32()),
                "date64": _moments(pa.date64(), 86_400_000), "time32": _moments(pa.time32("ms")),
                "time64": _moments(pa.time64("us")), "timestamp": _moments(pa.timestamp("us")),
                "zoned": _moments(pa.timestamp("ns", "Asia/Tokyo")),
                "duration": _moments(pa.duration("s"))}), "2.0"),
    "decimals": ("decimals of 128 and 256 bits",
        pa.table({"d": pa.array(_DECIMALS, pa.decimal128(10, 2)),
                "w": pa.array(_DECIMALS, pa.decimal256(60, 2))}), "2.0"),
    "lists": ("lists of numbers and of strings: null, empty, with nulls",
        pa.table({"n": pa.array([[1, None], None, []], pa.list_(pa.int32())),
                "s": pa.array([["a", ""], [None], None], pa.list_(pa.string()))}), "2.0"), "nested":
    ("structs, lists of them, lists of lists", pa.table({"structs": pa.array(_PAIRS, _PAIR),
                "lists": pa.array([[_PAIRS[0], None], [], None], pa.list_(_PAIR)),
                "deep": pa.array([[[1, None], None], None, [[]]], pa.list_(pa.list_(pa.int16())))}),
        "2.1"), "vectors": ("vectors of 128 floats, and of three small integers",
        pa.table({"v": _vectors(pa.float32(), 128), "i": _vectors(pa.int8(), 3)}), "2.1"),
    "small-numbers": ("three thousand numbers of few bits",
        pa.table({"n": pa.array(_random(_ROWS, 11), pa.int32())}), "2.0"),
    "runs": ("three thousand numbers in long runs",
        pa.table({"n": pa.array(np.arange(_ROWS) // 400, pa.int64())}), "2.0"),
    "words": ("three thousand strings of which few differ",
        pa.table({"s": pa.array([f"word {n}" for n in _random(_ROWS, 9)])}), "2.0"),
    "texts": ("three thousand strings that all differ, and share much",
        pa.table({"s": pa.array([f"https://example.org/{n * 7919}" for n in range(_ROWS)])}),
        "2.0"), "long-values": ("values of forty thousand bytes",
        pa.table({"b": pa.array([bytes([n]) * 40_000 for n in range(3)] + [None], pa.binary())}),
        "2.0"),
    "large-chunks": ("byte strings in larger chunks than 2.1 states, by their metadata",
        pa.table([[b"%05d" % n for n in range(5000)]], pa.schema([pa.field("b", pa.binary(),
                        metadata={"lance-encoding:minichunk-size": "40000"})])), "2.1"),
    "constant": ("one value, again and again", pa.table({"n": [5] * 700, "s": ["x"] * 700}), "2.0"),
    "nulls": ("columns of nulls",
        pa.table({"n": pa.nulls(4, pa.int64()), "z": pa.nulls(4), "s": pa.nulls(4, _PAIR)}), "2.1"),
    "many-columns": ("forty columns of two rows",
        pa.table({f"c{n}": pa.array([n, None], pa.int16()) for n in range(40)}), "2.0"),
    "dictionary": ("a column of Arrow's dictionary type",
        pa.table({"d": pa.array(["b", None, "a", "b"]).dictionary_encode()}), "2.0"),
    "maps": ("maps, null and empty ones",
        pa.table({"m": pa.array([[("a", 1), ("b", None)], None, []], pa.map_("string", "int32"))}),
        "2.2"), "pairs-of-structs": ("fixed-size lists of structs",
        pa.table({"p": pa.array([[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]],
                    pa.list_(pa.struct({"x": pa.int32()}), 2))}), "2.2")}  # fmt: skip
"""Title, table, and the first file version that can hold it, by slug."""


CASES: tuple[Recipe, ...] = (
    *(act(f'table/any/writing/create-{version.replace(".", "-")}',
            f"a new table of {version} files",
            ("L.table.format.version", "L.table.datafile.version", "L.table.fragments.rows"),
            partial(created, _MIXED, version), allowed=("committed",))
        for version in ("2.0", "2.1", "2.2")),
    act("table/any/writing/fragments", "a new table of three fragments of two rows",
        ("L.table.fragments.order", "L.table.fragments.max-id"),
        _created(rows(0, 6), _write("create", max_rows_per_file=2),
            fragments=[{"id": "0"}, {"id": "1"}, {"id": "2"}], max_fragment_id=2)),
    act("table/any/writing/no-rows", "a new table without a row", "L.table.fragments.max-id",
        _created(rows(0, 0), _write("create"))),
    act("table/any/writing/stable", "a new table whose rows keep their ids",
        ("L.table.flags.stable-row-ids", "L.table.row-ids.next"),
        _created(rows(0, 3), _write("create", enable_stable_row_ids=True), next_row_id="3")),
    act("table/any/writing/create-again", "a table is not created twice", (),
        _changed(rows(0, 6), _write("create"), given=rows(6, 8), version="1"),
        broken=("L.txn.commit.exclusive",), allowed=("refused", "conflict")),
    act("table/any/writing/append", "rows appended to a table",
        ("L.table.naming.v2", "L.table.manifest.footer"),
        _changed(rows(0, 8), _write("append"), given=rows(6, 8), version="2")),
    act("table/any/writing/append-other-version", "files of another version appended",
        ("L.table.flags.paired", "L.table.flags.content"),
        _changed(rows(0, 8), _write("append", "2.2"), given=rows(6, 8), reader_feature_flags="256",
            writer_feature_flags="256")),
    act("table/any/writing/overwrite", "another table in place of the rows", "L.txn.op.overwrite",
        _changed(_MIXED, _write("overwrite"), given=_MIXED, version="2", max_fragment_id=2)),
    act("table/any/writing/delete", "rows deleted by a predicate",
        ("L.txn.op.delete", "L.table.deletions.count"), _changed(rows(0, 6).take([0, 2, 4, 5]),
            _mutate("delete", predicate="a = 1 OR b = 30"), version="2")),
    act("table/any/writing/delete-all", "every row deleted", "L.txn.op.delete", _changed(rows(0, 0),
            _mutate("delete", predicate="a >= 0"), fragments=[], max_fragment_id=1)),
    act("table/any/writing/delete-twice", "rows of one fragment deleted by two commits",
        ("L.txn.op.delete", "L.table.deletions.arrow-distinct"),
        _changed(rows(2, 6), _mutate("delete", predicate="a = 0"),
            _mutate("delete", predicate="a = 1"), version="3")),
    act("table/any/writing/update", "values changed by an expression", "L.txn.op.update", _changed(
            pa.concat_tables([rows(0, 6).take([0, 2, 3, 4, 5]), pa.table({"a": [1], "b": [11]})]),
            _mutate("update", updates={"b": "b + 1"}, where="a = 1"), version="2")),
    act("table/any/writing/merge-insert", "rows updated and inserted by their key",
        "L.txn.op.update", _changed(pa.concat_tables([rows(0, 5), _MERGED]), _mutate("merge_insert",
                on=["a"], input=INPUT, when_matched="update_all", when_not_matched="insert_all"),
            given=_MERGED, version="2")),
    act("table/any/writing/compact", "two fragments with a deletion made one", "L.txn.op.rewrite",
        _changed(rows(0, 6).take([0, 2, 3, 4, 5]), _mutate("delete", predicate="a = 1"),
            _mutate("compact", materialize_deletions_threshold=0.0),
            fragments=[{"physical_rows": "5", "deletion_file": None}]),
        allowed=("committed", "rebased")),
    act("table/any/writing/add-columns", "a column by an expression", "L.txn.op.merge",
        _changed(rows(0, 6).append_column("c", pa.array(range(1, 7), pa.int64())),
            _mutate("add_columns", expressions={"c": "a + 1"}),
            fields=[{"id": 0}, {"id": 1}, {"id": 2}])),
    act("table/any/writing/drop-columns", "a column dropped", "L.txn.op.project",
        _changed(rows(0, 6).select(["b"]), _mutate("drop_columns", columns=["a"]),
            fields=[{"id": 1, "name": "b"}])),
    act("table/any/writing/update-stable",
        "an updated row keeps its id and the version that made it", "L.table.row-versions.moved",
        step_plan(_stable, _mutate("update", updates={"b": "0"}, where="a = 1"),
            read={"columns": ["a", *VERSIONS], "with": ["_rowid"]})),
    act("table/any/writing/cleanup-tagged", "a cleanup leaves what a tag needs, and no more",
        "L.table.cleanup.referenced", step_plan(_tagged,
            _mutate("cleanup", error_if_tagged_old_versions=False), read={"tag": "kept"},
            manifest={"versions": [1, 3]}), allowed=("noop",)),
    *(act(f'table/any/writing/{slug}-{version.replace(".", "-")}', title,
            ("L.table.format.version", "L.table.fragments.rows"), partial(created, table, version))
        for slug, (title, table, since) in TABLES.items()
        for version in ("2.0", "2.1", "2.2", "2.3") if since <= version),
)  # fmt: skip
