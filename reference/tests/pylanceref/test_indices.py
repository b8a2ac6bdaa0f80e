"""Indices of a dataset: made, committed by segment, listed and dropped."""

import importlib
import json
import shutil
import sys
import uuid
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.suite.case_storage import materialise
from lanceref.core.errors import IndexRefused, OperationRefused, QueryRefused
from lanceref.proto import table_pb2
from pylanceref.errors import IndexMixed, IndexNotFound, KeyMissing
from pylanceref.file import LanceFileReader
from pylanceref.indexing import commit_segments

TABLE = pa.table({"i": range(100), "s": [f"{n}" for n in range(100)]})


@pytest.fixture
def dataset(tmp_path):
    """A table of four fragments."""
    return pylanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=25)


def names(dataset) -> list[tuple[str, str]]:
    """Return name and type of every segment."""
    return [(one["name"], one["type"]) for one in dataset.list_indices()]


def test_names_are_those_of_the_column(dataset):
    """A second type gets a number, the same type takes the place of the first."""
    for kind in ("BTREE", "BITMAP", "BTREE"):
        dataset.create_scalar_index("i", kind)
    assert sorted(names(dataset)) == [("i_idx", "BTree"), ("i_idx_2", "Bitmap")]
    assert dataset.has_index


@pytest.mark.parametrize("url", ["/lance.index.pb.BTreeIndexDetails", ""])
def test_an_index_of_an_old_release_is_replaced(dataset, url):
    """Its details were in another package; the first entries have none, and are of any type."""
    dataset.create_scalar_index("i", "BTREE")
    (entry,) = dataset._snapshot.manifest.indices
    older = table_pb2.IndexMetadata(name="i_idx", fields=[0], index_details={"type_url": url})
    older.uuid.uuid = uuid.uuid4().bytes
    commit_segments(dataset, [older], [entry])
    dataset.create_scalar_index("i", "BTREE")
    assert names(dataset) == [("i_idx", "BTree")]


def test_taken_names(dataset):
    """Replaced, unless the caller says not to or the column is another."""
    dataset.create_scalar_index("i", "BTREE", name="x")
    first = dataset.list_indices()[0]["uuid"]
    dataset.create_scalar_index("i", "BTREE", name="x")
    assert dataset.list_indices()[0]["uuid"] != first
    with pytest.raises(IndexRefused):
        dataset.create_scalar_index("i", "BTREE", name="x", replace=False)
    with pytest.raises(IndexRefused):
        dataset.create_scalar_index("s", "BTREE", name="x")


def test_dropped_and_unknown_ones(dataset):
    """The index is gone from the next version on."""
    dataset.create_scalar_index("i", "BTREE")
    dataset.prewarm_index("i_idx")
    dataset.drop_index("i_idx")
    assert names(dataset) == []
    for call in (dataset.drop_index, dataset.prewarm_index):
        with pytest.raises(IndexNotFound):
            call("i_idx")


def built(dataset, kind, *numbers):
    """Return a segment of index x over each of some fragments."""
    return [
        dataset.create_index_uncommitted("i", kind, name="x", fragment_ids=[n], replace=True)
        for n in numbers
    ]


def test_segments_are_built_apart_and_committed_together(dataset):
    """Two of them merged, one as it is; coverage must not overlap, and is of what is left."""
    *parts, late = built(dataset, "BTREE", 0, 1, 2, 3)
    assert names(dataset) == []
    merged = dataset.merge_existing_index_segments(parts[:2])
    assert set(merged.fragment_ids) == {0, 1}
    with pytest.raises(IndexRefused):
        dataset.commit_existing_index_segments("x", "i", [merged, parts[0]])
    dataset.commit_existing_index_segments("x", "i", [merged, parts[2]])
    assert names(dataset) == [("x", "BTree")] * 2
    assert dataset.to_table(filter="i in (3, 30, 60, 99)")["i"].to_pylist() == [3, 30, 60, 99]
    dataset.delete("i >= 75")
    dataset.commit_existing_index_segments("x", "i", [late])
    assert set() == dataset.list_indices()[-1]["fragment_ids"]
    with pytest.raises(ValueError, match="fragment_ids"):
        dataset.create_index_uncommitted("i", "BTREE")


@pytest.mark.oracle
def test_the_oracle_commits_and_merges_our_segments(dataset):
    """The oracle commits a segment merged of its own and one of ours."""
    import lance

    theirs_of = sys.modules["lance.dataset"]  # a function hides it
    part = dataset.create_index_uncommitted("i", "BTREE", name="x", fragment_ids=[0, 1])
    theirs = lance.dataset(str(dataset.uri))
    own = theirs.create_index_uncommitted("i", "BTREE", name="x", fragment_ids=[2, 3])
    given = {name: getattr(part, name) for name in ("uuid", "name", "fields", "dataset_version")}
    other = theirs_of.Index(
        **given,
        fragment_ids={0, 1},
        index_version=part.index_version,
        created_at=part.created_at,
        files=[theirs_of.IndexFile(one.path, one.size_bytes) for one in part.files],
        index_details=part.index_details,
    )
    merged = theirs.merge_existing_index_segments([other, own])
    theirs.commit_existing_index_segments("x", "i", [merged])
    opened = pylanceref.dataset(dataset.uri)
    assert opened.to_table(filter="i in (3, 99)")["i"].to_pylist() == [3, 99]


