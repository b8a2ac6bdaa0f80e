"""Cases of manifests: sections, names, versions, indices, references."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from lanceref.proto.table_pb2 import IndexMetadata
from pylanceref.file import LanceFileReader

from lance_conformance.oracle import lance
from lance_conformance.recipes.cases.file_0_1.early_files import LEGACY
from lance_conformance.recipes.columns import numbered
from lance_conformance.recipes.constructors import case
from lance_conformance.recipes.edits import FORGOTTEN, SECOND, THIRD, index, manifest
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.model import Made, Maker, Recipe
from lance_conformance.recipes.oracle_made import stored, write

_FIVE = pa.table({"a": pa.array([4, 1, 3, 0, 2], pa.int64())})
_BRANCH = {"parentBranch": None, "parentVersion": 1, "createAt": 0, "manifestSize": 1}


def _appended(ds: Any) -> None:
    write(numbered(3, 6), ds.uri, mode="append")


def _detached(ds: Any) -> None:
    extra = lance().fragment.write_fragments(numbered(3, 6), ds.uri, data_storage_version="2.1")
    operation = lance().LanceOperation.Append(extra)
    lance().LanceDataset.commit(ds.uri, operation, read_version=ds.version, detached=True)


def _branch(name: str, said: Mapping[str, object]) -> Callable[[Any], None]:
    """Return what leaves a version by a branch of which something is said."""

    def leave(ds: Any) -> None:
        path = Path(ds.uri, "_refs", "branches", f"{name}.json")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(said), encoding="utf-8")

    return leave


def _referred() -> Maker:
    """Name version 1 by a tag, and leave it by a branch."""
    named = _branch("line", _BRANCH)
    return stored(numbered(0, 3), lambda ds: ds.tags.create("first", 1), named)


def _in_early_files(ds: Any) -> None:
    """Put the rows of an index in files of 0.1, as early releases did."""
    (folder,) = Path(ds.uri, "_indices").iterdir()
    for path in folder.iterdir():
        held = LanceFileReader(path).read_all().to_table().replace_schema_metadata(None)
        with tempfile.TemporaryDirectory() as name:
            write(held, f"{name}/t", **LEGACY)
            (made,) = Path(name, "t", "data").iterdir()
            path.write_bytes(made.read_bytes())


_two = partial(stored, numbered(0, 3), _appended, holds=numbered(0, 6))


def _sizes(make: Callable[[], Made]) -> Callable[[], Made]:
    """Let the manifest list the files of the index by the sizes they have."""

    def made() -> Made:
        base = make()
        sizes = {Path(name).name: len(data) for name, data in base.files.items()}

        def listed(entry: IndexMetadata) -> None:
            for one in entry.files:
                one.size_bytes = sizes[one.path]

        return reworked(lambda: base, index(listed, SECOND))()

    return made


CASES: tuple[Recipe, ...] = (
    case("table/any/manifest/sections", "sections that lie one after the other",
        ("L.table.manifest.overlap", "L.txn.commit.order", "L.txn.commit.exclusive",
            "L.index.segment.entry"),
        stored(numbered(0, 6), lambda ds: ds.create_scalar_index("a", "BTREE"))),
    case("table/any/manifest/names", "a tag and a branch, named as they may be",
        ("L.table.refs.tag-name", "L.table.refs.branch-name"), _referred()),
    case("table/any/manifest/plain", "one version, one fragment, one file",
        ("L.table.manifest.footer", "L.table.manifest.message"), stored(numbered(0, 5))),
    case("table/any/manifest/v1-names", "manifests named by their version", "L.table.naming.v1",
        stored(numbered(0, 5), lambda ds: write(numbered(5, 8), ds.uri, mode="append"),
            holds=numbered(0, 8), enable_v2_manifest_paths=False)),
    case("table/any/manifest/v2-names", "manifests named backwards, the newest first",
        ("L.table.naming.v2", "L.table.naming.latest"), _two()),
    case("table/any/manifest/no-hint", "the version hint is missing", "L.table.hint.advisory",
        _two(keep=lambda name: not name.endswith("latest_version_hint.json"))),
    case("table/any/manifest/no-transactions", "the transaction files are lost",
        "L.txn.inline.wins", _two(keep=lambda name: not name.startswith("_transactions/"))),
    case("table/any/manifest/detached", "a detached version is never the latest",
        "L.table.naming.detached", stored(numbered(0, 3), _detached)),
    case("table/any/manifest/empty", "a table without a fragment", "L.table.fragments.max-id",
        stored(numbered(0, 0))),
    case("table/any/manifest/config", "a config key sets a writer flag",
        "L.table.flags.unknown-writer-bit",
        stored(numbered(0, 3), lambda ds: ds.update_config({"team": "conformance"}))),
    case("table/any/manifest/index", "an index section before the transaction section",
        "L.table.manifest.index-section",
        stored(numbered(0, 6), lambda ds: ds.create_scalar_index("a", "BTREE"))),
    case("table/any/manifest/overwrite", "the second version replaces the rows, fragment ids go on",
        "L.table.fragments.ids", stored(numbered(0, 3), lambda ds: write(numbered(10, 12), ds.uri,
        mode="overwrite"), holds=numbered(10, 12))),
    case("table/any/manifest/restore", "a later version holds the rows of an earlier one",
        "L.table.naming.latest",
        stored(numbered(0, 3), _appended, lambda ds: lance().dataset(ds.uri, version=1).restore())),
    case("table/any/manifest/two-indices", "two indices, each with its fragments and field",
        ("L.table.index.unique", "L.table.index.fragment-bitmap", "L.table.index.fields",
        "L.table.index.covering"), stored(pa.table({"a": [0, 1, 2], "b": ["x", "y", "z"]}),
        lambda ds: ds.create_scalar_index("a", "BTREE"), lambda ds: ds.create_scalar_index("b",
        "BITMAP"))),
    case("table/any/manifest/refs", "a tag and a branch of version 1",
        ("L.table.refs.tag", "L.table.refs.branch", "L.table.refs.exists"), _referred()),
    case("table/any/manifest/old-branch", "a branch that states only the version it left",
        "L.table.refs.branch", stored(numbered(0, 3), _branch("old", {"parentVersion": 1}))),
    case("table/any/manifest/one-commit", "one commit: a manifest, its transaction twice",
        ("L.txn.file.message", "L.txn.file.name", "L.txn.inline.same", "L.table.manifest.timestamp",
            "L.table.datafile.no-field"), stored(numbered(0, 2))),
    case("table/any/manifest/two-types",
        "a number and a string, each named by the manifest and the file",
        ("L.table.datafile.path", "L.table.datafile.type", "L.table.base.unique"),
        stored(pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])}))),
    case("table/any/manifest/early-index-listed", "an index of files of 0.1, which are listed",
        ("L.index.segment.files", "L.legacy.footer.version"), _sizes(stored(_FIVE,
        lambda ds: ds.create_scalar_index("a", "BTREE"), _in_early_files)), reachable=False),
    case("table/any/manifest/weekly", "a manifest of a writer whose version is no number",
        ("L.table.datafile.once", "L.table.fragments.ids"),
        reworked(stored(pa.table({"a": pa.array([7, 9, 8], pa.int32())})),
            manifest({"writer_version.version": "weekly.build"})), reachable=False),
    case("table/any/manifest/covering", "an index that covers a second field",
        "L.table.index.covering", reworked(stored(pa.table({"a": [0, 1, 2], "b": ["x", "y", "z"]}),
        lambda ds: ds.create_scalar_index("a", "BTREE"), lambda ds: ds.create_scalar_index("b",
        "BITMAP")), index({"fields": lambda old: [*old, 1], "covering_fields": lambda old: [*old,
        1]}, THIRD), manifest({"reader_feature_flags": lambda old: old | 128,
        "writer_feature_flags": lambda old: old | 128, **FORGOTTEN}, THIRD)), reachable=False),
)  # fmt: skip
