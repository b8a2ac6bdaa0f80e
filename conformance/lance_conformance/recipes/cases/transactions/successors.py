"""Cases of a transaction and the version that it makes: one that is right, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
import pylanceref
from lanceref.proto.table_pb2 import IndexSection
from lanceref.table.lineage import encode_versions
from lanceref.transactions.index_entries import set_covered

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.constructors import case, faults, lint
from lance_conformance.recipes.edits import (
    FOURTH,
    THIRD,
    fragment,
    indices,
    manifest,
    manifest_of,
    put,
    transaction,
)
from lance_conformance.recipes.model import Maker, Recipe
from lance_conformance.recipes.oracle_made import dataset
from lance_conformance.recipes.staging import Staged

_BUILDS: Mapping[str, Callable[[str], Staged]] = {
    "append": commits.append,
    "append-stable": commits.append_stable,
    "overwrite": commits.overwrite,
    "delete": commits.delete,
    "update": commits.update,
    "update-stable": commits.update_stable,
    "update-columns": commits.update_columns,
    "rewrite": commits.rewrite,
    "reserve": commits.reserve,
    "restore": commits.restore,
    "sticky": commits.sticky,
    "project": commits.project,
    "replace-last": commits.replace_last,
    "create-index": commits.create_index_columns,
    "dead": commits.dead_segment,
    "uncovered": commits.uncovered,
}
"""Commits by the name of the table they leave."""


def _after(build: Callable[[str], Staged]) -> Callable[[str], pa.Table]:
    """Return the steps that build a table and commit what was staged for it."""

    def steps(uri: str) -> pa.Table:
        for operation, read_version in build(uri).operations:
            pylanceref.LanceDataset.commit(uri, operation, read_version=read_version)
        return pylanceref.dataset(uri).to_table()

    return steps


def _unflagged(old: int) -> int:
    return old & ~256


def _created(rows: int, version: int) -> dict[str, object]:
    """Say when the rows of the third fragment were made."""
    return {"fragments.2.inline_created_at_versions": encode_versions(rows, version)}


def _entry(name: str, number: int) -> Callable[[IndexSection], None]:
    """Add an index entry like the one there is: of another name, over the first fragment."""

    def edit(section: IndexSection) -> None:
        uuid = number.to_bytes(16, "big")
        put(section, {"indices": lambda old: [*old, old[0]], "indices.1.name": name})
        put(section.indices[1], {"uuid.uuid": uuid})
        set_covered(section.indices[1], {0})

    return edit


def _committed(build: Callable[[str], Staged]) -> Maker:
    """Return a maker of the table after a commit, without the files of its transactions."""
    make = dataset(_after(build), lambda name: not name.startswith("_transactions/"))
    return lambda: replace(make(), made_by="reference")


CASES: tuple[Recipe, ...] = (
    *(case(f"txn/any/after/{name}", f"a table after a commit: {name}", "L.txn.inline.message",
            _committed(_BUILDS[name])) for name in _BUILDS),
    *faults("txn/any/after/append", lint("rows", "a fragment of other rows than appended",
        "L.txn.op.append", transaction({"append.fragments.0.physical_rows": 3}, THIRD))),
    *faults("txn/any/after/append-stable",
        lint("created", "appended rows that say they were made before", "L.table.row-versions.new",
            manifest(_created(2, 1), THIRD))),
    *faults("txn/any/after/overwrite",
        lint("config", "an Overwrite that lost the config", "L.txn.op.overwrite",
            manifest({"config": None, "writer_feature_flags": lambda old: old & ~8}, THIRD))),
    *faults("txn/any/after/delete",
        lint("other", "another deletion file than that of the Delete", "L.txn.op.delete",
            transaction({"delete.updated_fragments.0.deletion_file.id": lambda old: old + 1},
                THIRD)),
        lint("read-version", "a Delete of a version before the last one",
            "L.txn.rebase.read-version", transaction({"read_version": 1}, THIRD))),
    *faults("txn/any/after/update", lint("not-deleted", "a deletion that is none of the Update's",
        "L.txn.op.update", transaction({"update.updated_fragments": None}, THIRD))),
    *faults("txn/any/after/update-stable",
        lint("created", "a moved row that says the Update made it", "L.table.row-versions.moved",
            manifest(_created(2, 3), THIRD))),
    *faults("txn/any/after/update-columns", lint("not-updated",
        "changed rows that say nothing changed them", "L.table.row-versions.updated",
        manifest({"fragments.0.inline_last_updated_at_versions": encode_versions(3, 1)}, THIRD))),
    *faults("txn/any/after/rewrite",
        lint("rows", "a fragment of other rows than rewritten", "L.txn.op.rewrite",
            transaction({"rewrite.groups.0.new_fragments.0.physical_rows": 6}, FOURTH))),
    *faults("txn/any/after/reserve", lint("fewer", "fewer fragment ids than reserved",
        "L.txn.op.reserve", manifest({"max_fragment_id": 4}, THIRD))),
    *faults("txn/any/after/restore", lint("lower", "a Restore that lowers the highest fragment id",
        "L.txn.op.restore", manifest({"max_fragment_id": 1}, manifest_of(5)))),
    *faults("txn/any/after/sticky", lint("gone", "the flag of mixed versions is gone",
        "L.table.flags.sticky", manifest({"reader_feature_flags": _unflagged,
        "writer_feature_flags": _unflagged}, manifest_of(5)))),
    *faults("txn/any/after/project", lint("name", "a field of another name than projected",
        "L.txn.op.project", transaction({"project.schema.0.name": "x"}, FOURTH))),
    *faults("txn/any/after/replace-last", lint("tombstones",
        "a file all of whose columns are replaced", "L.table.datafile.all-replaced",
        fragment({"files": lambda old: [*old, old[0]], "files.2.fields.0": -2}, FOURTH))),
    *faults("txn/any/after/create-index", lint("kept", "an index entry that nobody created",
        "L.txn.op.create-index", indices(_entry("j", 9), FOURTH))),
    *faults("txn/any/after/dead", lint("kept", "an index entry without a live fragment",
        "L.txn.op.index-dead", indices(_entry("i", 1), FOURTH))),
    *faults("txn/any/after/uncovered",
        lint("covered", "an index that covers a changed fragment", "L.txn.op.update-index",
            indices(lambda section: set_covered(section.indices[0], {0, 1}), FOURTH))),
)  # fmt: skip
