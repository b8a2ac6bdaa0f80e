"""Positive cases of whole tables that old releases wrote, read as those releases read them."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.model import Positive
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
_COLUMNS: tuple[Step, ...] = (
    ("add", {"twice": "id * 2"}),
    ("rename", "s", "text"),
    ("drop", ["n"]),
)


def _case(
    release: str,
    slug: str,
    title: str,
    clauses: tuple[str, ...],
    steps: tuple[Step, ...],
    version: str,
    **options: object,
) -> Positive:
    given = dict(options) if version == "0.1" else {"format": version, **options}
    return Positive(
        id=f"table/any/backward/{release.replace('.', '-')}-{slug}",
        title=title,
        clauses=clauses,
        make=released(release, _TABLES, (_CREATE, *steps), given),
        version=version,
        kind="backward",
    )


_ROWS, _COUNT = "L.table.fragments.rows", "L.table.deletions.count"
_APPLIED, _FOOTER = "L.table.deletions.applied", "L.table.manifest.footer-version"
_MAX, _FORMAT = "L.table.fragments.max-id-present", "L.table.format.version"
_FIELDS, _IDS = "L.table.datafile.missing-field", "L.table.row-ids.length"

POSITIVES: tuple[Positive, ...] = (
    _case("0.4.21", "append", "no counts, no writer, no highest fragment id",
          (_ROWS, _MAX, _FOOTER, "L.legacy.footer.version-written",
           "L.legacy.statistics.covered"), (_APPEND,), "0.1"),
    _case("0.5.10", "delete", "deletion files whose rows the manifest does not count",
          (_ROWS, _COUNT, _APPLIED, _FOOTER), (_APPEND, _DELETE), "0.1"),
    _case("0.10.18", "edits", "a table without a storage format, updated and compacted",
          (_FORMAT, _APPLIED, _FOOTER, "L.legacy.manifest.content"),
          (_APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT, ("delete", "id = 1")), "0.1"),
    _case("0.10.18", "columns", "columns added, renamed and dropped in files of 0.1",
          (_FORMAT, _FIELDS, _FOOTER), _COLUMNS, "0.1"),
    _case("0.20.0", "edits", "updated, merged and compacted, no file sizes",
          (_APPLIED, _FOOTER, "L.table.datafile.size"),
          (_APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT, ("delete", "id = 1")), "2.0"),
    _case("0.20.0", "columns", "columns added, renamed and dropped beside files of 2.0",
          (_FIELDS, _FOOTER), _COLUMNS, "2.0"),
    _case("0.20.0", "indexed", "an index without details and a tag", (_FOOTER, _APPLIED),
          (("scalar", "id", "BTREE"), ("tag", "first", 1), _APPEND, _DELETE), "2.0"),
    _case("0.33.0", "stable", "stable row ids under their first name, without row versions",
          (_IDS, _FOOTER, "L.table.row-versions.moved"),
          (_APPEND, _DELETE, _UPDATE, _COMPACT), "2.0", enable_stable_row_ids=True),
    _case("0.33.0", "unfinished-2-1", "files of 2.1 from before it was finished",
          (_APPLIED, _FOOTER), (_APPEND, _DELETE, _COMPACT), "2.1"),
    _case("0.39.0", "edits", "the last release whose footers say 0, 1", (_APPLIED, _FOOTER),
          (_APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT), "2.1"),
    _case("0.39.0", "moved-names", "manifests renamed from V1 to V2",
          ("L.table.naming.one-scheme", _FOOTER), (_APPEND, ("move",), _DELETE), "2.0"),
    _case("1.0.4", "stable", "stable row ids with row versions, updated and compacted",
          (_IDS, "L.table.row-versions.moved", _APPLIED),
          (_APPEND, _DELETE, _UPDATE, _COMPACT), "2.1", enable_stable_row_ids=True),
    _case("1.0.4", "columns", "columns added, renamed and dropped beside files of 2.1",
          (_FIELDS, _FORMAT), _COLUMNS, "2.1"),
    _case("4.0.1", "edits", "files of 2.2 while it was new", (_APPLIED, _FORMAT),
          (_APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT), "2.2"),
    _case("9.0.1", "legacy", "files of 0.1 by a late release", (_APPLIED, _FORMAT),
          (_APPEND, _DELETE, _UPDATE), "0.1", format="legacy"),
    _case("9.0.1", "indexed", "an index with details, brought up to date", (_APPLIED,),
          (("scalar", "id", "BTREE"), _APPEND, ("reindex",), _DELETE), "2.2"),
)  # fmt: skip
"""Every case of an old release."""
