"""Cases of manifests: sections, names, flags, indices, references, transactions."""

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
from lance_conformance.recipes import edits, model
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.cases.file_0_1.container import LEGACY
from lance_conformance.recipes.columns import numbered
from lance_conformance.recipes.constructors import case, fault, faults, lint
from lance_conformance.recipes.edits import LAST, MANIFEST, THIRD, data_file, index, manifest, swap
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.model import Recipe, Remove, Rename, Resize, SpanPatch
from lance_conformance.recipes.oracle_files import stored, write

_FIVE = pa.table({"a": pa.array([4, 1, 3, 0, 2], pa.int64())})
_BRANCH = {"parentBranch": None, "parentVersion": 1, "createAt": 0, "manifestSize": 1}


def _appended(ds: Any) -> None:
    write(numbered(3, 6), ds.uri, mode="append")


def _detached(ds: Any) -> None:
    extra = lance().fragment.write_fragments(numbered(3, 6), ds.uri, data_storage_version="2.1")
    operation = lance().LanceOperation.Append(extra)
    lance().LanceDataset.commit(ds.uri, operation, read_version=ds.version, detached=True)


def _branch(name: str, document: Mapping[str, object]) -> Callable[[Any], None]:
    """Return what leaves a version by a branch of which something is said."""

    def leave(ds: Any) -> None:
        path = Path(ds.uri, "_refs", "branches", f"{name}.json")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document), encoding="utf-8")

    return leave


def _referred() -> model.Maker:
    """Name version 1 by a tag, and leave it by a branch."""
    named = _branch("line", _BRANCH)
    return stored(numbered(0, 3), lambda ds: ds.tags.create("first", 1), named)


def _in_early_files(ds: Any) -> None:
    """Put the rows of an index in files of 0.1, as early releases did."""
    (folder,) = Path(ds.uri, "_indices").iterdir()
    for path in folder.iterdir():
        table = LanceFileReader(path).read_all().to_table().replace_schema_metadata(None)
        with tempfile.TemporaryDirectory() as name:
            write(table, f"{name}/t", **LEGACY)
            (made,) = Path(name, "t", "data").iterdir()
            path.write_bytes(made.read_bytes())


def _appended_last(ds: Any) -> None:
    write(numbered(5, 6), ds.uri, mode="append")


def _manifests_alone(name: str) -> bool:
    """Return whether a file is neither a transaction nor the hint of the latest version."""
    return not name.startswith(("_transactions/", "_versions/latest"))


_two = partial(stored, numbered(0, 3), _appended, holds=numbered(0, 6))


def _sized(files: model.Files) -> model.Files:
    """Let the manifest list the files of the index by the sizes they have."""
    sizes = {Path(name).name: len(data) for name, data in files.items()}

    def listed(entry: IndexMetadata) -> None:
        for one in entry.files:
            one.size_bytes = sizes[one.path]

    return apply(index(listed, edits.SECOND), files)[0]


def _tag(**changed: object) -> Resize:
    tag = {"branch": None, "version": 1, "manifestSize": 1, **changed}
    return swap(json.dumps(tag).encode(), "_refs/tags/*.json")


