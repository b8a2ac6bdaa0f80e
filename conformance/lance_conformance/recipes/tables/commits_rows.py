"""Commits of rows: each operation on fragments, committed on the version its writer has read."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pylanceref
import pyroaring
from lanceref.proto import rowids_pb2
from pylanceref.fragment import LanceFragment, write_fragments
from pylanceref.metadata import FragmentMetadata, RowIdMeta
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.model import Acting
from lance_conformance.recipes.oracle_made import write
from lance_conformance.recipes.staging import Staged, staged

VERSIONS = ("_row_created_at_version", "_row_last_updated_at_version")
"""Columns of the versions of a row."""


def rows(start: int, end: int) -> pa.Table:
    """Return rows whose `a` goes from `start` to `end` - 1, and whose `b` is ten times that."""
    numbers = range(start, end)
    tens = [10 * one for one in numbers]
    return pa.table({"a": pa.array(numbers, pa.int64()), "b": pa.array(tens, pa.int64())})


def base(uri: str, *, stable: bool = False) -> list[LanceFragment]:
    """Write rows 0 to 5 in two fragments, set a config key; return the fragments of version 2."""
    write(
        rows(0, 6), uri, data_storage_version="2.1", max_rows_per_file=3,
        enable_stable_row_ids=stable,
    ).update_config({"kept": "1"})  # fmt: skip
    return list(pylanceref.dataset(uri).get_fragments())


def new(uri: str, table: pa.Table, mode: str = "append") -> list[FragmentMetadata]:
    """Write a fragment that no version has yet; mode `overwrite` numbers its fields anew."""
    return list(write_fragments(table, uri, mode=mode, data_storage_version="2.1"))


def case(
    slug: str,
    title: str,
    build: Callable[[str], Staged],
    clauses: tuple[str, ...] = (),
    broken: tuple[str, ...] = (),
    allowed: tuple[str, ...] = ("committed",),
    writer_flags: int | None = None,
) -> Acting:
    """Return a case of commits below `txn/any`."""
    return Acting(
        id=f"txn/any/{slug}",
        title=title,
        clauses=clauses,
        make=staged(build),
        allowed=allowed,
        broken=broken,
        writer_flags=writer_flags,
    )


def append(uri: str) -> Staged:
    """Append two rows."""
    base(uri)
    facts = {"version": "3", "max_fragment_id": 2, "config": {"kept": "1"}}
    return Staged(((Op.Append(new(uri, rows(6, 8))), 2),), rows(0, 8), facts)


def append_stable(uri: str) -> Staged:
    """Append two rows to a table with stable row ids."""
    base(uri, stable=True)
    columns = ["a", *VERSIONS]
    table = pa.table({"a": pa.array(range(8)), **{name: pa.array([1] * 6 + [3] * 2, pa.uint64())
                                                  for name in VERSIONS}})  # fmt: skip
    operation = Op.Append(new(uri, rows(6, 8)))
    return Staged(((operation, 2),), table, {"next_row_id": "8"}, {"columns": columns})


def _first(uri: str) -> Staged:
    fragments = new(uri, rows(0, 2), "overwrite")
    facts = {"version": "1", "max_fragment_id": 0, "next_row_id": "0"}
    operation = Op.Overwrite(rows(0, 0).schema, fragments)
    return Staged(((operation, 0),), rows(0, 2), facts)


def overwrite(uri: str) -> Staged:
    """Put two rows of one column in place of all."""
    base(uri, stable=True)
    fragments = new(uri, rows(20, 22).select(["b"]), "overwrite")
    facts = {"config": {"kept": "1"}, "max_fragment_id": 2, "next_row_id": "8", "indices": [],
             "fields": [{"name": "b"}]}  # fmt: skip
    operation = Op.Overwrite(pa.schema({"b": pa.int64()}), fragments)
    return Staged(((operation, 2),), rows(20, 22).select(["b"]), facts)


def delete(uri: str) -> Staged:
    """Delete one row of the first fragment."""
    first, _ = base(uri)
    left = first.delete("a = 1")
    assert left is not None
    table = rows(0, 6).take([0, 2, 3, 4, 5])
    facts = {"reader_feature_flags": "1", "fragments": [
        {"deletion_file": {"num_deleted_rows": "1"}}, {"id": "1"}]}  # fmt: skip
    return Staged(((Op.Delete([left], [], "a = 1"), 2),), table, facts)


def _delete_more(uri: str) -> Staged:
    """Delete a row of a fragment that misses another one."""
    base(uri)
    pylanceref.dataset(uri).delete("a = 0")
    left = next(iter(pylanceref.dataset(uri).get_fragments())).delete("a = 1")
    assert left is not None
    facts = {"fragments": [{"deletion_file": {"num_deleted_rows": "2"}}, {"id": "1"}]}
    return Staged(((Op.Delete([left], [], "a = 1"), 3),), rows(2, 6), facts)


def _delete_fragment(uri: str) -> Staged:
    base(uri)
    facts = {"fragments": [{"id": "1"}], "max_fragment_id": 1}
    return Staged(((Op.Delete([], [0], "a < 3"), 2),), rows(3, 6), facts)


def update(uri: str) -> Staged:
    """Move one row to a new fragment."""
    first, _ = base(uri)
    left = first.delete("a = 1")
    assert left is not None
    moved = pa.table({"a": [1], "b": [99]})
    operation = Op.Update(
        updated_fragments=[left], new_fragments=new(uri, moved), update_mode="rewrite_rows"
    )
    table = pa.concat_tables([rows(0, 6).take([0, 2, 3, 4, 5]), moved])
    return Staged(((operation, 2),), table, {"max_fragment_id": 2})


def update_stable(uri: str) -> Staged:
    """Move row 1 under its id to a fragment that also holds a new row."""
    first, _ = base(uri, stable=True)
    left = first.delete("a = 1")
    assert left is not None
    ids = rowids_pb2.RowIdSequence()
    ids.segments.add().range.start, ids.segments[0].range.end = 1, 2
    (moved,) = new(uri, pa.table({"a": [1, 9], "b": [99, 90]}))
    moved.row_id_meta = RowIdMeta(ids.SerializeToString())
    operation = Op.Update(
        updated_fragments=[left], new_fragments=[moved], update_mode="rewrite_rows"
    )
    columns = {"a": [0, 2, 3, 4, 5, 1, 9], VERSIONS[0]: [1, 1, 1, 1, 1, 1, 3],
               VERSIONS[1]: [1, 1, 1, 1, 1, 3, 3], "_rowid": [0, 2, 3, 4, 5, 1, 6]}  # fmt: skip
    arrays = {
        name: pa.array(values, pa.int64() if name == "a" else pa.uint64())
        for name, values in columns.items()
    }
    read = {"columns": ["a", *VERSIONS], "with": ["_rowid"]}
    return Staged(((operation, 2),), pa.table(arrays), {"next_row_id": "7"}, read)


def update_columns(uri: str) -> Staged:
    """Give a fragment another `b`; the rows have stable ids, so that their versions are kept."""
    first, _ = base(uri, stable=True)
    changed, fields, *_ = first.update_columns(pa.table({"a": [0, 1, 2], "b": [7, 8, 9]}), "a")
    operation = Op.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode="rewrite_columns",
        updated_fragment_offsets={0: pyroaring.BitMap([0, 1, 2]).serialize()},
    )  # fmt: skip
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    for name, values in zip(VERSIONS, ([1] * 6, [3] * 3 + [1] * 3), strict=True):
        table = table.append_column(name, pa.array(values, pa.uint64()))
    files = [{"fields": [0, -2]}, {"fields": [1]}]
    facts = {"fragments": [{"files": files}, {"files": [{"fields": [0, 1]}]}]}
    return Staged(((operation, 2),), table, facts, {"columns": ["a", "b", *VERSIONS]})


def rewrite(uri: str) -> Staged:
    """Put one fragment in place of both, without the row that was deleted."""
    base(uri)
    pylanceref.dataset(uri).delete("a = 4")
    held = [one.metadata for one in pylanceref.dataset(uri).get_fragments()]
    table = rows(0, 6).take([0, 1, 2, 3, 5])
    operation = Op.Rewrite([Op.RewriteGroup(held, new(uri, table))], [])
    facts = {"fragments": [{"id": "2", "physical_rows": "5", "deletion_file": None}],
             "max_fragment_id": 2}  # fmt: skip
    return Staged(((operation, 3),), table, facts)


def reserve(uri: str) -> Staged:
    """Reserve five fragment ids."""
    base(uri)
    return Staged(((Op.ReserveFragments(5), 2),), rows(0, 6), {"max_fragment_id": 6})


def _reserved_first(uri: str) -> Staged:
    write(rows(0, 0), uri, data_storage_version="2.1")
    return Staged(((Op.ReserveFragments(2), 1),), rows(0, 0), {"max_fragment_id": 1})


def restore(uri: str) -> Staged:
    """Go back from rows under higher ids, a config key and another schema."""
    base(uri, stable=True)
    write(rows(6, 9).select(["a"]), uri, mode="overwrite").update_config({"more": "1"})
    facts = {"version": "5", "max_fragment_id": 2, "next_row_id": "9",
             "config": {"kept": "1", "more": None}, "fields": [{"name": "a"}, {"name": "b"}],
             "fragments": [{"id": "0"}, {"id": "1"}]}  # fmt: skip
    return Staged(((Op.Restore(2), 4),), rows(0, 6), facts)


def sticky(uri: str) -> Staged:
    """Append to a table that once had files of two versions."""
    base(uri)
    write(rows(6, 7), uri, mode="append", data_storage_version="2.2")
    pylanceref.dataset(uri).delete("a = 6")
    facts = {"reader_feature_flags": "256", "writer_feature_flags": "264"}
    table = pa.concat_tables([rows(0, 6), rows(7, 8)])
    return Staged(((Op.Append(new(uri, rows(7, 8))), 4),), table, facts)


def _restore_sticky(uri: str) -> Staged:
    base(uri)
    write(rows(6, 7), uri, mode="append", data_storage_version="2.2")
    facts = {"reader_feature_flags": "256", "writer_feature_flags": "264"}
    return Staged(((Op.Restore(2), 3),), rows(0, 6), facts)


def _two_appends(uri: str) -> Staged:
    """Two writers append, both after version 2."""
    base(uri)
    first, second = new(uri, rows(6, 7)), new(uri, rows(7, 8))
    facts = {"version": "4", "fragments": [{"id": "0"}, {"id": "1"}, {"id": "2"}, {"id": "3"}]}
    both = (Op.Append(first), 2), (Op.Append(second), 2)
    return Staged(both, rows(0, 8), facts, actors="ab")


CASES: tuple[Acting, ...] = (
    case("rows/append", "an Append takes the next fragment id", append,
         ("L.table.fragments.ids", "L.table.naming.version")),
    case("rows/append-stable", "appended rows get ids and versions by the commit",
         append_stable, ("L.table.row-versions.new",)),
    case("rows/two-appends", "two writers append after one version: both stand",
         _two_appends, ("L.txn.conflict.append",), allowed=("rebased",)),
    case("rows/first", "an Overwrite where there is no table makes version 1", _first,
         ("L.table.naming.v2",)),
    case("rows/overwrite", "an Overwrite keeps config and what was given out",
         overwrite, ("L.txn.op.overwrite",)),
    case("rows/delete", "a Delete of one row", delete, ("L.txn.op.delete",)),
    case("rows/delete-more", "a Delete in a fragment that has a deletion file", _delete_more,
         ("L.txn.op.delete",)),
    case("rows/delete-fragment", "a Delete of a whole fragment", _delete_fragment,
         ("L.txn.op.delete",)),
    case("rows/update", "an Update moves a row to a new fragment", update,
         ("L.txn.op.update",)),
    case("rows/update-stable", "a moved row keeps its id, a new one beside it gets the next",
         update_stable, ("L.table.row-versions.moved",)),
    case("rows/update-columns", "an Update of a column leaves the rows where they are",
         update_columns, ("L.txn.op.update", "L.table.row-versions.updated")),
    case("rows/rewrite", "a Rewrite of two fragments to one", rewrite, ("L.txn.op.rewrite",)),
    case("rows/reserve", "a ReserveFragments raises the highest id", reserve,
         ("L.txn.op.reserve",)),
    case("rows/reserve-first", "a ReserveFragments in a table without any fragment",
         _reserved_first, ("L.txn.op.reserve",)),
    case("rows/restore", "a Restore lowers neither fragment ids nor row ids", restore,
         ("L.txn.op.restore",)),
    case("rows/sticky", "the flag of mixed versions stays when its files are gone",
         sticky, ("L.table.flags.sticky",)),
    case("rows/sticky-restore", "the flag of mixed versions stays over a Restore",
         _restore_sticky, ("L.table.flags.sticky",)),
)  # fmt: skip
"""Every case of rows."""
