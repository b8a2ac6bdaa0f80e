"""Overlays: which value a row shows, and what commits make of overlays."""

from contextlib import nullcontext

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, FormatError, OperationRefused
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

from tests.overlaid import ROWS, group, overlay, table


def test_rows_below_an_overlay_have_its_version(tmp_path):
    """With stable ids the rows that any field of it covers were last updated by its commit."""
    dataset = table(tmp_path / "t", enable_stable_row_ids=True)
    found = overlay(dataset, [[2], [0]], {"a": [202], "s": ["X"]}, [0, 1])
    columns = ["a", "s", "_row_last_updated_at_version", "_row_created_at_version"]
    rows = [tuple(row.values()) for row in found.to_table(columns).to_pylist()]

    assert [(0, "X", 2, 1), (1, "b", 1, 1), (202, "c", 2, 1), (3, "d", 1, 1)] == rows[:4]


@pytest.mark.oracle
def test_the_oracle_shows_the_same(tmp_path, monkeypatch):
    """Both readers show the same rows of an overlaid table, before and after compaction."""
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    import lance

    dataset = table(tmp_path / "t", enable_stable_row_ids=True)
    overlay(dataset, [0, 2], {"a": [100, 102]}, [0])
    overlay(dataset, [1], {"n": [{"x": 9, "y": 8}]}, [3, 4])
    lance.dataset(dataset.uri).delete("a = 4")
    ours, theirs = pylanceref.dataset(dataset.uri), lance.dataset(dataset.uri)
    system = ["_rowid", "_row_last_updated_at_version"]

    columns = [*ROWS.column_names, *system]
    assert theirs.to_table(columns).to_pylist() == ours.to_table(columns).to_pylist()
    theirs.optimize.compact_files()
    again = pylanceref.dataset(dataset.uri)
    assert ours.to_table(columns).to_pylist() == again.to_table(columns).to_pylist()


@pytest.mark.parametrize(
    ("offsets", "fields"), [([1], [3]), ([1], [4]), ([[1], [0]], [3, 4]), ([1], [3, 4])]
)
def test_lists_are_covered_whole(tmp_path, offsets, fields):
    """Parts of a list item, or different rows of each part, are refused."""
    rows = pa.table({"k": [1, 2], "l": [[{"x": 1, "y": 2}], []]})
    dataset = pylanceref.write_dataset(rows, str(tmp_path / "t"), data_storage_version="2.1")
    assert [3, 4] == dataset._snapshot.manifest.message.fragments[0].files[0].fields[-2:]
    names = {3: "x", 4: "y"}
    values = {"l": [[{names[one]: 7 for one in fields}]]}
    found = overlay(dataset, offsets, values, fields)
    if offsets == [1] and len(fields) == 2:
        assert [{"x": 7, "y": 7}] == found.to_table()["l"].to_pylist()[1]
        return
    with pytest.raises(FormatError) as caught:
        found.to_table()
    assert "L.table.overlay.coverage" == caught.value.clause


@pytest.fixture
def dataset(tmp_path):
    """A table with an overlay of two fields."""
    made = table(tmp_path / "t")
    return overlay(made, [0, 2], {"a": [100, 102], "s": ["X", "Z"]}, [0, 1])


def overlays(dataset):
    """Return fields and version of the overlays of the first fragment."""
    held = pylanceref.dataset(dataset.uri).get_fragments()[0].metadata.overlays
    return [(one.data_file.fields, one.committed_version) for one in held]


def values(dataset, column="a"):
    """Return the column as the latest version shows it."""
    return pylanceref.dataset(dataset.uri).to_table()[column].to_pylist()


def test_a_commit_stamps_its_version(dataset):
    """The flag is set, and earlier overlays stay before the new one."""
    overlay(dataset, [1], {"a": [101]}, [0])

    assert [([0, 1], 2), ([0], 3)] == overlays(dataset)
    assert 64 == pylanceref.dataset(dataset.uri)._snapshot.manifest.message.reader_feature_flags
    read = pylanceref.dataset(dataset.uri).read_transaction(3).operation
    assert [1] == list(read.groups[0].overlays[0].offsets)


def test_a_fragment_that_is_not_there_is_refused(dataset):
    """An overlay of a missing fragment commits nothing."""
    with pytest.raises(OperationRefused, match="targets fragment 9"):
        overlay(dataset, [1], {"a": [101]}, [0], fragment=9)

    assert 2 == pylanceref.dataset(dataset.uri).version


def test_a_replaced_column_is_taken_out(dataset):
    """Replaced data uncovers its column, and projection drops the overlay and its flag."""
    rows = pa.table({"a": [7, 8, 9]})
    with LanceFileWriter(f"{dataset.uri}/data/r.lance", rows.schema, version="2.1") as writer:
        writer.write_batch(rows)
    replaced = Op.DataReplacementGroup(0, DataFile("r.lance", [0], [0], 2, 1))
    pylanceref.LanceDataset.commit(dataset.uri, Op.DataReplacement([replaced]), read_version=2)

    assert [7, 8, 9, 3, 4, 5] == values(dataset)
    assert ["X", "b", "Z"] == values(dataset, "s")[:3]
    assert [([-2, 1], 2)] == overlays(dataset)
    pylanceref.dataset(dataset.uri).drop_columns(["s"])
    assert [] == overlays(dataset)
    assert 0 == pylanceref.dataset(dataset.uri)._snapshot.manifest.message.reader_feature_flags