def test_segments_take_the_place_of_whole_ones(dataset):
    """Of the fragments of a segment all are covered again or none; another type covers all."""
    whole = dataset.create_index_uncommitted("i", "BTREE", name="x", fragment_ids=[0, 1])
    dataset.commit_existing_index_segments("x", "i", [whole])
    with pytest.raises(IndexMixed, match=r"orphan fragments \[1\]"):
        dataset.commit_existing_index_segments("x", "i", built(dataset, "BTREE", 0))
    with pytest.raises(IndexMixed, match=r"missing current fragments \[3\]"):
        dataset.commit_existing_index_segments("x", "i", built(dataset, "ZONEMAP", 0, 1, 2))
    mixed = [*built(dataset, "BTREE", 0), *built(dataset, "BITMAP", 1)]
    with pytest.raises(IndexMixed, match="mixes"):
        dataset.commit_existing_index_segments("x", "i", mixed)
    dataset.commit_existing_index_segments("x", "i", built(dataset, "BTREE", 2))
    assert 2 == len(dataset.list_indices())
    dataset.commit_existing_index_segments("x", "i", built(dataset, "ZONEMAP", 0, 1, 2, 3))
    assert [("x", "ZoneMap")] * 4 == names(dataset)


def test_indices_by_address_do_not_follow_rows(tmp_path):
    """An update moves rows: an index by row id covers them still, a B-tree by address does not."""
    dataset = pylanceref.write_dataset(TABLE, tmp_path / "t", enable_stable_row_ids=True)
    dataset.create_scalar_index("s", "BTREE")
    dataset.create_scalar_index("s", "BITMAP", name="bits")
    dataset.update({"i": "7"}, where="i < 5")
    found = {one["name"]: set(one["fragment_ids"]) for one in dataset.list_indices()}
    assert {"s_idx": {0}, "bits": {0, 1}} == found
    with pytest.raises(
        OperationRefused, match="stable row IDs"
    ):  # a deferred remap needs addresses
        dataset.optimize.compact_files(defer_index_remap=True)


@pytest.mark.parametrize(
    ("kind", "skipped", "transposed"),
    [("IVF_PQ", None, True), ("IVF_PQ", True, False), ("IVF_HNSW_PQ", True, True)],
)
def test_codes_of_a_segment_lie_transposed_unless_asked(tmp_path, kind, skipped, transposed):
    """The details keep what was asked for; codes beside a graph are always transposed."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(range(32), pa.float32()), 4)
    dataset = pylanceref.write_dataset(pa.table({"v": vectors}), str(tmp_path / "t"))
    codes = {"num_sub_vectors": 2, "pq_codebook": np.zeros((2, 256, 2), np.float32)}
    given = {} if skipped is None else {"skip_transpose": skipped}
    centroids = np.zeros((1, 4), np.float32)
    part = dataset.create_index_uncommitted(
        "v", kind, fragment_ids=[0], ivf_centroids=centroids, **codes, **given
    )
    (path,) = tmp_path.rglob(f"{part.uuid}/auxiliary.idx")
    stored = LanceFileReader(str(path)).metadata().schema.metadata[b"storage_metadata"]
    found = json.loads(json.loads(stored)[0])["transposed"]

    assert transposed is found


@pytest.mark.parametrize(
    ("column", "kind", "error"),
    [("i", "FM", TypeError), ("v", "FM", NotImplementedError), ("nope", "FM", KeyError)],
)
def test_types_that_no_segment_is_named_by_are_those_of_vectors(tmp_path, column, kind, error):
    """They are refused as such types are."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(range(8), pa.float32()), 4)
    rows = pa.table({"v": vectors, "i": [1, 2]})
    dataset = pylanceref.write_dataset(rows, str(tmp_path / "t"))
    with pytest.raises(error):
        dataset.create_index_uncommitted(column, kind, fragment_ids=[0])


