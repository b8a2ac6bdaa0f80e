"""Negative cases of deletions, bitmaps, references and flags: files made anew with one fault."""

from __future__ import annotations

import json

import pyarrow as pa
from lanceref.proto.table_pb2 import DataFile, DeletionFile, Manifest

from lance_conformance.recipes.hand import words
from lance_conformance.recipes.messages import data_file, fragment, index, manifest, setting
from lance_conformance.recipes.model import Change, Negative, Resize, SpanPatch
from lance_conformance.recipes.tables.edits import table_fault

_PLAIN = "table/any/manifest/plain"
_TYPES = "table/any/manifest/two-types"
_ARROW = "table/any/deletions/arrow"
_BITMAP = "table/any/deletions/bitmap-array"
_REFS = "table/any/manifest/refs"
_LAST = "_versions/1844674407370955161[0-3].manifest"

_PLAIN_COOKIE, _RUN_COOKIE = 12346, 12347
"""The first word of a bitmap without and with runs."""

_FULL = 300
"""Containers of all values: more than a reader expands of so few bytes."""


def _case(
    parent: str, slug: str, title: str, clause: str, change: Change, kind: str = "negative-dataset"
) -> Negative:
    return table_fault(parent, slug, title, clause, change, kind=kind)


def _anew(data: bytes, target: str) -> Resize:
    """Put other bytes in the place of a file."""
    return Resize(keep=0, append=data, target=target)


def _arrow(**columns: pa.Array) -> Resize:
    """Put another table in the place of the deleted rows."""
    table, sink = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return _anew(sink.getvalue().to_pybytes(), "_deletions/*.arrow")


def _bitmap(*parts: bytes) -> Resize:
    return _anew(b"".join(parts), "_deletions/*.bin")


