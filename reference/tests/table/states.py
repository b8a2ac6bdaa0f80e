"""Tables written by the oracle, in states in which faces may differ."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

T = pa.struct([("p", pa.int32()), ("q", pa.string())])
TYPES = pa.schema(
    [("a", pa.int64()), ("b", pa.string()), ("s", pa.struct([("x", pa.int64()), ("t", T)]))]
)


def rows(count: int = 20, first: int = 0, null_structs: bool = True) -> pa.Table:
    """A number, a string and a struct for each row, with nulls."""
    made = []
    for n in range(first, first + count):
        below = None if n % 5 == 0 and null_structs else {"p": n, "q": "q"}
        struct = None if n % 7 == 0 and null_structs else {"x": n, "t": below}
        made.append({"a": n, "b": None if n % 3 == 0 else f"row {n}", "s": struct})
    return pa.Table.from_pylist(made, TYPES)


def _write(path: Path, version: str = "2.2", **more: object):
    import lance

    given = rows(null_structs=version != "2.0")  # 2.0 has no null structs
    options = {"data_storage_version": version, "max_rows_per_file": 8, **more}
    return lance.write_dataset(given, str(path), **options)


def _steps(*steps: Callable[..., object], **options: object) -> Callable[[Path], None]:
    """Return what writes a table and does something to it, step by step."""

    def make(path: Path) -> None:
        import lance

        _write(path, **options)
        for step in steps:
            step(lance.dataset(str(path)))

    return make


def _delete(where: str):
    return lambda dataset: dataset.delete(where)


def _update(where: str):
    return lambda dataset: dataset.update({"b": "'new'"}, where=where)


def add(given: object):
    """Return what adds columns."""
    return lambda dataset: dataset.add_columns(given)


def alter(**change: object):
    """Return what alters a column."""
    return lambda dataset: dataset.alter_columns(change)


def _compact(dataset) -> None:
    dataset.optimize.compact_files(
        target_rows_per_fragment=100, materialize_deletions_threshold=0.0
    )


def _merge(dataset) -> None:
    merge = dataset.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(rows(6, 17))


def _two_deletions(dataset) -> None:
    import lance

    second = lance.dataset(dataset.uri)
    dataset.delete("a = 2")
    second.delete("a = 5")


def _append_detached(dataset) -> None:
    import lance

    fragments = lance.fragment.write_fragments(rows(2, 90), dataset, mode="append")
    operation = lance.LanceOperation.Append(fragments)
    lance.LanceDataset.commit(dataset, operation, read_version=1, detached=True)


def _clone(path: Path) -> None:
    source = _write(path.with_name("source"))
    source.delete("a = 1")
    source.tags.create("here", 2)
    source.shallow_clone(str(path), "here").delete("a = 2")


def _branch(path: Path) -> None:
    _write(path.with_name("trunk")).create_branch("dev/x").insert(rows(3, 50))
    path.symlink_to(path.with_name("trunk") / "tree" / "dev" / "x")


STABLE = {"enable_stable_row_ids": True}
SPILL = {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "1"}
STATES: dict[str, Callable[[Path], object]] = {
    "plain 2.0": _steps(version="2.0"),
    "plain 2.2": _steps(),
    "rebased deletion": _steps(_two_deletions),
    "added columns": _steps(
        add({"double": "a * 2"}),
        add(pa.field("nothing", pa.list_(pa.float32(), 3))),
        _delete("a % 4 = 0"),
    ),
    "altered columns": _steps(
        alter(path="a", data_type=pa.int32()),
        alter(path="b", name="bb"),
        alter(path="s.t.p", data_type=pa.int64()),
        alter(path="s.x", nullable=True),
    ),
    "stable row ids": _steps(_update("a % 5 = 2"), _delete("a = 3"), _merge, **STABLE),
    "spilled lineage": _steps(
        lambda d: d.update_config(SPILL),
        _update("a % 5 = 2"),
        _delete("a % 5 = 4"),
        _compact,
        **STABLE,
    ),
    "shallow clone": _clone,
    "branch": _branch,
    "detached": _steps(_append_detached),
}
"""What brings a new table into each state; cases of `table` have the others."""
