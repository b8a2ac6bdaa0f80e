"""Tables written by the oracle in every state that reading must know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa


def rows(count: int = 20, first: int = 0, null_structs: bool = True) -> pa.Table:
    """A number, a string and a struct for each row, with nulls."""
    type_ = pa.struct(
        [("x", pa.int64()), ("t", pa.struct([("p", pa.int32()), ("q", pa.string())]))]
    )
    numbers = range(first, first + count)
    return pa.table(
        {
            "a": pa.array(numbers, pa.int64()),
            "b": pa.array([None if n % 3 == 0 else f"row {n}" for n in numbers]),
            "s": pa.array(
                [
                    None
                    if n % 7 == 0 and null_structs
                    else {"x": n, "t": None if n % 5 == 0 and null_structs else {"p": n, "q": "q"}}
                    for n in numbers
                ],
                type_,
            ),
        }
    )


def _write(path: Path, version: str = "2.2", **more: object):
    import lance

    return lance.write_dataset(
        rows(null_structs=version != "2.0"),  # 2.0 has no null structs
        str(path),
        data_storage_version=version,
        max_rows_per_file=8,
        **more,
    )


def _mixed(path: Path) -> None:
    import lance

    _write(path, "2.1")
    lance.write_dataset(rows(5, 100), str(path), mode="append", data_storage_version="2.2")


def _v1_names(path: Path) -> None:
    _write(path, enable_v2_manifest_paths=False).delete("a = 3")


def _migrated(path: Path) -> None:
    dataset = _write(path, enable_v2_manifest_paths=False)
    dataset.delete("a = 3")
    dataset.migrate_manifest_paths_v2()


def _bitmap(path: Path) -> None:
    import lance

    numbers = pa.table({"a": range(20_000)})
    lance.write_dataset(numbers, str(path)).delete("a % 3 = 1")


def _rebased(path: Path) -> None:
    import lance

    _write(path)
    first, second = lance.dataset(str(path)), lance.dataset(str(path))
    first.delete("a = 2")
    second.delete("a = 5")


def _whole_fragment(path: Path) -> None:
    _write(path).delete("a >= 8 AND a < 16")


def _added(path: Path) -> None:
    dataset = _write(path)
    dataset.add_columns({"double": "a * 2"})
    dataset.add_columns(pa.field("nothing", pa.list_(pa.float32(), 3)))
    dataset.delete("a % 4 = 0")


def _altered(path: Path) -> None:
    dataset = _write(path)
    dataset.alter_columns({"path": "a", "data_type": pa.int32()})
    dataset.alter_columns({"path": "b", "name": "bb"})
    dataset.alter_columns({"path": "s.t.p", "data_type": pa.int64()})
    dataset.alter_columns({"path": "s.x", "nullable": True})


def _dropped(path: Path) -> None:
    dataset = _write(path)
    dataset.drop_columns(["b"])
    dataset.drop_columns(["s.t.q"])


def _nested_nulls(path: Path) -> None:
    below = pa.struct([("t", pa.struct([("z", pa.int8())]))])
    _write(path).add_columns(pa.schema([pa.field("s", below)]))


def _list_parts(path: Path) -> None:
    import lance

    type_ = pa.list_(pa.struct([("u", pa.int64()), ("v", pa.int64())]))
    lists = pa.array([[{"u": 1, "v": 2}], [], None, [{"u": 3, "v": 4}, None]] * 3, type_)
    dataset = lance.write_dataset(pa.table({"l": lists}), str(path), max_rows_per_file=5)
    dataset.alter_columns({"path": "l.item.v", "data_type": pa.int32()})


def _updated(path: Path) -> None:
    _write(path).update({"b": "'new'"}, where="a % 6 = 1")


def _updated_columns(path: Path) -> None:
    import lance

    dataset = _write(path)
    source = pa.table({"a": pa.array([1, 3], pa.int64()), "b": ["one", "three"]})
    changed, fields = dataset.get_fragments()[0].update_columns(source, left_on="a")
    operation = lance.LanceOperation.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(dataset, operation, read_version=dataset.version)


def _compacted(path: Path) -> None:
    dataset = _write(path, enable_stable_row_ids=True)
    dataset.delete("a % 3 = 0")
    dataset.update({"b": "'new'"}, where="a = 4")
    dataset.optimize.compact_files(
        target_rows_per_fragment=100, materialize_deletions_threshold=0.0
    )


def _stable(path: Path) -> None:
    dataset = _write(path, enable_stable_row_ids=True)
    dataset.update({"b": "'new'"}, where="a % 5 = 2")
    dataset.delete("a = 3")
    dataset.merge_insert("a").when_matched_update_all().when_not_matched_insert_all().execute(
        rows(6, 17)
    )


def _spilled(path: Path) -> None:
    dataset = _write(path, enable_stable_row_ids=True)
    dataset.update_config(
        {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "1"}
    )
    dataset.update({"b": "'new'"}, where="a % 5 = 2")
    dataset.delete("a % 5 = 4")
    dataset.optimize.compact_files(
        target_rows_per_fragment=100, materialize_deletions_threshold=0.0
    )


def _restored(path: Path) -> None:
    import lance

    _write(path).delete("a < 9")
    lance.dataset(str(path), version=1).restore()


def _indexed(path: Path) -> None:
    _write(path).create_scalar_index("a", "BTREE")


def _metadata(path: Path) -> None:
    dataset = _write(path)
    dataset.update_config({"k": "v"})
    dataset.update_schema_metadata({"about": "rows"})
    dataset.update_field_metadata({"a": {"unit": "m"}})


def _empty(path: Path) -> None:
    import lance

    lance.write_dataset(rows(0), str(path))


def _emptied(path: Path) -> None:
    _write(path).delete("true")


def _cloned(path: Path) -> None:
    source = _write(path.with_name("source"))
    source.delete("a = 1")
    source.tags.create("here", 2)
    source.shallow_clone(str(path), "here").delete("a = 2")


def _branch(path: Path) -> None:
    source = _write(path.with_name("trunk"))
    source.create_branch("dev/x").insert(rows(3, 50))
    path.symlink_to(path.with_name("trunk") / "tree" / "dev" / "x")


def _detached(path: Path) -> None:
    import lance

    dataset = _write(path)
    operation = lance.LanceOperation.Append(
        lance.fragment.write_fragments(rows(2, 90), dataset, mode="append")
    )
    lance.LanceDataset.commit(dataset, operation, read_version=1, detached=True)


STATES: dict[str, Callable[[Path], object]] = {
    "plain 2.0": lambda path: _write(path, "2.0"),
    "plain 2.1": lambda path: _write(path, "2.1"),
    "plain 2.2": _write,
    "mixed versions": _mixed,
    "V1 names": _v1_names,
    "migrated names": _migrated,
    "bitmap deletion": _bitmap,
    "rebased deletion": _rebased,
    "whole fragment deleted": _whole_fragment,
    "added columns": _added,
    "altered columns": _altered,
    "dropped columns": _dropped,
    "null columns below": _nested_nulls,
    "parts of lists": _list_parts,
    "updated rows": _updated,
    "updated columns": _updated_columns,
    "compacted": _compacted,
    "stable row ids": _stable,
    "spilled lineage": _spilled,
    "restored": _restored,
    "indexed": _indexed,
    "metadata": _metadata,
    "empty": _empty,
    "emptied": _emptied,
    "shallow clone": _cloned,
    "branch": _branch,
    "detached": _detached,
}
"""What brings a new table into each state."""