def _runs(cardinality: int, *pairs: int) -> Resize:
    """One container of runs: pairs of a start and a length less one."""
    head = words(_RUN_COOKIE, width=4) + b"\1" + words(0, cardinality - 1, width=2)
    return _bitmap(head, words(len(pairs) // 2, *pairs, width=2))


def _full() -> Resize:
    """Very many containers of one run each, which has all values."""
    keys = b"".join(words(key, 2**16 - 1, width=2) for key in range(_FULL))
    head = words(_RUN_COOKIE | (_FULL - 1) << 16, width=4) + b"\xff" * ((_FULL + 7) // 8)
    run = words(1, 0, 2**16 - 1, width=2)
    first = len(head) + len(keys) + 4 * _FULL
    offsets = words(*(first + len(run) * number for number in range(_FULL)), width=4)
    return _bitmap(head, keys, offsets, run * _FULL)


_DELETIONS = (
    _case(_ARROW, "arrow-name", "deleted rows in a column of another name",
          "L.table.deletions.arrow", _arrow(rows=pa.array([1, 3], pa.uint32()))),
    _case(_ARROW, "arrow-type", "deleted rows of 64 bits", "L.table.deletions.arrow",
          _arrow(row_id=pa.array([1, 3], pa.uint64()))),
    _case(_ARROW, "arrow-signed", "deleted rows that are signed", "L.table.deletions.arrow",
          _arrow(row_id=pa.array([1, 3], pa.int32()))),
    _case(_ARROW, "arrow-null", "a deleted row that is null", "L.table.deletions.arrow",
          _arrow(row_id=pa.array([1, None], pa.uint32()))),
    _case(_ARROW, "arrow-columns", "a second column beside the deleted rows",
          "L.table.deletions.arrow",
          _arrow(row_id=pa.array([1, 3], pa.uint32()), more=pa.array([0, 0], pa.uint32()))),
    _case(_ARROW, "arrow-range", "a deleted row one after the last", "L.table.deletions.range",
          _arrow(row_id=pa.array([1, 10], pa.uint32()))),
    _case(_ARROW, "arrow-fewer", "one deleted row where two are stated",
          "L.table.deletions.count", _arrow(row_id=pa.array([1], pa.uint32()))),
    _case(_ARROW, "arrow-batches", "a batch that lies after the file",
          "L.table.deletions.arrow",
          SpanPatch(("footer",), lambda old: old[:-16] + b"\xff" * 4 + old[-12:],
                    target="_deletions/*.arrow")),
    _case(_ARROW, "count-rows", "more deleted rows than rows", "L.table.deletions.count",
          fragment(lambda f: setting(num_deleted_rows=11)(f.deletion_file), _LAST)),
    _case(_ARROW, "other-type", "an Arrow file told as a bitmap", "L.table.files.exist",
          fragment(lambda f: setting(file_type=DeletionFile.BITMAP)(f.deletion_file), _LAST)),
)  # fmt: skip

_BITMAPS = (
    _case(_BITMAP, "bitmap-short", "a bitmap of three bytes", "L.table.roaring.cookie",
          _bitmap(b"\x3a\x30\0")),
    _case(_BITMAP, "bitmap-keys", "two containers of one key", "L.table.roaring.order",
          _bitmap(words(_PLAIN_COOKIE, 2, width=4), words(0, 0, 0, 0, width=2),
                  words(24, 26, width=4), words(1, 3, width=2))),
    _case(_BITMAP, "bitmap-same", "a value that comes twice", "L.table.roaring.order",
          _bitmap(words(_PLAIN_COOKIE, 1, width=4), words(0, 1, width=2), words(16, width=4),
                  words(1, 1, width=2))),
    _case(_BITMAP, "bitmap-end", "a container that ends early", "L.table.roaring.containers",
          Resize(keep=-1, target="_deletions/*.bin")),
    _case(_BITMAP, "bitmap-table", "a table of containers that ends early",
          "L.table.roaring.containers", _bitmap(words(_PLAIN_COOKIE, 1, width=4), b"\0\0\1")),
    _case(_BITMAP, "bitmap-offsets", "offsets of containers that end early",
          "L.table.roaring.offsets",
          _bitmap(words(_PLAIN_COOKIE, 1, width=4), words(0, 1, width=2), b"\x10\0\0")),
    _case(_BITMAP, "runs-overlap", "runs that share a value", "L.table.roaring.order",
          _runs(4, 0, 1, 1, 1)),
    _case(_BITMAP, "runs-past", "a run that leaves 16 bits", "L.table.roaring.order",
          _runs(2, 2**16 - 1, 1)),
    _case(_BITMAP, "runs-last", "a run to the last of 16 bits, in a fragment of fewer rows",
          "L.table.deletions.range", _runs(2, 2**16 - 2, 1)),
    _case(_BITMAP, "runs-fewer", "runs of fewer values than stated",
          "L.table.roaring.containers", _runs(3, 0, 1)),
    _case(_BITMAP, "runs-end", "runs that end early", "L.table.roaring.containers",
          _bitmap(words(_RUN_COOKIE, width=4), b"\1", words(0, 1, 2, 0, 1, width=2))),
    _case(_BITMAP, "runs-mask", "no bytes to say which containers have runs",
          "L.table.roaring.containers", _bitmap(words(_RUN_COOKIE | 7 << 16, width=4))),
    _case(_BITMAP, "bitmap-full", "300 containers of all values", "L.table.limits.bitmap", _full()),
    _case(_BITMAP, "bitmap-count", "three deleted rows where two are stated",
          "L.table.deletions.count",
          _bitmap(words(_PLAIN_COOKIE, 1, width=4), words(0, 2, width=2), words(16, width=4),
                  words(1, 2, 3, width=2))),
)  # fmt: skip

_TAG = {"branch": None, "version": 1, "manifestSize": 1}
_BRANCH = {"parentBranch": None, "parentVersion": 1, "createAt": 0, "manifestSize": 1}


def _tag(**changed: object) -> Resize:
    return _anew(json.dumps({**_TAG, **changed}).encode(), "_refs/tags/*.json")


def _branch(**changed: object) -> Resize:
    return _anew(json.dumps({**_BRANCH, **changed}).encode(), "_refs/branches/*.json")


_REFERENCES = (
    _case(_REFS, "tag-list", "a tag that is a list", "L.table.refs.tag",
          _anew(b"[]", "_refs/tags/*.json"), "lint"),
    _case(_REFS, "tag-negative", "a tag of version -1", "L.table.refs.tag", _tag(version=-1),
          "lint"),
    _case(_REFS, "tag-text", "a tag of version \"1\"", "L.table.refs.tag", _tag(version="1"),
          "lint"),
    _case(_REFS, "tag-true", "a tag of version true", "L.table.refs.tag", _tag(version=True),
          "lint"),
    _case(_REFS, "tag-huge", "a tag of version 2**64", "L.table.refs.tag", _tag(version=2**64),
          "lint"),
    _case(_REFS, "tag-branch", "a tag on branch 7", "L.table.refs.tag", _tag(branch=7), "lint"),
    _case(_REFS, "branch-list", "a branch that is a list", "L.table.refs.branch",
          _anew(b"[]", "_refs/branches/*.json"), "lint"),
    _case(_REFS, "branch-metadata", "metadata of a branch that are a list",
          "L.table.refs.branch", _branch(metadata=[]), "lint"),
    _case(_REFS, "branch-identifier", "versions of a branch without their ids",
          "L.table.refs.branch", _branch(identifier={"version_mapping": [1]}), "lint"),
    _case(_REFS, "branch-parent", "a branch of parent 7", "L.table.refs.branch",
          _branch(parentBranch=7), "lint"),
)  # fmt: skip


def _tree(message: Manifest) -> None:
    message.fragment_tree.SetInParent()


def _many_fragments(message: Manifest) -> None:
    message.fragments[0].id = 2**32
    message.max_fragment_id = 2**32 - 1


def _no_files(message: Manifest) -> None:
    del message.fragments[0].files[:]
    message.fragments[0].physical_rows = 2**31


def _more_fields(message: DataFile) -> None:
    message.fields.append(7)


_MANIFESTS = (
    _case(_PLAIN, "only-footer", "nothing but a footer", "L.table.manifest.section",
          _anew(words(0) + words(0, 2, width=2) + b"LANC", "_versions/*.manifest")),
    _case(_PLAIN, "no-files", "2**31 rows in no file", "L.table.limits.no-file",
          manifest(_no_files)),
    _case(_PLAIN, "fragment-tree", "fragments in a tree", "L.table.flags.content",
          manifest(_tree)),
    _case(_PLAIN, "fragment-id", "a fragment of id 2**32", "L.table.fragments.address",
          manifest(_many_fragments)),
    _case(_PLAIN, "more-fields", "two fields for one column", "L.table.datafile.indices",
          data_file(_more_fields)),
    _case(_TYPES, "path-dots", "a data file beside its folder", "L.table.datafile.path",
          data_file(lambda m: setting(path=f"a/../../data/{m.path}")(m))),
    _case(_TYPES, "path-empty", "a data file without a name", "L.table.datafile.path",
          data_file(setting(path=""))),
    _case(_TYPES, "size-less", "a file size one byte less", "L.table.datafile.size",
          data_file(lambda f: setting(file_size_bytes=f.file_size_bytes - 1)(f))),
    _case("table/any/manifest/index", "index-uuid-long", "an index whose uuid has 17 bytes",
          "L.table.index.uuid", index(lambda m: setting(uuid=bytes(17))(m.uuid), _LAST)),
    _case("table/any/manifest/index", "index-bitmap-end", "fragments of an index that end early",
          "L.table.index.fragment-bitmap",
          index(lambda m: setting(fragment_bitmap=m.fragment_bitmap[:-1])(m), _LAST)),
    _case("table/any/fragments/version-2-0", "version-major", "a file of version 3.0",
          "L.table.datafile.version", data_file(setting(file_major_version=3))),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_DELETIONS, *_BITMAPS, *_REFERENCES, *_MANIFESTS)
"""Every negative case of files made anew."""