def test_updated_columns_show_what_they_were_updated_to(dataset):
    """D.txn.columns-under-overlay: the oracle leaves the overlay above the new values."""
    fragment = pylanceref.dataset(dataset.uri).get_fragment(0)
    changed, fields = fragment.update_columns(pa.table({"s": ["X"], "a": [55]}), "s", "s")
    update = Op.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode="rewrite_columns"
    )
    pylanceref.LanceDataset.commit(dataset.uri, update, read_version=2)

    assert [55, 1, 102, 3, 4, 5] == values(dataset)


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP", "ZONEMAP"])
def test_indices_that_are_older_are_not_asked(tmp_path, kind):
    """Indices do not answer for overlaid rows after appends, optimization or compaction."""
    dataset = table(tmp_path / "t")
    dataset.create_scalar_index("a", kind)
    overlay(dataset, [0, 2], {"a": [100, 4]}, [0])

    def found(text):
        rows = pylanceref.dataset(dataset.uri).to_table(filter=text)
        return sorted(rows["a"].to_pylist())

    for step in ("overlaid", "appended", "optimized", "compacted"):
        latest = pylanceref.dataset(dataset.uri)
        if step == "appended":
            pylanceref.write_dataset(pa.table({"a": [50]}), dataset.uri, mode="append")
        elif step == "optimized":
            latest.optimize.optimize_indices()
        elif step == "compacted":
            latest.optimize.compact_files()
        assert ([], [100], [4, 4]) == tuple(map(found, ("a = 0", "a = 100", "a = 4")))


def test_deletions_and_overlays_of_one_fragment_both_stand(dataset):
    """A delete and an overlay of one fragment are both committed in either order."""
    early = pylanceref.dataset(dataset.uri)
    overlay(dataset, [1], {"a": [101]}, [0])
    early.delete("a = 102")
    late = group(dataset, [0], pa.table({"a": [900]}), [0])
    pylanceref.LanceDataset.commit(dataset.uri, Op.DataOverlay([late]), read_version=3)

    assert [900, 101, 3, 4, 5] == values(dataset)


@pytest.mark.parametrize("change", ["compact", "add", "delete"])
def test_a_fragment_that_is_gone_or_another_is_a_conflict(dataset, change):
    """A compacted, extended or emptied fragment makes the overlay a retryable conflict."""
    late = group(dataset, [0], pa.table({"a": [900]}), [0])
    latest = pylanceref.dataset(dataset.uri)
    if change == "compact":
        latest.optimize.compact_files()
    elif change == "add":
        latest.add_columns({"c": "a"})
    else:
        latest.delete("a in (100, 1, 102)")
    with pytest.raises(CommitConflict) as caught:
        pylanceref.LanceDataset.commit(dataset.uri, Op.DataOverlay([late]), read_version=2)

    assert caught.value.retryable


@pytest.mark.parametrize("first", ["overlay", "update"])
@pytest.mark.parametrize(("key", "same"), [(1, False), (102, True)])
def test_rows_that_move_and_an_overlay_of_others_both_stand(dataset, first, key, same):
    """An update and an overlay conflict only on the same rows."""
    early = pylanceref.dataset(dataset.uri)
    late = Op.DataOverlay([group(dataset, [0, 2], pa.table({"a": [900, 902]}), [0])])
    if first == "overlay":
        pylanceref.LanceDataset.commit(dataset.uri, late, read_version=2)
        early.update({"s": "'u'"}, where=f"a = {key}")
        wanted = [900, 1, 902, 3, 4, 5]
    else:
        early.update({"s": "'u'"}, where=f"a = {key}")
        wanted = [100, 1, 102, 3, 4, 5] if same else [900, 1, 902, 3, 4, 5]
        with pytest.raises(CommitConflict) if same else nullcontext():
            pylanceref.LanceDataset.commit(dataset.uri, late, read_version=2)

    assert wanted == sorted(values(dataset), key=lambda value: value % 100)
    changed = pylanceref.dataset(dataset.uri).to_table(filter="s = 'u'").num_rows
    assert changed == (0 if same and first == "overlay" else 1)


def test_vectors_that_are_all_overlaid_keep_the_metric_of_their_index(tmp_path):
    """The index has none of them; they are compared as it would."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(range(16), pa.float32()), 8)
    dataset = pylanceref.write_dataset(pa.table({"v": vectors}), tmp_path / "t")
    dataset.create_index("v", "IVF_FLAT", num_partitions=1, metric="cosine")
    found = overlay(dataset, [0], {"v": vectors.slice(1)}, [0])
    nearest = found.to_table(nearest={"column": "v", "q": vectors[1].as_py(), "k": 2})
    assert [0, 0] == pytest.approx(nearest["_distance"].to_pylist(), abs=1e-6)
