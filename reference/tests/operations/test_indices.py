"""Indices of a table: built, staged, merged and brought up to date."""

import importlib

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import OperationRefused
from pylanceref.indices import IndexConfig
from pylanceref.operation import Index
from pylanceref.transactions import index_message

NAME = "12345678-1234-1234-1234-123456789abc"
TEXTS = ["red fox", "red dog", "cow", None]


def staged_table(root):
    """Four rows in four fragments."""
    rows = pa.table({"s": TEXTS, "i": range(4)})
    return pylanceref.write_dataset(rows, root / "t", max_rows_per_file=1)


def words_found(dataset, text):
    """Numbers of the rows that hold a word."""
    return sorted(dataset.to_table(full_text_query=text, columns=["i"])["i"].to_pylist())


def test_a_segment_staged_by_many_is_finished_once(tmp_path):
    """Staged parts of four writers become one segment."""
    dataset = staged_table(tmp_path)
    for one in range(4):
        given = {"replace": False, "index_uuid": NAME, "fragment_ids": [one]}
        dataset.create_scalar_index("s", "INVERTED", name="x", **given)
    assert not (tmp_path / "t/_indices" / NAME / "metadata.lance").exists()
    dataset.merge_index_metadata(NAME, "inverted")
    names = {path.name for path in (tmp_path / "t/_indices" / NAME).iterdir()}
    assert {"metadata.lance", "part_0_docs.lance", "staging"} < names
    own = Index(NAME, "x", [0], dataset.version, {0, 1, 2, 3}, 0)
    made = pylanceref.LanceOperation.CreateIndex([own], [])
    dataset = pylanceref.LanceDataset.commit(dataset.uri, made, read_version=dataset.version)
    assert [0, 1] == words_found(dataset, "red")
    assert [] == words_found(dataset, "Red,")[2:]


def test_a_segment_is_finished_when_it_is_committed(tmp_path):
    """Committing a staged part finishes it under its uuid."""
    dataset = staged_table(tmp_path)
    part = dataset.create_index_uncommitted("s", "INVERTED", fragment_ids=[0, 1])
    assert all(file.path.startswith("staging/part_0_") for file in part.files)
    dataset.commit_existing_index_segments("s_idx", "s", [part])
    (entry,) = dataset._snapshot.manifest.indices
    assert index_message(part).uuid == entry.uuid
    assert "metadata.lance" in {file.path for file in entry.files}
    assert [0, 1] == words_found(dataset, "red")
    assert [2] == words_found(dataset, "cow")


def test_only_staged_text_is_merged(tmp_path):
    """Other types, bad uuids and empty folders are refused."""
    dataset = staged_table(tmp_path)
    with pytest.raises(NotImplementedError, match="BITMAP has no metadata to merge"):
        dataset.merge_index_metadata(NAME, "BITMAP")
    with pytest.raises(ValueError, match="no longer supports"):
        dataset.merge_index_metadata(NAME, "BTREE")
    with pytest.raises(ValueError, match="Invalid UUID"):
        dataset.merge_index_metadata("x", "INVERTED")
    with pytest.raises(OperationRefused, match="No partition metadata"):
        dataset.merge_index_metadata(NAME, "INVERTED")


THIRTY = pa.table({"i": range(30), "s": [f"w{n % 5}" for n in range(30)], "l": [["a"]] * 30})


def test_a_segment_of_its_own_has_the_parameters_of_the_others(tmp_path):
    """A new segment has the parameters of the index."""
    extended = pylanceref.write_dataset(THIRTY, tmp_path / "t")
    extended.create_scalar_index("i", IndexConfig("zonemap", {"rows_per_zone": 7}))
    extended.insert(THIRTY)
    extended.optimize.optimize_indices(num_indices_to_merge=0)
    found = extended.index_statistics("i_idx")["indices"]
    assert [one["rows_per_zone"] for one in found] == [7, 7]
    versions = [one["version"] for one in extended.list_indices()]
    assert versions == [1, 3]


def rows_of(number):
    """Return twenty rows of a number: keys, texts and vectors."""
    vectors = np.random.default_rng(number).normal(size=80).astype("f4")
    keys, texts = range(100 * number, 100 * number + 20), [f"w{n} abc" for n in range(20)]
    return pa.table({"k": keys, "s": texts, "v": pa.FixedSizeListArray.from_arrays(vectors, 4)})


