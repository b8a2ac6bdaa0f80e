"""Positive cases of whole tables: manifests, names, fragments, deletions, row ids."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from lance_conformance.oracle import lance
from lance_conformance.recipes.model import Made, Positive
from lance_conformance.recipes.oracle_made import dataset, write


def _rows(start: int, end: int) -> pa.Table:
    return pa.table({"a": pa.array(range(start, end), pa.int64())})


def table_case(
    slug: str,
    title: str,
    clauses: tuple[str, ...],
    make: Callable[[], Made],
    version: str = "2.1",
    reachable: bool = True,
) -> Positive:
    """Return a case of a table that is read whole, below `table/any`."""
    return Positive(
        id=f"table/any/{slug}",
        title=title,
        clauses=clauses,
        make=make,
        version=version,
        kind="read-dataset",
        reachable=reachable,
    )


def _case(
    slug: str,
    title: str,
    clauses: tuple[str, ...],
    steps: Callable[[str], pa.Table],
    version: str = "2.1",
    keep: Callable[[str], bool] = lambda name: True,
) -> Positive:
    return table_case(slug, title, clauses, dataset(steps, keep), version)


def _plain(uri: str) -> pa.Table:
    write(_rows(0, 5), uri, data_storage_version="2.1")
    return _rows(0, 5)


def _v1_names(uri: str) -> pa.Table:
    write(_rows(0, 5), uri, data_storage_version="2.1", enable_v2_manifest_paths=False)
    write(_rows(5, 8), uri, mode="append")
    return _rows(0, 8)


def _three_fragments(uri: str) -> pa.Table:
    write(_rows(0, 9), uri, data_storage_version="2.1", max_rows_per_file=3)
    return _rows(0, 9)


def _append(uri: str) -> pa.Table:
    write(_rows(0, 3), uri, data_storage_version="2.1")
    write(_rows(3, 6), uri, mode="append")
    return _rows(0, 6)


def _overwrite(uri: str) -> pa.Table:
    write(_rows(0, 3), uri, data_storage_version="2.1")
    write(_rows(10, 12), uri, mode="overwrite")
    return _rows(10, 12)


def _deleted(uri: str) -> pa.Table:
    ds = write(_rows(0, 10), uri, data_storage_version="2.1")
    ds.delete("a = 3 or a = 7")
    return pa.table({"a": pa.array([0, 1, 2, 4, 5, 6, 8, 9], pa.int64())})


def _many_deleted(uri: str) -> pa.Table:
    ds = write(_rows(0, 12000), uri, data_storage_version="2.1")
    ds.delete("a % 2 = 1")
    return pa.table({"a": pa.array(range(0, 12000, 2), pa.int64())})


def _fragment_deleted(uri: str) -> pa.Table:
    ds = write(_rows(0, 9), uri, data_storage_version="2.1", max_rows_per_file=3)
    ds.delete("a >= 3 and a < 6")
    return pa.table({"a": pa.array([0, 1, 2, 6, 7, 8], pa.int64())})


def _column_added(uri: str) -> pa.Table:
    ds = write(_rows(0, 4), uri, data_storage_version="2.1")
    ds.add_columns({"b": "a + 1"})
    return _rows(0, 4).append_column("b", pa.array([1, 2, 3, 4], pa.int64()))


def _null_column_added(uri: str) -> pa.Table:
    ds = write(_rows(0, 3), uri, data_storage_version="2.1")
    ds.add_columns(pa.field("n", pa.int32()))
    return _rows(0, 3).append_column("n", pa.array([None] * 3, pa.int32()))


def _two(start: int, end: int) -> pa.Table:
    return _rows(start, end).append_column("b", pa.array([str(i) for i in range(start, end)]))


def _dropped(uri: str) -> pa.Table:
    ds = write(_two(0, 4), uri, data_storage_version="2.1")
    ds.drop_columns(["a"])
    return _two(0, 4).select(["b"])


def _renamed(uri: str) -> pa.Table:
    ds = write(_two(0, 4), uri, data_storage_version="2.1")
    ds.alter_columns({"path": "b", "name": "text"})
    return _two(0, 4).rename_columns(["a", "text"])


def _cast(uri: str) -> pa.Table:
    ds = write(_two(0, 4), uri, data_storage_version="2.1")
    ds.alter_columns({"path": "a", "data_type": pa.int32()})
    return _two(0, 4).set_column(0, "a", pa.array(range(4), pa.int32()))


def _updated(uri: str) -> pa.Table:
    ds = write(_two(0, 4), uri, data_storage_version="2.1")
    ds.update({"b": "'new'"}, where="a = 1")
    return pa.table({"a": pa.array([0, 2, 3, 1], pa.int64()), "b": ["0", "2", "3", "new"]})


def _tombstoned(uri: str) -> pa.Table:
    ds = write(_two(0, 4), uri, data_storage_version="2.1")
    changed = pa.table({"a": pa.array([1, 2], pa.int64()), "b": ["x", "y"]})
    (fragment,) = ds.get_fragments()
    new, ids, *_ = fragment.update_columns(changed, left_on="a")
    operation = lance().LanceOperation.Update(
        updated_fragments=[new], fields_modified=ids, update_mode="rewrite_columns"
    )
    lance().LanceDataset.commit(uri, operation, read_version=1)
    return pa.table({"a": pa.array(range(4), pa.int64()), "b": ["0", "x", "y", "3"]})


def _compacted(uri: str) -> pa.Table:
    ds = write(_rows(0, 9), uri, data_storage_version="2.1", max_rows_per_file=3)
    ds.delete("a = 4")
    ds.optimize.compact_files(materialize_deletions_threshold=0.0)
    return pa.table({"a": pa.array([0, 1, 2, 3, 5, 6, 7, 8], pa.int64())})


def _stable_ids(uri: str) -> pa.Table:
    ds = write(_two(0, 6), uri, data_storage_version="2.1", enable_stable_row_ids=True)
    ds.update({"b": "'new'"}, where="a = 1 or a = 3")
    return pa.table(
        {"a": pa.array([0, 2, 4, 5, 1, 3], pa.int64()), "b": ["0", "2", "4", "5", "new", "new"]}
    )


def _mixed_versions(uri: str) -> pa.Table:
    write(_rows(0, 3), uri, data_storage_version="2.1")
    write(_rows(3, 6), uri, mode="append", data_storage_version="2.2")
    return _rows(0, 6)


def _restored(uri: str) -> pa.Table:
    write(_rows(0, 3), uri, data_storage_version="2.1")
    write(_rows(3, 6), uri, mode="append")
    lance().dataset(uri, version=1).restore()
    return _rows(0, 3)


def _configured(uri: str) -> pa.Table:
    ds = write(_rows(0, 3), uri, data_storage_version="2.1")
    ds.update_config({"team": "conformance"})
    return _rows(0, 3)


def _empty(uri: str) -> pa.Table:
    write(_rows(0, 0), uri, data_storage_version="2.1")
    return _rows(0, 0)


def _indexed(uri: str) -> pa.Table:
    ds = write(_rows(0, 6), uri, data_storage_version="2.1")
    ds.create_scalar_index("a", "BTREE")
    return _rows(0, 6)


def _detached(uri: str) -> pa.Table:
    ds = write(_rows(0, 3), uri, data_storage_version="2.1")
    extra = lance().fragment.write_fragments(_rows(3, 6), uri, data_storage_version="2.1")
    operation = lance().LanceOperation.Append(extra)
    lance().LanceDataset.commit(
        uri,
        operation,
        read_version=ds.version,
        detached=True,
    )
    return _rows(0, 3)


_FILE_2_0 = {"data_storage_version": "2.0"}


def _version_2_0(uri: str) -> pa.Table:
    write(_two(0, 4), uri, **_FILE_2_0)
    return _two(0, 4)


def _version_2_2(uri: str) -> pa.Table:
    write(_two(0, 4), uri, data_storage_version="2.2")
    return _two(0, 4)


def _without_hint(name: str) -> bool:
    return not name.endswith("latest_version_hint.json")


def _without_transactions(name: str) -> bool:
    return not name.startswith("_transactions/")


POSITIVES: tuple[Positive, ...] = (
    _case("manifest/plain", "one version, one fragment, one file",
          ("L.table.manifest.footer", "L.table.manifest.message"), _plain),
    _case("manifest/v1-names", "manifests named by their version",
          ("L.table.naming.v1",), _v1_names),
    _case("manifest/v2-names", "manifests named backwards, the newest first",
          ("L.table.naming.v2", "L.table.naming.latest"), _append),
    _case("manifest/no-hint", "the version hint is missing",
          ("L.table.hint.advisory",), _append, keep=_without_hint),
    _case("manifest/no-transactions", "the transaction files are lost",
          ("L.txn.inline.wins",), _append, keep=_without_transactions),
    _case("manifest/detached", "a detached version is never the latest",
          ("L.table.naming.detached",), _detached),
    _case("manifest/empty", "a table without a fragment",
          ("L.table.fragments.max-id",), _empty),
    _case("manifest/config", "a config key sets a writer flag",
          ("L.table.flags.unknown-writer-bit",), _configured),
    _case("manifest/index", "an index section before the transaction section",
          ("L.table.manifest.index-section",), _indexed),
    _case("manifest/overwrite", "the second version replaces the rows, fragment ids go on",
          ("L.table.fragments.ids",), _overwrite),
    _case("manifest/restore", "a later version holds the rows of an earlier one",
          ("L.table.naming.latest",), _restored),
    _case("fragments/three", "rows in the order of the fragments",
          ("L.table.fragments.order",), _three_fragments),
    _case("fragments/second-file", "a column in a file of its own",
          ("L.table.datafile.lookup",), _column_added),
    _case("fragments/null-column", "a field in no file is all null",
          ("L.table.datafile.missing-field",), _null_column_added),
    _case("fragments/dropped", "a dropped field stays in its file",
          ("L.table.datafile.lookup",), _dropped),
    _case("fragments/renamed", "the name is the table's, the id the file's",
          ("L.table.datafile.lookup",), _renamed),
    _case("fragments/cast", "a cast column has a new id and file",
          ("L.table.datafile.lookup",), _cast),
    _case("fragments/tombstone", "-2 marks the column that another file replaced",
          ("L.table.datafile.tombstone",), _tombstoned),
    _case("fragments/updated", "updated rows move to a new fragment",
          ("L.table.deletions.applied",), _updated),
    _case("fragments/compacted", "one fragment in place of three",
          ("L.table.fragments.ids",), _compacted),
    _case("fragments/mixed-versions", "files of 2.1 and 2.2 in one table",
          ("L.table.datafile.version",), _mixed_versions),
    _case("fragments/version-2-0", "a table of 2.0 files",
          ("L.table.datafile.version",), _version_2_0, version="2.0"),
    _case("fragments/version-2-2", "a table of 2.2 files",
          ("L.table.datafile.version",), _version_2_2, version="2.2"),
    _case("deletions/arrow", "two rows deleted: an Arrow deletion file",
          ("L.table.deletions.arrow", "L.table.deletions.applied"), _deleted),
    _case("deletions/bitmap", "6 000 rows deleted: a Roaring deletion file",
          ("L.table.deletions.bitmap", "L.table.deletions.applied"), _many_deleted),
    _case("deletions/fragment", "a fragment without a row left is gone",
          ("L.table.fragments.order",), _fragment_deleted),
    _case("row-ids/stable", "row ids that moved with their rows",
          ("L.table.row-ids.length", "L.table.flags.stable-row-ids"), _stable_ids),
)  # fmt: skip
"""Every positive case of tables."""
