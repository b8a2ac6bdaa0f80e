"""Tables that an implementation writes and changes: what they hold, and that no clause breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa

from lance_conformance.recipes.model import Acting, Plan, Step
from lance_conformance.recipes.oracle_made import write
from lance_conformance.recipes.staging import acted
from lance_conformance.recipes.tables.commits_rows import VERSIONS, rows

INPUT = "input.arrow"
"""Name of the rows that are written."""

_MIXED = pa.table(
    {
        "n": pa.array([1, None, 3], pa.int32()),
        "s": pa.array(["ä", "", None]),
        "l": pa.array([[1.5], None, []], pa.list_(pa.float64())),
        "r": pa.array([{"x": 1}, {"x": None}, {"x": 2}], pa.struct({"x": pa.int64()})),
    }
)


def _write(mode: str, version: str = "2.1", **options: object) -> Step:
    named = {"options": options} if options else {}
    return Step("write.dataset", {"input": INPUT, "mode": mode, "version": version, **named})


def _mutate(verb: str, **args: object) -> Step:
    return Step("mutate", {"verb": verb, "args": args})


def _case(
    slug: str,
    title: str,
    plan: Callable[[], Plan],
    *clauses: str,
    broken: tuple[str, ...] = (),
    allowed: tuple[str, ...] = ("committed",),
) -> Acting:
    return Acting(
        id=f"table/any/writing/{slug}",
        title=title,
        clauses=clauses,
        make=plan,
        broken=broken,
        allowed=allowed,
        kind="write-roundtrip",
    )


def _created(table: pa.Table, *steps: Step, **facts: object) -> Callable[[], Plan]:
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
    *steps: Step,
    given: pa.Table | None = None,
    read: Mapping[str, object] | None = None,
    **facts: object,
) -> Callable[[], Plan]:
    """Return a maker of a plan on the table of six rows in two fragments; `table` is left."""

    def build(uri: str) -> pa.Table:
        _six(uri)
        return table

    inputs = {} if given is None else {INPUT: given}
    return acted(build, *steps, inputs=inputs, read=read, manifest=facts)


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
_AFTER_MERGE = pa.concat_tables([rows(0, 5), _MERGED])

CASES: tuple[Acting, ...] = (
    *(
        _case(f"create-{version.replace('.', '-')}", f"a new table of {version} files",
              partial(created, _MIXED, version),
              "L.table.format.version", "L.table.datafile.version", "L.table.fragments.rows")
        for version in ("2.0", "2.1", "2.2")
    ),
    _case("fragments", "a new table of three fragments of two rows",
          _created(rows(0, 6), _write("create", max_rows_per_file=2),
                   fragments=[{"id": "0"}, {"id": "1"}, {"id": "2"}], max_fragment_id=2),
          "L.table.fragments.order", "L.table.fragments.max-id"),
    _case("no-rows", "a new table without a row", _created(rows(0, 0), _write("create")),
          "L.table.fragments.max-id"),
    _case("stable", "a new table whose rows keep their ids",
          _created(rows(0, 3), _write("create", enable_stable_row_ids=True), next_row_id="3"),
          "L.table.flags.stable-row-ids", "L.table.row-ids.next"),
    _case("create-again", "a table is not created twice",
          _changed(rows(0, 6), _write("create"), given=rows(6, 8), version="1"),
          broken=("L.txn.commit.exclusive",), allowed=("refused", "conflict")),
    _case("append", "rows appended to a table",
          _changed(rows(0, 8), _write("append"), given=rows(6, 8), version="2"),
          "L.table.naming.v2", "L.table.manifest.footer"),
    _case("append-other-version", "files of another version appended",
          _changed(rows(0, 8), _write("append", "2.2"), given=rows(6, 8),
                   reader_feature_flags="256", writer_feature_flags="256"),
          "L.table.flags.paired", "L.table.flags.content"),
    _case("overwrite", "another table in place of the rows",
          _changed(_MIXED, _write("overwrite"), given=_MIXED, version="2", max_fragment_id=2),
          "L.txn.op.overwrite"),
    _case("delete", "rows deleted by a predicate",
          _changed(rows(0, 6).take([0, 2, 4, 5]),
                   _mutate("delete", predicate="a = 1 OR b = 30"), version="2"),
          "L.txn.op.delete", "L.table.deletions.count"),
    _case("delete-all", "every row deleted",
          _changed(rows(0, 0), _mutate("delete", predicate="a >= 0"), fragments=[],
                   max_fragment_id=1),
          "L.txn.op.delete"),
    _case("delete-twice", "rows of one fragment deleted by two commits",
          _changed(rows(2, 6), _mutate("delete", predicate="a = 0"),
                   _mutate("delete", predicate="a = 1"), version="3"),
          "L.txn.op.delete", "L.table.deletions.arrow-distinct"),
    _case("update", "values changed by an expression",
          _changed(pa.concat_tables([rows(0, 6).take([0, 2, 3, 4, 5]),
                                     pa.table({"a": [1], "b": [11]})]),
                   _mutate("update", updates={"b": "b + 1"}, where="a = 1"), version="2"),
          "L.txn.op.update"),
    _case("merge-insert", "rows updated and inserted by their key",
          _changed(_AFTER_MERGE, _mutate("merge_insert", on=["a"], input=INPUT,
                                         when_matched="update_all",
                                         when_not_matched="insert_all"),
                   given=_MERGED, version="2"),
          "L.txn.op.update"),
    _case("compact", "two fragments with a deletion made one",
          _changed(rows(0, 6).take([0, 2, 3, 4, 5]), _mutate("delete", predicate="a = 1"),
                   _mutate("compact", materialize_deletions_threshold=0.0),
                   fragments=[{"physical_rows": "5", "deletion_file": None}]),
          "L.txn.op.rewrite", allowed=("committed", "rebased")),
    _case("add-columns", "a column by an expression",
          _changed(rows(0, 6).append_column("c", pa.array(range(1, 7), pa.int64())),
                   _mutate("add_columns", expressions={"c": "a + 1"}),
                   fields=[{"id": 0}, {"id": 1}, {"id": 2}]),
          "L.txn.op.merge"),
    _case("drop-columns", "a column dropped",
          _changed(rows(0, 6).select(["b"]), _mutate("drop_columns", columns=["a"]),
                   fields=[{"id": 1, "name": "b"}]),
          "L.txn.op.project"),
    _case("update-stable", "an updated row keeps its id and the version that made it",
          acted(_stable, _mutate("update", updates={"b": "0"}, where="a = 1"),
                read={"columns": ["a", *VERSIONS], "with": ["_rowid"]}),
          "L.table.row-versions.moved"),
    _case("cleanup-tagged", "a cleanup leaves what a tag needs",
          acted(_tagged, _mutate("cleanup", error_if_tagged_old_versions=False),
                read={"tag": "kept"}),
          "L.table.cleanup.referenced", allowed=("noop",)),
)  # fmt: skip
"""Every table an implementation writes."""