EDITS = {
    "append": lambda dataset, _: dataset.insert(rows_of(dataset.version + 1)),
    "delete": lambda dataset, n: dataset.delete(f"k >= {n}00 and k < {n}50"),
    "lose": lambda dataset, n: dataset.delete(f"k = {n}03"),
    "update": lambda dataset, n: dataset.update({"s": "s"}, where=f"k = {n}05"),
    "compact": lambda dataset, _: dataset.optimize.compact_files(),
    "defer": lambda dataset, _: dataset.optimize.compact_files(defer_index_remap=True),
    "optimize": lambda dataset, _: dataset.optimize.optimize_indices(index_names=["x"]),
    "merge": lambda dataset, n: dataset.optimize.optimize_indices(num_indices_to_merge=int(n)),
    "retrain": lambda dataset, _: dataset.optimize.optimize_indices(retrain=True),
}
"""What is done to a table, by its name and a number, in either library."""

HISTORIES = [
    "IVF_FLAT: append 1:01, merge0 1:01 3:2, append 1:01 3:2, merge2 1:0123, optimize 1:0123,"
    " append 1:0123, optimize 1:0123 8:4, retrain 9:01234",
    "IVF_FLAT: append 1:01, merge0 1:01 3:2, append 1:01 3:2, merge0 1:01 3:2 5:3, append"
    " 1:01 3:2 5:3, merge2 1:01 3:234, append 1:01 3:234, optimize 1:012345",
    "IVF_FLAT: append 1:01, delete0 1:01, delete1 1:01, optimize 5:2",
    "IVF_FLAT: delete0 1:01, append 1:01, merge1 1:012, retrain 5:12",
    "ZONEMAP: append 1:01, merge0 1:01 3:2, append 1:01 3:2, merge2 5:0123, optimize 5:0123",
    "BTREE: append 1:01, merge0 1:01 3:2, append 1:01 3:2, merge0 1:01 3:2 5:3, append"
    " 1:01 3:2 5:3, merge2 1:01 3:234, append 1:01 3:234, optimize 1:01 3:2345, retrain"
    " 1:01 3:2345",
    "BTREE: append 1:01, merge0 1:01 3:2, update3 1:01 3:2, merge1 1:01 3:23",
    "BTREE: delete0 1:01, delete1 1:01, append 1:01, optimize 5:2",
    "BTREE, stable ids: append 1:01, merge0 1:01 3:2, append 1:01 3:2, merge0 1:01 3:2 5:3,"
    " lose0 1:01 3:2 5:3, merge1 1:013 3:2, delete0 1:013 3:2, append 1:013 3:2, merge1 1:134 3:2",
    "BTREE, stable ids: append 1:01, update0 1:01, update1 1:01, compact 1:5, append 1:5, merge0"
    " 1:5 8:67, update2 1:5 8:67, merge2 1:567",
    "NGRAM: append 1:01, compact 1:3, append 1:3, merge1 1:234",
    "NGRAM: append 1:01, merge0 1:01 3:2, defer 1:3 3:2, append 1:3 3:2, merge2 7:234",
    "NGRAM: delete0 1:01, delete1 1:01, append 1:01, merge1 5:2",
    "INVERTED: delete0 1:01, delete1 1:01, append 1:01, merge1 1:2",
]
"""Steps, and of each segment after them its version and fragments."""


@pytest.mark.parametrize("library", ["pylanceref", pytest.param("lance", marks=pytest.mark.oracle)])
@pytest.mark.parametrize("history", HISTORIES)
def test_segments_are_joined_and_keep_their_version(tmp_path, library, history):
    """After each step both libraries have the same segments; then the index is sound."""
    kind, _, told = history.partition(": ")
    kind, *stable = kind.split(", ")
    module, uri = importlib.import_module(library), str(tmp_path / "t")
    given = {"max_rows_per_file": 20, "enable_stable_row_ids": bool(stable)}
    dataset = module.write_dataset(pa.concat_tables([rows_of(0), rows_of(1)]), uri, **given)
    if kind == "IVF_FLAT":
        dataset.create_index("v", kind, name="x", num_partitions=2)
    else:
        dataset.create_scalar_index("k" if kind in ("BTREE", "ZONEMAP") else "s", kind, name="x")
    for step in told.split(", "):
        edit, *wanted = step.split()
        EDITS[edit.rstrip("0123")](module.dataset(uri), edit[-1])
        held = [one for one in module.dataset(uri).list_indices() if one["name"] == "x"]
        found = [
            f"{one['version']}:{''.join(map(str, sorted(one['fragment_ids'])))}" for one in held
        ]
        assert wanted == sorted(found), step
    assert [] == lanceref.validate(uri, deep=True)