def test_segments_of_another_type_than_those_there_are_are_refused(tmp_path):
    """A segment of the other fragment, of vectors with a graph."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(range(32), pa.float32()), 4)
    rows = pa.table({"v": vectors})
    dataset = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=4)
    centroids = np.zeros((1, 4), np.float32)
    for number, kind in enumerate(("IVF_FLAT", "IVF_HNSW_FLAT")):
        part = dataset.create_index_uncommitted(
            "v", kind, name="x", fragment_ids=[number], ivf_centroids=centroids
        )
        with pytest.raises(IndexRefused, match="differ in type") if number else nullcontext():
            dataset.commit_existing_index_segments("x", "v", [part])

    assert [("x", "IVF_FLAT")] == names(dataset)


LISTED = pa.table({"i": pa.array([5, 3, None, 3, 9], pa.int32()), "s": list("abcab")})


@pytest.fixture
def listed(tmp_path):
    """A table with two indices and rows that they do not cover."""
    written = pylanceref.write_dataset(LISTED, tmp_path / "t", max_rows_per_file=3)
    written.create_scalar_index("i", "BTREE")
    written.create_scalar_index("s", "BITMAP")
    written.insert(LISTED.slice(0, 2))
    return written


@pytest.mark.parametrize("kind", ["BITMAP", "BLOOMFILTER", "MINHASHLSH", "ZONEMAP"])
def test_a_segment_may_be_given_its_id(listed, kind):
    """Those of other types may not."""
    name = str(uuid.uuid4())
    asked = {"name": "x", "fragment_ids": [0], "index_uuid": name}
    assert name == str(listed.create_index_uncommitted("s", kind, **asked).uuid)
    with pytest.raises(QueryRefused, match="index_uuid"):
        listed.create_index_uncommitted("s", "BTREE", **asked)


@pytest.mark.oracle
def test_the_oracle_says_the_same(listed):
    """Lists, statistics and descriptions of indices are those of the oracle."""
    import lance

    theirs = lance.dataset(str(listed.uri))

    def plain(entries):
        return [{**one, "fragment_ids": sorted(one["fragment_ids"])} for one in entries]

    with pytest.warns(DeprecationWarning):
        entries = listed.list_indices()
        assert plain(entries) == plain(theirs.list_indices())
    described = importlib.import_module("lance.dataset").IndexInformation
    assert set(described.__annotations__) == set(entries[0])
    listed.add_columns({"h": "arrow_cast(i + 0.13, 'Float16')"})
    listed.create_scalar_index("h", "BTREE", name="h")
    listed.create_scalar_index("i", "ZONEMAP", name="z")
    listed.create_scalar_index("i", "BLOOMFILTER", name="b")
    empty = ("BITMAP", "BLOOMFILTER", "BTREE", "ZONEMAP")
    for kind in empty:
        listed.create_scalar_index("i", kind, name=kind, train=False)
    theirs = lance.dataset(str(listed.uri))
    for name in ("h", "i_idx", "s_idx", "z", "b", *empty):
        assert listed.index_statistics(name) == theirs.stats.index_stats(name)
    for own, other in zip(listed.describe_indices(), theirs.describe_indices(), strict=True):
        for attribute in ("name", "type_url", "index_type", "num_rows_indexed", "fields"):
            assert getattr(own, attribute) == getattr(other, attribute)
        assert own.total_size_bytes == other.total_size_bytes


def test_types_and_versions_that_are_not_known_are_passed_over(tmp_path):
    """They are not shown, asked or brought up to date; they stay until they are dropped."""
    listed = pylanceref.write_dataset(pa.table({"i": [1, 2]}), tmp_path / "t")
    listed.create_scalar_index("i", "BTREE")
    for change in ({"index_details": {"type_url": "/com.acme.Other"}}, {"index_version": 9}):
        entry = table_pb2.IndexMetadata(**change, name="other", fields=[0])
        entry.uuid.uuid = uuid.uuid4().bytes
        entry.fragment_bitmap = listed._snapshot.manifest.indices[0].fragment_bitmap
        if not entry.index_details.type_url:
            entry.index_details.type_url = "/lance.table.BTreeIndexDetails"
        commit_segments(listed, [entry], [])
    assert [one["name"] for one in listed.list_indices()] == ["i_idx"]
    assert [one.name for one in listed.describe_indices()] == ["i_idx"]
    with pytest.raises(KeyMissing):
        listed.index_statistics("other")
    listed.insert(pa.table({"i": [3]}))
    listed.optimize.optimize_indices()
    listed.optimize.compact_files()
    names = [one.name for one in listed._snapshot.manifest.indices]
    assert sorted(names) == ["i_idx", "other", "other"]
    assert listed.to_table(filter="i = 3").num_rows == 1
    listed.drop_index("other")
    assert [one.name for one in listed._snapshot.manifest.indices] == ["i_idx"]


def test_an_early_index_of_vectors_is_known_by_its_file(tmp_path):
    """Its entry has no details, and may list the file."""
    dataset = pylanceref.write_dataset(pa.table({"i": [1, 2]}), tmp_path / "t")
    for name, path in (("v", "index.idx"), ("w", "other")):
        entry = table_pb2.IndexMetadata(name=name, fields=[0])
        entry.uuid.uuid = uuid.uuid4().bytes
        entry.files.add(path=path, size_bytes=0)
        commit_segments(dataset, [entry], [])
    shown = {one.name: one.index_type for one in dataset.describe_indices()}
    early = Path(__file__).parents[3] / "fixtures/index/any/ivf-pq/early-cosine/dataset"
    dataset = pylanceref.dataset(shutil.copytree(materialise(early), tmp_path / "early"))
    (told,) = dataset._snapshot.manifest.indices
    entry = table_pb2.IndexMetadata.FromString(told.SerializeToString())
    entry.ClearField("index_details")
    commit_segments(dataset, [entry], [told])
    assert {"v": "Vector", "w": "Unknown"} == shown
    assert [(told.name, "IVF_PQ")] == names(dataset)
    (shown,) = dataset.index_statistics(told.name)["indices"]
    assert "cosine" == shown["sub_index"]["metric_type"]
