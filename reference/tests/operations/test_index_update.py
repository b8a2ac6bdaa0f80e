"""Indices brought up to date."""

from __future__ import annotations

import importlib
import struct

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from pylanceref.indices import IndexConfig

TABLE = pa.table({"i": range(30), "s": [f"w{n % 5}" for n in range(30)], "l": [["a"]] * 30})
KINDS = {"i": "BTREE", "s": "BITMAP", "l": "LABEL_LIST"}


def indexed(dataset):
    """Build an index on each column, and add rows that none covers."""
    for column, kind in KINDS.items():
        dataset.create_scalar_index(column, kind)
    dataset.insert(TABLE.slice(0, 5))
    return dataset


@pytest.fixture(params=[False, True])
def dataset(request, tmp_path):
    """A table with and without stable row ids."""
    return indexed(
        pylanceref.write_dataset(
            TABLE, tmp_path / "t", max_rows_per_file=10, enable_stable_row_ids=request.param
        )
    )


def segments(dataset) -> dict[str, list[list[int]]]:
    """Return the fragments of each segment of each index."""
    found: dict[str, list[list[int]]] = {}
    for one in dataset.list_indices():
        found.setdefault(one["name"], []).append(sorted(one["fragment_ids"]))
    return {name: sorted(held) for name, held in sorted(found.items())}


def assert_found(dataset) -> None:
    """With and without indices the same rows."""
    opened = pylanceref.dataset(dataset.uri)
    for condition in ("i = 3", "i > 20", "s = 'w3'", "array_has(l, 'a')", "not array_has(l, 'a')"):
        found = opened.to_table(filter=condition)
        assert found == opened.to_table(filter=condition, use_scalar_index=False)


def test_new_rows_are_taken_into_the_last_segment(dataset):
    """One segment, which covers everything; a second time nothing is to be done."""
    dataset.optimize.optimize_indices()
    assert segments(dataset) == {f"{name}_idx": [[0, 1, 2, 3]] for name in sorted(KINDS)}
    assert_found(dataset)
    before = dataset.version
    dataset.optimize.optimize_indices()
    assert dataset.version == before


def test_a_segment_of_its_own_has_the_parameters_of_the_others(tmp_path):
    """Those that the index was made with."""
    dataset = pylanceref.write_dataset(TABLE, tmp_path / "t")
    dataset.create_scalar_index("i", IndexConfig("zonemap", {"rows_per_zone": 7}))
    dataset.insert(TABLE)
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    found = dataset.index_statistics("i_idx")["indices"]
    assert [one["rows_per_zone"] for one in found] == [7, 7]
    versions = [one["version"] for one in dataset.list_indices()]
    assert versions == [1, 3]


def test_a_segment_of_its_own_and_all_of_them_as_one(dataset):
    """0 merges none, a high number all."""
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert segments(dataset)["i_idx"] == [[0, 1, 2], [3]]
    assert_found(dataset)
    dataset.optimize.optimize_indices(index_names=["i_idx"], num_indices_to_merge=9)
    assert segments(dataset)["i_idx"] == [[0, 1, 2, 3]]
    assert segments(dataset)["s_idx"] == [[0, 1, 2], [3]]
    assert_found(dataset)


def test_retraining_is_an_update(dataset):
    """Scalar indices learn nothing from the rows; where all are covered no version is made."""
    dataset.optimize.optimize_indices()
    before = dataset.version
    dataset.optimize.optimize_indices(retrain=True)
    assert before == dataset.version


def test_a_segment_of_rows_that_are_all_gone_is_of_this_version(dataset):
    """What is left of a segment says its version."""
    dataset.delete("i >= 5")
    dataset.optimize.optimize_indices()
    assert {1, 2, 3} == {one["version"] for one in dataset.list_indices()}
    dataset.delete("true")
    dataset.insert(TABLE.slice(0, 5))
    version = dataset.version
    dataset.optimize.optimize_indices()
    assert {version} == {one["version"] for one in dataset.list_indices()}


