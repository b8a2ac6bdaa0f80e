"""Cases of tables that old releases have written."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.constructors import case
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.released import Step, released


def _rows(start: int, end: int) -> pa.Table:
    ids = range(start, end)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "n": pa.array([one * 3 for one in ids], pa.int32()),
            "s": pa.array([f"word {one}" for one in ids]),
        }
    )


_TABLES = {"first": _rows(0, 8), "second": _rows(8, 12), "changed": _rows(6, 10)}
_CREATE: Step = ("create", "first", 5)
_APPEND: Step = ("append", "second")
_DELETE: Step = ("delete", "id = 2 or id = 9")
_UPDATE: Step = ("update", {"s": "'new'"}, "id = 4")
_UPSERT: Step = ("upsert", "changed")
_COMPACT: Step = ("compact",)
_COLUMNS: tuple[Step, ...] = (("add", {"twice": "id * 2"}), ("rename", "s", "text"),
    ("drop", ["n"]))  # fmt: skip


CASES: tuple[Recipe, ...] = (
    case("table/any/backward/0-4-21-append", "no counts, no writer, no highest fragment id",
        ("L.table.fragments.rows", "L.table.fragments.max-id-present",
            "L.table.manifest.footer-version", "L.legacy.footer.version-written",
            "L.legacy.statistics.covered"), released("0.4.21", _TABLES, (_CREATE, _APPEND), {}),
        kind="backward"),
    case("table/any/backward/0-5-10-delete",
        "deletion files whose rows the manifest does not count", ("L.table.fragments.rows",
        "L.table.deletions.count", "L.table.deletions.applied", "L.table.manifest.footer-version"),
        released("0.5.10", _TABLES, (_CREATE, _APPEND, _DELETE), {}), kind="backward"),
    case("table/any/backward/0-10-18-edits",
        "a table without a storage format, updated and compacted", ("L.table.format.version",
        "L.table.deletions.applied", "L.table.manifest.footer-version",
        "L.legacy.manifest.content"), released("0.10.18", _TABLES, (_CREATE, _APPEND, _DELETE,
        _UPDATE, _UPSERT, _COMPACT, ("delete", "id = 1")), {}), kind="backward"),
    case("table/any/backward/0-10-18-columns", "columns added, renamed and dropped in files of 0.1",
        ("L.table.format.version", "L.table.datafile.missing-field",
            "L.table.manifest.footer-version"),
        released("0.10.18", _TABLES, (_CREATE, *_COLUMNS), {}), kind="backward"),
    case("table/any/backward/0-20-0-edits", "updated, merged and compacted, no file sizes",
        ("L.table.deletions.applied", "L.table.manifest.footer-version", "L.table.datafile.size"),
        released("0.20.0", _TABLES, (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT,
        ("delete", "id = 1")), {"format": "2.0"}), kind="backward"),
    case("table/any/backward/0-20-0-columns",
        "columns added, renamed and dropped beside files of 2.0",
        ("L.table.datafile.missing-field", "L.table.manifest.footer-version"),
        released("0.20.0", _TABLES, (_CREATE, *_COLUMNS), {"format": "2.0"}), kind="backward"),
    case("table/any/backward/0-20-0-indexed", "an index without details and a tag",
        ("L.table.manifest.footer-version", "L.table.deletions.applied"), released("0.20.0",
        _TABLES, (_CREATE, ("scalar", "id", "BTREE"), ("tag", "first", 1), _APPEND, _DELETE),
        {"format": "2.0"}), kind="backward"),
    case("table/any/backward/0-33-0-stable",
        "stable row ids under their first name, without row versions",
        ("L.table.row-ids.length", "L.table.manifest.footer-version", "L.table.row-versions.moved"),
        released("0.33.0", _TABLES, (_CREATE, _APPEND, _DELETE, _UPDATE, _COMPACT),
            {"format": "2.0", "enable_stable_row_ids": True}), kind="backward"),
    case("table/any/backward/0-33-0-unfinished-2-1", "files of 2.1 from before it was finished",
        ("L.table.deletions.applied", "L.table.manifest.footer-version"), released("0.33.0",
        _TABLES, (_CREATE, _APPEND, _DELETE, _COMPACT), {"format": "2.1"}), kind="backward"),
    case("table/any/backward/0-39-0-edits", "the last release whose footers say 0, 1",
        ("L.table.deletions.applied", "L.table.manifest.footer-version"),
        released("0.39.0", _TABLES, (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT),
            {"format": "2.1"}), kind="backward"),
    case("table/any/backward/0-39-0-moved-names", "manifests renamed from V1 to V2",
        ("L.table.naming.one-scheme", "L.table.manifest.footer-version"), released("0.39.0",
        _TABLES, (_CREATE, _APPEND, ("move",), _DELETE), {"format": "2.0"}), kind="backward"),
    case("table/any/backward/1-0-4-stable",
        "stable row ids with row versions, updated and compacted",
        ("L.table.row-ids.length", "L.table.row-versions.moved", "L.table.deletions.applied"),
        released("1.0.4", _TABLES, (_CREATE, _APPEND, _DELETE, _UPDATE, _COMPACT),
            {"format": "2.1", "enable_stable_row_ids": True}), kind="backward"),
    case("table/any/backward/1-0-4-columns",
        "columns added, renamed and dropped beside files of 2.1",
        ("L.table.datafile.missing-field", "L.table.format.version"),
        released("1.0.4", _TABLES, (_CREATE, *_COLUMNS), {"format": "2.1"}), kind="backward"),
    case("table/any/backward/4-0-1-edits", "files of 2.2 while it was new",
        ("L.table.deletions.applied", "L.table.format.version"),
        released("4.0.1", _TABLES, (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT),
            {"format": "2.2"}), kind="backward"),
    case("table/any/backward/9-0-1-legacy", "files of 0.1 by a late release",
        ("L.table.deletions.applied", "L.table.format.version"), released("9.0.1", _TABLES,
        (_CREATE, _APPEND, _DELETE, _UPDATE), {"format": "legacy"}), kind="backward"),
    case("table/any/backward/9-0-1-indexed", "an index with details, brought up to date",
        "L.table.deletions.applied", released("9.0.1", _TABLES, (_CREATE, ("scalar", "id", "BTREE"),
        _APPEND, ("reindex",), _DELETE), {"format": "2.2"}), kind="backward"),
)  # fmt: skip
