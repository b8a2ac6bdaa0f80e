"""Faults of manifests, flags, indices, references and transactions."""

from __future__ import annotations

import json
from collections.abc import Callable

from lanceref.proto.table_pb2 import DataFragment, IndexMetadata, IndexSection, Manifest

from lance_conformance.recipes.constructors import fault, faults, lint
from lance_conformance.recipes.edits import LAST, THIRD, anew
from lance_conformance.recipes.handmade_files import words
from lance_conformance.recipes.messages import (
    MANIFEST,
    data_file,
    descriptor,
    fragment,
    index,
    indices,
    manifest,
    setting,
    transaction,
)
from lance_conformance.recipes.model import MessageEdit, Recipe, Remove, Rename, Resize, SpanPatch


def _next_fragment(message: Manifest) -> None:
    message.fragments[0].id = message.max_fragment_id + 1


def _index(edit: Callable[[IndexMetadata], None]) -> MessageEdit:
    """Change the first index of the last version."""
    return index(edit, "_versions/18446744073709551612.manifest")


def _same_uuid(section: IndexSection) -> None:
    first, second = section.indices
    second.uuid.uuid = first.uuid.uuid


def _other_field(message: IndexMetadata) -> None:
    message.fields[0] = 9


def _useless(message: Manifest) -> None:
    """List the data file again, for a field that the table does not have."""
    files = message.fragments[0].files
    files.add().CopyFrom(files[0])
    files[1].fields[0] = 9


def _tag(**changed: object) -> Resize:
    return anew(
        json.dumps({"branch": None, "version": 1, "manifestSize": 1, **changed}).encode(),
        "_refs/tags/*.json",
    )


def _branch(**changed: object) -> Resize:
    return anew(
        json.dumps(
            {"parentBranch": None, "parentVersion": 1, "createAt": 0, "manifestSize": 1, **changed}
        ).encode(),
        "_refs/branches/*.json",
    )


def _flags(reader: int | None = None, writer: int | None = None) -> MessageEdit:

    def edit(message: Manifest) -> None:
        if reader is not None:
            message.reader_feature_flags = reader
        if writer is not None:
            message.writer_feature_flags = writer

    return manifest(edit)


def _overlay(message: DataFragment) -> None:
    message.overlays.add().shared_offset_bitmap = b""


def _two_bases(message: Manifest) -> None:
    for path in ("file:///first", "file:///second"):
        message.base_paths.add(id=1, path=path)
    setting(reader_feature_flags=16, writer_feature_flags=16)(message)


_SECOND = f"_versions/{2**64 - 3}.manifest"


def _overlap(message: Manifest) -> None:
    message.index_section = message.transaction_section


def _other_end(message: IndexMetadata) -> None:
    """Let the first field be the one that is covered."""
    message.covering_fields[0] = message.fields[0]