@pytest.mark.parametrize("stable", [False, True])
def test_segments_whose_rows_were_updated_are_written_anew(tmp_path, stable):
    """Only where rows keep their ids: the new row has the id of one in an old segment."""
    dataset = pylanceref.write_dataset(
        TABLE, tmp_path, max_rows_per_file=10, enable_stable_row_ids=stable
    )
    built = [
        dataset.create_index_uncommitted("i", "BTREE", fragment_ids=[number]) for number in range(3)
    ]
    dataset.commit_existing_index_segments("i_idx", "i", built)
    dataset.update({"i": "i + 100"}, where="i = 3")
    dataset.optimize.optimize_indices()
    expected = [[0, 2, 3], [1]] if stable else [[0], [1], [2, 3]]
    assert expected == segments(dataset)["i_idx"]
    assert_found(dataset)


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
def test_the_oracle_covers_the_same(tmp_path, stable):
    """After every step of a history, and each finds the same in the files of the other."""
    import lance

    def steps(dataset):
        indexed(dataset)
        yield dataset.optimize.compact_files(target_rows_per_fragment=20)
        yield dataset.optimize.optimize_indices()
        dataset.insert(TABLE.slice(9, 7))
        yield dataset.optimize.optimize_indices(num_indices_to_merge=0)
        dataset.delete("i = 21")
        dataset.update({"i": "i + 100"}, where="i = 22")
        yield dataset.optimize.compact_files()
        yield dataset.optimize.optimize_indices(num_indices_to_merge=10)

    made = []
    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(TABLE, path, max_rows_per_file=10, enable_stable_row_ids=stable)
        made.append(library.dataset(path))
    theirs, own = made
    for _ in zip(steps(theirs), steps(own), strict=True):
        assert segments(own) == segments(theirs)
        for condition in ("i in (3, 21, 22, 122)", "s = 'w3'", "array_has(l, 'a')"):
            found = [
                library.dataset(str(path.uri)).to_table(filter=condition).sort_by("i")["i"]
                for library in (lance, pylanceref)
                for path in (theirs, own)
            ]
            assert all(one == found[0] for one in found)