def _other_branch(**changed: object) -> Resize:
    return swap(json.dumps({**_BRANCH, **changed}).encode(), "_refs/branches/*.json")


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
    case("table/any/manifest/ten",
        "ten manifests named by their version: a reader that sorts names as text takes the ninth",
        ("L.table.naming.v1", "L.table.naming.latest"),
        stored(numbered(0, 5), *[lambda ds: ds.update_config({"k": "v"})] * 8, _appended_last,
            holds=numbered(0, 6), enable_v2_manifest_paths=False, keep=_manifests_alone)),
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
        "L.table.fragments.ids", stored(numbered(0, 3),
            lambda ds: write(numbered(10, 12), ds.uri, mode="overwrite"), holds=numbered(10, 12))),
    case("table/any/manifest/restore", "a later version holds the rows of an earlier one",
        "L.table.naming.latest",
        stored(numbered(0, 3), _appended, lambda ds: lance().dataset(ds.uri, version=1).restore())),
    case("table/any/manifest/two-indices", "two indices, each with its fragments and field",
        ("L.table.index.unique", "L.table.index.fragment-bitmap", "L.table.index.fields",
            "L.table.index.covering"), stored(pa.table({"a": [0, 1, 2], "b": ["x", "y", "z"]}),
            lambda ds: ds.create_scalar_index("a", "BTREE"),
            lambda ds: ds.create_scalar_index("b", "BITMAP"))),
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
        ("L.index.segment.files", "L.legacy.footer.version"),
        edited(stored(_FIVE, lambda ds: ds.create_scalar_index("a", "BTREE"), _in_early_files),
            _sized)),
    *(case(f"table/any/manifest/{slug}", f"a manifest of a writer whose version {title}",
            ("L.table.datafile.once", "L.table.fragments.ids"),
            edited(stored(pa.table({"a": pa.array([7, 9, 8], pa.int32())})),
                manifest({"writer_version.version": version}))) for slug, title, version in
        (("weekly", "is no number", "weekly.build"),
            ("raised", "has raised digits", "0.\u00b2.1"))),
    case("table/any/manifest/covering", "an index that covers a second field",
        "L.table.index.covering", edited(stored(pa.table({"a": [0, 1, 2], "b": ["x", "y", "z"]}),
                lambda ds: ds.create_scalar_index("a", "BTREE"),
                lambda ds: ds.create_scalar_index("b", "BITMAP")), index(
                {"fields": lambda old: [*old, 1], "covering_fields": lambda old: [*old, 1]}, THIRD),
            manifest({"reader_feature_flags": lambda old: old | 128,
                    "writer_feature_flags": lambda old: old | 128, **edits.UNLOGGED}, THIRD))),
    *faults("table/any/manifest/plain",
        fault("max-id-next", "a fragment one above max_fragment_id", "L.table.fragments.max-id",
            manifest(lambda m: edits.update(m.fragments[0], {"id": m.max_fragment_id + 1}))),
        fault("rows-next", "one row less than the file has", "L.table.fragments.rows",
            edits.fragment({"physical_rows": lambda old: old - 1})),
        fault("index-next", "the column one after the last", "L.file.schema.num-columns",
            data_file({"column_indices.0": 1})),
        fault("section-next", "a manifest one byte shorter than it is", "L.table.manifest.message",
            edits.add("manifest section", "length", by=-1, target=MANIFEST)),
        fault("only-footer", "nothing but a footer", "L.table.manifest.section",
            swap(words(0) + words(0, 2, width=2) + b"LANC", "_versions/*.manifest")),
        fault("no-files", "2**31 rows in no file", "L.table.limits.no-file",
            manifest({"fragments.0.files": [], "fragments.0.physical_rows": 2 ** 31})),
        fault("fragment-tree", "fragments in a tree", "L.table.flags.content",
            manifest({"fragment_tree": {}})),
        fault("fragment-id", "a fragment of id 2**32", "L.table.fragments.address",
            manifest({"fragments.0.id": 2 ** 32, "max_fragment_id": 2 ** 32 - 1})),
        fault("more-fields", "two fields for one column", "L.table.datafile.indices",
            data_file({"fields": lambda old: [*old, 7]})), fault("empty", "a manifest of no bytes",
            "L.table.manifest.size", Resize(keep=0, target=MANIFEST)),
        fault("magic", "a manifest with the magic LANX", "L.table.manifest.magic",
            SpanPatch(("footer", "magic"), b"LANX", target=MANIFEST)),
        fault("position", "a manifest beyond the file", "L.table.manifest.section",
            SpanPatch(("footer", "manifest_position"), 2 ** 40, target=MANIFEST)),
        fault("length", "a manifest longer than the file", "L.table.manifest.section",
            SpanPatch(("manifest section", "length"), 2 ** 31, target=MANIFEST)),
        fault("end", "a manifest of no bytes before the footer", "L.table.manifest.end",
            SpanPatch(("manifest section", "length"), 0, target=MANIFEST)),
        fault("message", "a manifest that does not parse", "L.table.manifest.message", SpanPatch(
                ("manifest section", "tag and length of fields"), b"\xff\xff", target=MANIFEST)),
        fault("index-section", "an index section beyond the file", "L.table.manifest.section",
            manifest({"index_section": 2 ** 40})), fault("file-format", "a table of Parquet files",
            "L.table.format.file-format", manifest({"data_format.file_format": "parquet"})),
        fault("format-version", "a storage version of 9.9", "L.table.format.version",
            manifest({"data_format.version": "9.9"})),
        fault("field-type", "a field of an unknown type", "L.file.schema.logical-type",
            manifest({"fields.0.logical_type": "jnt64"})),
        fault("field-parent", "a field whose parent is missing", "L.file.schema.parent-first",
            manifest({"fields.0.parent_id": 5})), lint("footer-version", "a footer that says 2, 1",
            "L.table.manifest.footer-version", SpanPatch(("footer", "major"), 2, target=MANIFEST)),
        lint("version-name", "a manifest that says another version than its name",
            "L.table.naming.version", manifest({"version": 77})),
        lint("transaction", "an inline transaction that does not parse", "L.txn.inline.message",
            SpanPatch(("transaction section", "tag and length of overwrite"), b"\xb2\x06\xff",
                target=MANIFEST)),
        *(fault(f"flag-{bit}", f"the unknown reader flag {bit}", "L.table.flags.unknown-reader-bit",
                manifest({"reader_feature_flags": bit}))
            for bit in (512, 4096, 8192, 2 ** 17, 2 ** 40)),
        *(fault(f"half-{bit}-{word}", f"flag {bit} in the {word} word only", "L.table.flags.paired",
                manifest({f"{word}_feature_flags": bit})) for bit,
            word in ((256, "reader"), (256, "writer"), (1024, "reader"), (16384, "writer"))),
        fault("flag-32768", "a writer flag in the reader word", "L.table.flags.writer-only",
            manifest({"reader_feature_flags": 32768})),
        fault("field-ids", "max_allocated_field_id without its flag", "L.table.flags.field-ids",
            manifest({"max_allocated_field_id": 9})),
        fault("overlay", "an overlay without its flag", "L.table.flags.content",
            edits.fragment({"overlays.0.shared_offset_bitmap": b""})), fault("row-ids-missing",
            "stable row ids, and a fragment without", "L.table.flags.stable-row-ids",
            manifest({"reader_feature_flags": 2, "writer_feature_flags": 2})),
        fault("duplicate-id", "a fragment listed twice", "L.table.fragments.ids",
            manifest({"fragments": lambda old: [*old, old[0]]})),
        fault("max-id", "a fragment above max_fragment_id", "L.table.fragments.max-id",
            edits.fragment({"id": 7})), fault("rows", "more rows than the file has",
            "L.table.fragments.rows", edits.fragment({"physical_rows": 6})), fault("file-missing",
            "the data file is gone", "L.table.files.exist", Remove("data/*.lance")),
        fault("file-size", "a file size that is wrong", "L.table.datafile.size",
            data_file({"file_size_bytes": lambda old: old + 1})),
        fault("file-version", "an unknown file version", "L.table.datafile.version",
            data_file({"file_minor_version": 9})),
        fault("indices", "two column indices for one field", "L.table.datafile.indices",
            data_file({"column_indices": lambda old: [*old, 1]})),
        fault("index-range", "a column the file does not have", "L.file.schema.num-columns",
            data_file({"column_indices.0": 9})), fault("field-id", "a field id of -1",
            "L.table.datafile.field-id", data_file({"fields.0": -1})),
        fault("field-twice", "a field in two files of a fragment", "L.table.datafile.once",
            edits.fragment({"files": lambda old: [*old, old[0]]})), fault("base",
            "a base that is not there", "L.table.base.resolves", data_file({"base_id": 3})),
        fault("version-0-1", "a table of 0.1, with files of 2.1", "L.table.datafile.version",
            manifest({"data_format.version": "0.1"})),
        fault("section-more", "a manifest one byte longer than it is", "L.table.manifest.section",
            edits.add("manifest section", "length", target=MANIFEST))),
    *faults("table/any/manifest/two-indices",
        lint("index-unique", "two indices of one uuid", "L.table.index.unique",
            edits.indices(lambda m: m.indices[1].uuid.CopyFrom(m.indices[0].uuid), THIRD)),
        fault("index-bitmap", "fragments of an index that are no bitmap",
            "L.table.index.fragment-bitmap", index({"fragment_bitmap": bytes(4)}, THIRD)),
        lint("index-fields", "an index of a field that is not there", "L.table.index.fields",
            index({"fields.0": 9}, THIRD)),
        lint("index-other-column", "an index of numbers that is said to be over texts",
            "L.index.segment.complete", index({"fields.0": 1}, THIRD)),
        lint("sections-overlap", "a transaction inside of the index section",
            "L.table.manifest.overlap", manifest({"transaction_section": 46}, THIRD))),
    *faults("table/any/manifest/refs", lint("tag", "a tag that is no JSON", "L.table.refs.tag",
            Resize(keep=-1, target="_refs/tags/*.json")),
        lint("branch", "a branch without its parent's version", "L.table.refs.branch",
            swap(b"{}", "_refs/branches/*.json")),
        lint("tag-version", "a tag of a version that does not exist", "L.table.refs.exists",
            Resize(keep=0, append=b'{"branch":null,"version":9,"manifestSize":1}',
                target="_refs/tags/*.json")), lint("tag-list", "a tag that is a list",
            "L.table.refs.tag", swap(b"[]", "_refs/tags/*.json")),
        lint("tag-negative", "a tag of version -1", "L.table.refs.tag", _tag(version=-1)),
        lint("tag-text", 'a tag of version "1"', "L.table.refs.tag", _tag(version="1")),
        lint("tag-true", "a tag of version true", "L.table.refs.tag", _tag(version=True)),
        lint("tag-huge", "a tag of version 2**64", "L.table.refs.tag", _tag(version=2 ** 64)),
        lint("tag-branch", "a tag on branch 7", "L.table.refs.tag", _tag(branch=7)),
        lint("tag-branch-name", "a tag of a branch whose name has a space",
            "L.table.refs.branch-name", _tag(branch="a b")),
        lint("branch-list", "a branch that is a list", "L.table.refs.branch",
            swap(b"[]", "_refs/branches/*.json")),
        lint("branch-metadata", "metadata of a branch that are a list", "L.table.refs.branch",
            _other_branch(metadata=[])),
        lint("branch-identifier", "versions of a branch without their ids", "L.table.refs.branch",
            _other_branch(identifier={"version_mapping": [1]})), lint("branch-parent",
            "a branch of parent 7", "L.table.refs.branch", _other_branch(parentBranch=7)),
        lint("tag-name", "a tag whose name ends with a dot", "L.table.refs.tag-name",
            Rename("_refs/tags/first.json", "_refs/tags/first..json")),
        *(lint(f"branch-{slug}", f"a branch {title}", "L.table.refs.branch-name",
                Rename("_refs/branches/line.json", f"_refs/branches/{name}.json"))
            for slug, title, name in (("name", "that is called as the main one", "main"),
                ("dots", "whose name has two dots side by side", "a..b"),
                ("plus", "whose name has a plus sign", "a+b")))),
    *faults("table/any/manifest/one-commit",
        lint("txn-message", "a transaction file that does not parse", "L.txn.file.message",
            Resize(append=b"\xff", target="_transactions/*.txn")),
        lint("txn-same", "a transaction file of another read version", "L.txn.inline.same",
            edits.transaction({"read_version": 7}, "_transactions/*.txn")),
        lint("txn-folder", "a transaction file that is named with its folder", "L.txn.file.name",
            manifest({"transaction_file": lambda old: f"../_transactions/{old}"})),
        lint("txn-name", "a transaction file of another uuid than its name", "L.txn.file.name",
            edits.transaction({"uuid": "00000000-0000-4000-8000-000000000000"},
                "_transactions/*.txn")), fault("timestamp", "a manifest of the year 10000",
            "L.table.manifest.timestamp", manifest({"timestamp.seconds": 253402300800})),
        fault("timestamp-nanos", "a manifest of a second with 10**9 nanoseconds",
            "L.table.manifest.timestamp", manifest({"timestamp.nanos": 10 ** 9})),
        lint("useless-file", "a data file of no field of the table", "L.table.datafile.no-field",
            edits.fragment({"files": lambda old: [*old, old[0]], "files.1.fields.0": 9}))),
    *faults("table/any/manifest/two-types", fault("path-dots", "a data file beside its folder",
            "L.table.datafile.path", data_file({"path": lambda old: f"a/../../data/{old}"})),
        fault("path-empty", "a data file without a name", "L.table.datafile.path",
            data_file({"path": ""})), fault("size-less", "a file size one byte less",
            "L.table.datafile.size", data_file({"file_size_bytes": lambda old: old - 1})),
        fault("path-absolute", "a data file at an absolute path", "L.table.datafile.path",
            data_file({"path": "/etc/hosts"})),
        fault("path-parent", "a data file outside of its folder", "L.table.datafile.path",
            data_file({"path": "../data/x.lance"})),
        fault("bases-alike", "two base paths of one id", "L.table.base.unique",
            manifest({"base_paths.0.id": 1, "base_paths.0.path": "file:///first",
                    "base_paths.1.id": 1, "base_paths.1.path": "file:///second",
                    "reader_feature_flags": 16, "writer_feature_flags": 16})), lint("other-type",
            "a file that calls a number of the table a float", "L.table.datafile.type",
            edits.descriptor({"schema.fields.0.logical_type": "float"}, "data/*.lance")),
        lint("field-next", "a field one above the highest id", "L.table.schema.max-id", manifest(
                {"max_allocated_field_id": 0, "writer_feature_flags": lambda old: old | 32768}))),
    *faults("table/any/manifest/index", fault("index-uuid-long", "an index whose uuid has 17 bytes",
            "L.table.index.uuid", index({"uuid.uuid": bytes(17)}, LAST)), fault("index-bitmap-end",
            "fragments of an index that end early", "L.table.index.fragment-bitmap",
            index({"fragment_bitmap": lambda old: old[:-1]}, LAST)),
        fault("index-uuid", "an index whose uuid has 15 bytes", "L.table.index.uuid",
            index({"uuid.uuid": bytes(15)}, LAST)),
        fault("footer", "a footer that points beyond the file", "L.table.manifest.section",
            SpanPatch(("footer", "manifest_position"), 2 ** 41, target=edits.SECOND),
            also="L.table.manifest.footer"),
        fault("index-beyond", "an index section beyond the file", "L.table.manifest.section",
            manifest({"index_section": 2 ** 41}, edits.SECOND),
            also="L.table.manifest.index-section"),
        fault("overlap", "the index section where the transaction lies", "L.table.manifest.section",
            manifest(lambda m: edits.update(m, {"index_section": m.transaction_section}),
                edits.SECOND), also="L.table.manifest.overlap"),
        fault("cleaned", "a file that a cleanup took away, though the version needs it",
            "L.table.files.exist", Remove("data/*.lance"), also="L.table.cleanup.referenced"),
        fault("early-commit", "a data file that was not whole when the version was made",
            "L.table.datafile.size", Resize(100, b"", "data/*.lance"), also="L.txn.commit.order"),
        lint("nameless", "a segment whose entry has no name", "L.txn.op.create-index",
            index({"name": ""}, edits.SECOND), also="L.index.segment.entry")),
    *faults("table/any/manifest/v2-names",
        fault("one-scheme", "a manifest named in the other scheme", "L.table.naming.one-scheme",
            Rename(LAST, "_versions/2.manifest"))),
    *faults("table/any/manifest/early-index-listed", lint("early-index-manifest",
            "a listed file of an index that holds no manifest", "L.legacy.manifest.position",
            model.MessageEdit("metadata", {"manifest_position": None},
                "_indices/*/page_lookup.lance"))),
    *faults("table/any/manifest/v1-names", fault("scheme-zero",
            "version 0 in the other scheme, of the greatest number that a name can have",
            "L.table.naming.one-scheme",
            Rename("_versions/1.manifest", "_versions/18446744073709551615.manifest"))),
    *faults("table/any/manifest/covering", lint("covering-first",
            "an index that covers the first of its fields", "L.table.index.covering",
            index(lambda m: edits.update(m, {"covering_fields.0": m.fields[0]}), THIRD)),
        lint("index-covering", "an index that covers all of its fields", "L.table.index.covering",
            index(lambda m: m.covering_fields.insert(0, m.fields[0]), THIRD)),
        lint("covering-flag", "an index that covers a field, with its flag for writers alone",
            "L.table.flags.content",
            manifest({"reader_feature_flags": 0, "writer_feature_flags": 128}, THIRD))),
)  # fmt: skip