CASES: tuple[Recipe, ...] = (
    *faults("table/any/manifest/plain",
        fault("max-id-next", "a fragment one above max_fragment_id", "L.table.fragments.max-id",
            manifest(_next_fragment)),
        fault("rows-next", "one row less than the file has", "L.table.fragments.rows",
            fragment({"physical_rows": lambda old: old - 1})),
        fault("index-next", "the column one after the last", "L.file.schema.num-columns",
            data_file({"column_indices.0": 1})),
        fault("section-next", "a manifest one byte shorter than it is", "L.table.manifest.message",
            SpanPatch(("manifest section", "length"), lambda old: (int.from_bytes(old,
            "little") - 1).to_bytes(4, "little"), target="_versions/*.manifest")),
        fault("only-footer", "nothing but a footer", "L.table.manifest.section",
            anew(words(0) + words(0, 2, width=2) + b"LANC", "_versions/*.manifest")),
        fault("no-files", "2**31 rows in no file", "L.table.limits.no-file",
            manifest({"fragments.0.files": [], "fragments.0.physical_rows": 2 ** 31})),
        fault("fragment-tree", "fragments in a tree", "L.table.flags.content",
            manifest({"fragment_tree": {}})),
        fault("fragment-id", "a fragment of id 2**32", "L.table.fragments.address",
            manifest({"fragments.0.id": 2 ** 32, "max_fragment_id": 2 ** 32 - 1})),
        fault("more-fields", "two fields for one column", "L.table.datafile.indices",
            data_file({"fields": lambda old: [*old, 7]})),
        fault("empty", "a manifest of no bytes", "L.table.manifest.size",
            Resize(keep=0, target=MANIFEST)),
        fault("magic", "a manifest with the magic LANX", "L.table.manifest.magic",
            SpanPatch(("footer", "magic"), b"LANX", target=MANIFEST)),
        fault("position", "a manifest beyond the file", "L.table.manifest.section",
            SpanPatch(("footer", "manifest_position"), 2 ** 40, target=MANIFEST)),
        fault("length", "a manifest longer than the file", "L.table.manifest.section",
            SpanPatch(("manifest section", "length"), 2 ** 31, target=MANIFEST)),
        fault("end", "a manifest of no bytes before the footer", "L.table.manifest.end",
            SpanPatch(("manifest section", "length"), 0, target=MANIFEST)),
        fault("message", "a manifest that does not parse", "L.table.manifest.message",
            SpanPatch(("manifest section", "tag and length of fields"), b"\xff\xff",
                target=MANIFEST)),
        fault("index-section", "an index section beyond the file", "L.table.manifest.section",
            manifest({"index_section": 2 ** 40})),
        fault("file-format", "a table of Parquet files", "L.table.format.file-format",
            manifest({"data_format.file_format": "parquet"})),
        fault("format-version", "a storage version of 9.9", "L.table.format.version",
            manifest({"data_format.version": "9.9"})),
        fault("field-type", "a field of an unknown type", "L.file.schema.logical-type",
            manifest({"fields.0.logical_type": "jnt64"})),
        fault("field-parent", "a field whose parent is missing", "L.file.schema.parent-first",
            manifest({"fields.0.parent_id": 5})),
        lint("footer-version", "a footer that says 2, 1", "L.table.manifest.footer-version",
            SpanPatch(("footer", "major"), 2, target=MANIFEST)),
        lint("version-name", "a manifest that says another version than its name",
            "L.table.naming.version", manifest({"version": 77})),
        lint("transaction", "an inline transaction that does not parse", "L.txn.inline.message",
            SpanPatch(("transaction section", "length"), 2 ** 20, target=MANIFEST)),
        *(fault(f"flag-{bit}", f"the unknown reader flag {bit}", "L.table.flags.unknown-reader-bit",
                _flags(reader=bit)) for bit in (512, 4096, 8192, 2 ** 17, 2 ** 40)),
        *(fault(f"half-{bit}-{word}", f"flag {bit} in the {word} word only", "L.table.flags.paired",
                _flags(**{word: bit})) for bit,
            word in ((256, "reader"), (256, "writer"), (1024, "reader"), (16384, "writer"))),
        fault("flag-32768", "a writer flag in the reader word", "L.table.flags.writer-only",
            _flags(reader=32768)),
        fault("field-ids", "max_allocated_field_id without its flag", "L.table.flags.field-ids",
            manifest({"max_allocated_field_id": 9})),
        fault("overlay", "an overlay without its flag", "L.table.flags.content",
            fragment(_overlay)),
        fault("row-ids-missing", "stable row ids, and a fragment without",
            "L.table.flags.stable-row-ids", _flags(reader=2, writer=2)),
        fault("duplicate-id", "a fragment listed twice", "L.table.fragments.ids",
            manifest(lambda message: message.fragments.add().CopyFrom(message.fragments[0]))),
        fault("max-id", "a fragment above max_fragment_id", "L.table.fragments.max-id",
            fragment({"id": 7})),
        fault("rows", "more rows than the file has", "L.table.fragments.rows",
            fragment({"physical_rows": 6})),
        fault("file-missing", "the data file is gone", "L.table.files.exist",
            Remove("data/*.lance")),
        fault("file-size", "a file size that is wrong", "L.table.datafile.size",
            data_file({"file_size_bytes": lambda old: old + 1})),
        fault("file-version", "an unknown file version", "L.table.datafile.version",
            data_file({"file_minor_version": 9})),
        fault("indices", "two column indices for one field", "L.table.datafile.indices",
            data_file({"column_indices": lambda old: [*old, 1]})),
        fault("index-range", "a column the file does not have", "L.file.schema.num-columns",
            data_file({"column_indices.0": 9})),
        fault("field-id", "a field id of -1", "L.table.datafile.field-id",
            data_file({"fields.0": -1})),
        fault("field-twice", "a field in two files of a fragment", "L.table.datafile.once",
            fragment(lambda message: message.files.add().CopyFrom(message.files[0]))),
        fault("base", "a base that is not there", "L.table.base.resolves",
            data_file({"base_id": 3})),
        fault("version-0-1", "a table of 0.1, with files of 2.1", "L.table.datafile.version",
            manifest({"data_format.version": "0.1"})),
        fault("section-more", "a manifest one byte longer than it is", "L.table.manifest.section",
            SpanPatch(("manifest section", "length"), lambda old: (int.from_bytes(old,
            "little") + 1).to_bytes(4, "little"), target="_versions/*.manifest"))),
    *faults("table/any/manifest/two-indices",
        lint("index-unique", "two indices of one uuid", "L.table.index.unique",
            indices(_same_uuid, "_versions/18446744073709551612.manifest")),
        fault("index-bitmap", "fragments of an index that are no bitmap",
            "L.table.index.fragment-bitmap", _index(setting(fragment_bitmap=b"\x00\x00\x00\x00"))),
        lint("index-fields", "an index of a field that is not there", "L.table.index.fields",
            _index(_other_field)),
        lint("index-covering", "an index that covers all of its fields", "L.table.index.covering",
            _index(lambda message: message.covering_fields.append(message.fields[0]))),
        lint("sections-overlap", "a transaction inside of the index section",
            "L.table.manifest.overlap",
            manifest({"transaction_section": 46}, "_versions/18446744073709551612.manifest"))),
    *faults("table/any/manifest/refs",
        lint("tag", "a tag that is no JSON", "L.table.refs.tag",
            Resize(keep=-1, target="_refs/tags/*.json")),
        lint("branch", "a branch without its parent's version", "L.table.refs.branch",
            Resize(keep=0, append=b"{}", target="_refs/branches/*.json")),
        lint("tag-version", "a tag of a version that does not exist", "L.table.refs.exists",
            Resize(keep=0, append=b'{"branch":null,"version":9,"manifestSize":1}',
                target="_refs/tags/*.json")),
        lint("tag-list", "a tag that is a list", "L.table.refs.tag",
            anew(b"[]", "_refs/tags/*.json")),
        lint("tag-negative", "a tag of version -1", "L.table.refs.tag", _tag(version=-1)),
        lint("tag-text", 'a tag of version "1"', "L.table.refs.tag", _tag(version="1")),
        lint("tag-true", "a tag of version true", "L.table.refs.tag", _tag(version=True)),
        lint("tag-huge", "a tag of version 2**64", "L.table.refs.tag", _tag(version=2 ** 64)),
        lint("tag-branch", "a tag on branch 7", "L.table.refs.tag", _tag(branch=7)),
        lint("branch-list", "a branch that is a list", "L.table.refs.branch",
            anew(b"[]", "_refs/branches/*.json")),
        lint("branch-metadata", "metadata of a branch that are a list", "L.table.refs.branch",
            _branch(metadata=[])),
        lint("branch-identifier", "versions of a branch without their ids", "L.table.refs.branch",
            _branch(identifier={"version_mapping": [1]})),
        lint("branch-parent", "a branch of parent 7", "L.table.refs.branch",
            _branch(parentBranch=7)),
        lint("tag-name", "a tag whose name ends with a dot", "L.table.refs.tag-name",
            Rename("_refs/tags/first.json", "_refs/tags/first..json")),
        lint("branch-name", "a branch that is called as the main one", "L.table.refs.branch-name",
            Rename("_refs/branches/line.json", "_refs/branches/main.json"))),
    *faults("table/any/manifest/one-commit",
        lint("txn-message", "a transaction file that does not parse", "L.txn.file.message",
            Resize(append=b"\xff", target="_transactions/*.txn")),
        lint("txn-same", "a transaction file of another read version", "L.txn.inline.same",
            transaction({"read_version": 7}, "_transactions/*.txn")),
        lint("txn-name", "a transaction file of another uuid than its name", "L.txn.file.name",
            transaction({"uuid": "00000000-0000-4000-8000-000000000000"}, "_transactions/*.txn")),
        fault("timestamp", "a manifest of the year 10000", "L.table.manifest.timestamp",
            manifest({"timestamp.seconds": 253402300800})),
        lint("useless-file", "a data file of no field of the table", "L.table.datafile.no-field",
            manifest(_useless))),
    *faults("table/any/manifest/two-types",
        fault("path-dots", "a data file beside its folder", "L.table.datafile.path",
            data_file({"path": lambda old: f"a/../../data/{old}"})),
        fault("path-empty", "a data file without a name", "L.table.datafile.path",
            data_file({"path": ""})),
        fault("size-less", "a file size one byte less", "L.table.datafile.size",
            data_file({"file_size_bytes": lambda old: old - 1})),
        fault("path-absolute", "a data file at an absolute path", "L.table.datafile.path",
            data_file({"path": "/etc/hosts"})),
        fault("path-parent", "a data file outside of its folder", "L.table.datafile.path",
            data_file({"path": "../data/x.lance"})),
        fault("bases-alike", "two base paths of one id", "L.table.base.unique",
            manifest(_two_bases)),
        lint("other-type", "a file that calls a number of the table a float",
            "L.table.datafile.type",
            descriptor({"schema.fields.0.logical_type": "float"}, "data/*.lance")),
        lint("field-next", "a field one above the highest id", "L.table.schema.max-id",
            manifest({"max_allocated_field_id": 0,
                    "writer_feature_flags": lambda old: old | 32768}))),
    *faults("table/any/manifest/index",
        fault("index-uuid-long", "an index whose uuid has 17 bytes", "L.table.index.uuid",
            index({"uuid.uuid": bytes(17)}, LAST)),
        fault("index-bitmap-end", "fragments of an index that end early",
            "L.table.index.fragment-bitmap",
            index({"fragment_bitmap": lambda old: old[:-1]}, LAST)),
        fault("index-uuid", "an index whose uuid has 15 bytes", "L.table.index.uuid",
            index({"uuid.uuid": bytes(15)}, LAST)),
        fault("footer", "a footer that points beyond the file", "L.table.manifest.section",
            SpanPatch(("footer", "manifest_position"), 2 ** 41, target=_SECOND),
            also="L.table.manifest.footer"),
        fault("index-beyond", "an index section beyond the file", "L.table.manifest.section",
            manifest({"index_section": 2 ** 41}, _SECOND), also="L.table.manifest.index-section"),
        fault("overlap", "the index section where the transaction lies", "L.table.manifest.section",
            manifest(_overlap, _SECOND), also="L.table.manifest.overlap"),
        fault("cleaned", "a file that a cleanup took away, though the version needs it",
            "L.table.files.exist", Remove("data/*.lance"), also="L.table.cleanup.referenced"),
        fault("early-commit", "a data file that was not whole when the version was made",
            "L.table.datafile.size", Resize(100, b"", "data/*.lance"), also="L.txn.commit.order"),
        lint("nameless", "a segment whose entry has no name", "L.txn.op.create-index",
            index({"name": ""}, _SECOND), also="L.index.segment.entry")),
    *faults("table/any/manifest/v2-names",
        fault("one-scheme", "a manifest named in the other scheme", "L.table.naming.one-scheme",
            Rename(LAST, "_versions/2.manifest"))),
    *faults("table/any/manifest/early-index-listed", lint("early-index-manifest",
        "a listed file of an index that holds no manifest", "L.legacy.manifest.position",
        MessageEdit("metadata", {"manifest_position": None}, "_indices/*/page_lookup.lance"))),
    *faults("table/any/manifest/v1-names", fault("scheme-zero",
        "version 0 in the other scheme, of the greatest number that a name can have",
        "L.table.naming.one-scheme", Rename("_versions/1.manifest",
        "_versions/18446744073709551615.manifest"))),
    *faults("table/any/manifest/covering",
        lint("covering-first", "an index that covers the first of its fields",
            "L.table.index.covering", index(_other_end, THIRD)),
        lint("covering-flag", "an index that covers a field, with its flag for writers alone",
            "L.table.flags.content",
            manifest({"reader_feature_flags": 0, "writer_feature_flags": 128}, THIRD))),
)  # fmt: skip