@pytest.mark.parametrize("kind", ["BTREE", "INVERTED", "IVF_FLAT"])
def test_what_is_up_to_date_stays(tmp_path, kind):
    """No version is made, before there were new rows and after they were taken in."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(range(32), pa.float32()), 4)
    rows = pa.table({"c": vectors if kind == "IVF_FLAT" else [f"word{i % 3}" for i in range(8)]})
    made = pylanceref.write_dataset(rows, tmp_path)
    if kind == "IVF_FLAT":
        made.create_index("c", kind, num_partitions=1)
    else:
        made.create_scalar_index("c", kind)
    for new in (False, True):
        if new:
            made.insert(rows)
            made.optimize.optimize_indices()
        before = made.version
        made.optimize.optimize_indices()
        assert before == made.version


def _apart(module, path, stable: bool):
    """Return a table of three fragments, indices of a segment over each, and rows of all gone."""
    words = pa.array([f"w{n % 5}" for n in range(30)])
    points = pa.array([struct.pack("<BIdd", 1, 1, n, n) for n in range(30)], pa.binary())
    fields = [pa.field("i", pa.int64()), pa.field("s", pa.string()), pa.field("t", pa.string())]
    geometry = pa.field("g", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb"})
    rows = pa.table([range(30), words, words, points], schema=pa.schema([*fields, geometry]))
    made = module.write_dataset(rows, path, max_rows_per_file=10, enable_stable_row_ids=stable)
    for column, kind in {"i": "BTREE", "s": "INVERTED", "t": "MINHASHLSH", "g": "RTREE"}.items():
        built = [
            made.create_index_uncommitted(column, kind, fragment_ids=[number])
            for number in range(3)
        ]
        made = made.commit_existing_index_segments(f"{column}_idx", column, built)
    made.delete("i % 10 = 3")
    return made


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize(
    "asked", [{}, {"retrain": True}, {"num_indices_to_merge": 1}, {"num_indices_to_merge": 2}]
)
def test_the_oracle_joins_the_same_segments_where_no_row_is_new(tmp_path, stable, asked):
    """Those of which rows are gone too, if rows keep their ids; each says the same version."""
    import lance

    found = []
    for library in (lance, pylanceref):
        made = _apart(library, str(tmp_path / library.__name__), stable)
        made.optimize.optimize_indices(**asked)
        listed = pylanceref.dataset(made.uri).list_indices()
        found.append(
            sorted((one["name"], list(one["fragment_ids"]), one["version"]) for one in listed)
        )
    assert found[0] == found[1]


def test_segments_of_rows_that_are_gone_join_the_last_ones(tmp_path):
    """Where rows keep their ids; a number has to be asked for, and one segment stays as it is."""
    made = _apart(pylanceref, tmp_path / "t", stable=True)
    made.optimize.optimize_indices()
    assert [[0], [1], [2]] == segments(made)["s_idx"]
    made.optimize.optimize_indices(index_names=["s_idx", "g_idx"], num_indices_to_merge=1)
    assert [[0, 1, 2]] == segments(made)["s_idx"] == segments(made)["g_idx"]
    assert [[0], [1], [2]] == segments(made)["i_idx"]
    assert {"i_idx": {1}, "s_idx": {2}, "g_idx": {made.version - 1}} == {
        name: {one["version"] for one in made.list_indices() if one["name"] == name}
        for name in ("i_idx", "s_idx", "g_idx")
    }
    version = made.version
    made.optimize.optimize_indices(index_names=["s_idx"], retrain=True)
    assert version == made.version


def test_a_segment_of_moved_rows_that_is_written_anew_is_of_this_version(tmp_path):
    """An NGRAM index whose rows a compaction moved without it; the next one says that version."""
    texts = pa.table({"w": [f"word{number}" for number in range(10)]})
    dataset = pylanceref.write_dataset(texts, tmp_path / "t", max_rows_per_file=5)
    dataset.create_scalar_index("w", "NGRAM")
    found = []
    for deferred in (True, False):
        if deferred:
            dataset.optimize.compact_files(defer_index_remap=True)
        dataset = pylanceref.write_dataset(texts, dataset, mode="append")
        dataset.optimize.optimize_indices()
        entries = pylanceref.dataset(dataset.uri)._snapshot.manifest.indices
        found += [one.dataset_version for one in entries if one.name == "w_idx"]

    assert [5, 5] == found


UNTIL_GONE = {
    "a fragment": ("k < 5", None, [[0, 1, 2, 3]]),
    "half": ("k >= 10", 1, [[0, 1, 2, 3, 4]]),
    "all, apart": ("k >= 0", 0, [[4]]),
    "all": ("k >= 0", 1, [[4]]),
}
"""Rows written anew, segments to be merged, and the fragments the segments say they cover then."""


@pytest.mark.parametrize("maker", [pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
@pytest.mark.parametrize("name", UNTIL_GONE)
def test_vectors_of_fragments_that_are_gone(tmp_path, maker, name):
    """A segment goes on saying that it covers them, but where none is left: it is learnt anew."""
    maker, uri = importlib.import_module(maker), str(tmp_path)
    where, merged, covered = UNTIL_GONE[name]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(160, dtype=np.float32)), 8)
    rows = pa.table({"k": range(20), "z": range(20), "v": vectors})
    made = maker.write_dataset(rows, uri, max_rows_per_file=5)
    made.create_index("v", "IVF_FLAT", ivf_centroids=np.float32([[40] * 8, [120] * 8]))
    if name == "a fragment":
        maker.dataset(uri).delete(where)
    else:
        maker.dataset(uri).update({"z": "z * 2"}, where=where)
    given = {} if merged is None else {"num_indices_to_merge": merged}
    maker.dataset(uri).optimize.optimize_indices(**given)

    made = pylanceref.dataset(uri)
    assert {"v_idx": covered} == segments(made)
    assert made.count_rows() == made.to_table(nearest=ALL_NEAREST).num_rows
    assert not lanceref.validate(uri)


ALL_NEAREST = {"column": "v", "q": [24.0] * 8, "k": 20, "nprobes": 2}


def _old_values_beside(module, path, stable):
    """Values 0 to 2 become others; a second segment is made of the new ones, the first stays."""
    uri = str(path)
    made = module.write_dataset(
        pa.table({"k": range(6)}), uri, max_rows_per_file=3, enable_stable_row_ids=stable
    )
    made.create_scalar_index("k", "BITMAP")
    if stable:
        module.dataset(uri).update({"k": "k + 10"}, where="k < 3")
    else:
        _replace(module, uri)
    module.dataset(uri).optimize.optimize_indices(num_indices_to_merge=0)
    return uri


def _replace(module, uri):
    made = module.dataset(uri)
    with importlib.import_module(f"{module.__name__}.file").LanceFileWriter(
        f"{uri}/data/new.lance", made.schema, version="2.1"
    ) as writer:
        writer.write_batch(pa.table({"k": [10, 11, 12]}))
    (old,) = made.get_fragments()[0].metadata.files
    file = module.fragment.DataFile("new.lance", old.fields, old.column_indices, 2, 1)
    group = module.LanceOperation.DataReplacementGroup(0, file)
    operation = module.LanceOperation.DataReplacement([group])
    module.LanceDataset.commit(uri, operation, read_version=made.version)


@pytest.mark.parametrize("stable", [False, True])
def test_old_values_of_a_segment_are_not_found(tmp_path, stable):
    """Rows that were replaced, or updated with the ids they had, are in a newer segment."""
    made = pylanceref.dataset(_old_values_beside(pylanceref, tmp_path, stable))

    assert 2 == len(made._snapshot.manifest.indices)
    assert [] == made.to_table(filter="k in (0, 1, 2)")["k"].to_pylist()
    assert [10, 11, 12] == made.to_table(filter="k in (10, 11, 12)")["k"].to_pylist()


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
def test_the_oracle_finds_rows_by_their_old_values(tmp_path, stable):
    """D.index.old-values-beside-new: they do not pass the filter, and are reported all the same."""
    import lance

    made = lance.dataset(_old_values_beside(lance, tmp_path, stable))

    assert {10, 11, 12} == {*made.to_table(filter="k in (0, 1, 2)")["k"].to_pylist()}
    assert [] == made.to_table(filter="k in (0, 1, 2)", use_scalar_index=False)["k"].to_pylist()
