"""The indices of a version; their files and builds: written, read again, reported and counted."""

import shutil
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.suite.case_storage import materialise
from lanceref.core.context import Context
from lanceref.core.errors import DataRefused, FormatError, OperationRefused
from lanceref.core.file_versions import V2_1
from lanceref.index import index_file
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.scalar import btree
from lanceref.index.segment import SegmentWriter, Uses
from lanceref.inspection import explain_source, validate
from lanceref.storage import LocalStore

from .tables import ids, write

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.mark.parametrize("anew", [False, True])
def test_an_index_of_an_early_release_is_brought_up_to_date(tmp_path, anew):
    """Where it is not compacted first: then it covers nothing, and is built over all rows too."""
    shutil.copytree(
        materialise(FIXTURES / "table/any/backward/0-20-0-indexed/dataset"), tmp_path / "t"
    )
    dataset = pylanceref.dataset(tmp_path / "t")
    (index,) = dataset._snapshot.indices.known
    (path,) = [name for name, held in dataset._snapshot.indices.by_path.items() if index in held]
    (stated,) = dataset.stats.index_stats(index.name)["segments"]
    dataset.prewarm_index(index.name)
    pylanceref.write_dataset(dataset.to_table(), tmp_path / "t", mode="append")
    dataset = pylanceref.dataset(tmp_path / "t")
    if anew:
        dataset.optimize.compact_files()
    dataset.optimize.optimize_indices()
    wanted = dataset.to_table(filter=f"{path} is not null", use_scalar_index=False)
    after = pylanceref.dataset(tmp_path / "t")
    (index,) = after._snapshot.indices.known

    assert stated == {}
    assert [one.id for one in after._snapshot.manifest.fragments] == list(index.segments[0].covers)
    assert not index.is_early(index.segments[0])
    assert wanted.equals(after.to_table(filter=f"{path} is not null"))
    found = lanceref.validate(tmp_path / "t", deep=True)
    assert [] == [one for one in found if "must" in one.severity]


FROZEN = Path(__file__).parents[3] / "fixtures" / "index" / "any"


@pytest.mark.parametrize(
    "case", ["zonemap/4-0-1-nulls", "zonemap/4-0-1-values", "bloomfilter/4-0-1-nulls"]
)
@pytest.mark.parametrize("change", ["optimize", "compact"])
def test_segments_without_sets_of_nulls_are_continued(tmp_path, case, change):
    """Those of 4.0.1, brought up to date or rewritten, leave no row out and are found whole."""
    shutil.copytree(materialise(FROZEN / case / "dataset"), tmp_path / "t")
    dataset = pylanceref.dataset(tmp_path / "t")
    if change == "optimize":
        dataset.optimize.optimize_indices()
    else:
        dataset.optimize.compact_files(target_rows_per_fragment=100)
    for condition in ("c = 5", "c IS NULL", "c IS NOT NULL", "c = 3 OR c IS NULL"):
        found = dataset.to_table(filter=condition)
        assert found == dataset.to_table(filter=condition, use_scalar_index=False)
        assert len(found)
    assert [] == [one.clause for one in lanceref.validate(dataset.uri, deep=True)]


@pytest.mark.parametrize("kind", ["ZONEMAP", "BLOOMFILTER"])
def test_a_fragment_without_zones_is_scanned_and_reported(tmp_path, kind):
    """Early releases said of rows that they moved that the zones of the old places cover them."""
    dataset = pylanceref.write_dataset(pa.table({"i": [1, None, 3]}), tmp_path / "t")
    dataset.create_scalar_index("i", kind, name="known")
    (entry,) = dataset._snapshot.manifest.indices
    dataset.insert(pa.table({"i": [3, None]}))
    dataset.drop_index("known")
    details = entry.index_details.type_url, entry.index_details.value
    uuid = str(UUID(bytes=entry.uuid.uuid))
    stale = pylanceref.Index(uuid, "i_idx", [0], 1, {0, 1}, 0, index_details=details)
    made = pylanceref.LanceOperation.CreateIndex([stale], [])
    dataset = pylanceref.LanceDataset.commit(dataset.uri, made, read_version=dataset.version)

    assert [3, 3] == dataset.to_table(filter="i = 3")["i"].to_pylist()
    assert 2 == dataset.count_rows("i is null")
    assert [1, 3, 3] == dataset.to_table(filter="i is not null")["i"].to_pylist()
    clauses = [{one.clause for one in validate(dataset.uri, deep=True)}]
    dataset.drop_index("i_idx")
    ahead = replace(stale, dataset_version=99)
    made = pylanceref.LanceOperation.CreateIndex([ahead], [])
    dataset = pylanceref.LanceDataset.commit(dataset.uri, made, read_version=dataset.version)
    clauses.append({one.clause for one in validate(dataset.uri, deep=True)})
    assert [{"L.index.segment.complete"}, {"L.index.segment.dataset-version"}] == clauses


MIXED = pa.table({"i": [1, 2], "s": ["a", "b"], "l": [[1], []], "o": [True, False]})


def _moved(root: Path, kind: str, column: int, other: int) -> pylanceref.LanceDataset:
    """Return a table where the index of a field is said to be that of another field."""
    dataset = pylanceref.write_dataset(MIXED, root / "t")
    dataset.create_scalar_index(MIXED.column_names[column], kind, name="known")
    (entry,) = dataset._snapshot.manifest.indices
    dataset.drop_index("known")
    details = entry.index_details.type_url, entry.index_details.value
    uuid, version = str(UUID(bytes=entry.uuid.uuid)), entry.index_version
    ids = [field.id() for field in dataset.lance_schema.fields()]
    moved = pylanceref.Index(uuid, "moved", [ids[other]], 1, {0}, version, index_details=details)
    made = pylanceref.LanceOperation.CreateIndex([moved], [])
    return pylanceref.LanceDataset.commit(dataset.uri, made, read_version=dataset.version)


@pytest.mark.parametrize(
    ("kind", "column", "other"),
    [("BLOOMFILTER", 1, 3), ("LABEL_LIST", 2, 0), ("NGRAM", 1, 0), ("INVERTED", 1, 2)],
)
def test_an_index_of_a_field_that_it_is_not_made_for(tmp_path, kind, column, other):
    """It is asked nothing, reported, and not continued."""
    dataset = _moved(tmp_path, kind, column, other)
    for condition in ("o", "i = 1", "array_has(l, 1)"):
        assert [1] == dataset.to_table(filter=condition)["i"].to_pylist()
    assert "L.index.segment.entry" in {one.clause for one in validate(dataset.uri, deep=True)}
    dataset.insert(MIXED)
    with pytest.raises(OperationRefused, match=f"{kind} cannot index"):
        dataset.optimize.optimize_indices()


NOON, MIDNIGHT = "timestamp '1970-01-02 12:00:00'", "timestamp '1970-01-01 00:00:00'"
ZONED = pa.array([0, 18_000, -18_000], pa.timestamp("s", "America/New_York"))
EAST = pa.array([0, 18_000, -18_000], pa.timestamp("s", "+05:00"))
DAYS = pa.array([0, 1, 2], pa.date32())
ZEROS = pa.array([[0.0], [-0.0, 2.5], None])


@pytest.mark.parametrize(
    ("column", "kind", "condition", "rows"),
    [
        (ZONED, "BTREE", f"c = {MIDNIGHT}", [1]),
        (ZONED, "BITMAP", f"c < {MIDNIGHT}", [0, 2]),
        (EAST, "ZONEMAP", f"c = {MIDNIGHT}", [2]),
        (DAYS, "BTREE", f"c = {NOON}", []),
        (DAYS.cast(pa.date64()), "BTREE", f"c in ({NOON})", []),
        (DAYS, "BITMAP", f"c < {NOON}", [0, 1]),
        (DAYS, "BTREE", "c >= timestamp '1970-01-02 00:00:00'", [1, 2]),
        (ZEROS, "LABEL_LIST", "array_has(c, 0.0)", [0]),
        (ZEROS, "LABEL_LIST", "array_has_all(c, [-0.0, 2.5])", [1]),
    ],
)
def test_an_index_takes_a_literal_as_a_scan_does(tmp_path, column, kind, condition, rows):
    """Times without a zone are local, days are midnights, and a label has its sign."""
    dataset = write(pa.table({"c": column}), tmp_path)
    dataset.create_scalar_index("c", kind)

    assert rows == ids(dataset, condition) == ids(dataset, condition, use_scalar_index=False)


@pytest.mark.parametrize(("column", "other", "condition"), [(0, 1, "s = 'a'"), (1, 0, "i > 1")])
def test_bounds_of_another_type_are_refused(tmp_path, column, other, condition):
    """As they cannot be compared with what is asked for."""
    with pytest.raises(FormatError, match="the type of the column"):
        _moved(tmp_path, "ZONEMAP", column, other).to_table(filter=condition)


@pytest.mark.oracle
def test_the_oracle_indexes_the_struct_of_a_name_with_a_digit_first(tmp_path):
    """Its keys are structs, which have no order: D.index.names-with-digits."""
    import lance

    made = lance.write_dataset(pa.table({"s": [{"1c": 1}, None]}), tmp_path / "t")
    made.create_scalar_index("s.`1c`", "BTREE")
    with pytest.raises(FormatError, match="a type that has an order"):
        pylanceref.dataset(made.uri).to_table(filter="s.`1c` = 1")


@pytest.mark.parametrize("kind", ["ZONEMAP", "BLOOMFILTER"])
def test_rows_wrongly_told_to_be_null_are_reported(tmp_path, kind):
    """A writer that replaces a null in place must take the fragment from the index."""
    rows = pa.table({"k": [1, 2], "g": pa.array([1, None], pa.int64())})
    dataset = pylanceref.write_dataset(rows, tmp_path / "t")
    dataset.create_scalar_index("g", kind)
    new = pa.table({"k": [2], "g": [20]})
    updated, _ = dataset.get_fragments()[0].update_columns(new, left_on="k")
    operation = pylanceref.LanceOperation.Update(updated_fragments=[updated])
    pylanceref.LanceDataset.commit(dataset.uri, operation, read_version=dataset.version)

    assert ["L.index.zones.nulls"] == [one.clause for one in validate(dataset.uri, deep=True)]


@pytest.mark.parametrize("early", [False, True])
def test_keys_are_addresses_under_stable_row_ids(tmp_path, monkeypatch, early):
    """A moved row is found where it is now, by its new value; early row ids become addresses."""
    table = pa.table({"i": range(10)})
    dataset = write(table, tmp_path, enable_stable_row_ids=True, max_rows_per_file=5)
    with monkeypatch.context() as before:
        if early:
            before.setattr(btree.BTree, "address_version", None)
            before.setattr(btree, "BY_ADDRESS", 0)
        dataset.create_scalar_index("i", "BTREE")
    dataset.update({"i": "100"}, where="i = 3")
    dataset.update({"i": "i"}, where="i = 4")
    for wanted in (0 if early else 1, 1):
        opened = pylanceref.dataset(dataset.uri)
        assert opened._snapshot.manifest.indices[0].index_version == wanted
        assert [ids(opened, f"i = {one}") for one in (3, 4, 7, 100)] == [[], [4], [7], [3]]
        opened.optimize.optimize_indices(num_indices_to_merge=0)


def test_keys_under_their_early_name_are_kept_in_memory():
    """An index of 0.33.0 that has been warmed up finds the same rows."""
    dataset = pylanceref.dataset(materialise(FROZEN / "btree/0-33-0-row-ids/dataset"))
    (name,) = [one.name for one in dataset._snapshot.indices.known]
    found = ids(dataset, "c >= 3 AND c < 9")
    warm = pylanceref.dataset(dataset.uri)
    warm.prewarm_index(name)
    assert found == ids(warm, "c >= 3 AND c < 9")
    assert warm.index_cache_hit_rate() > 0
    assert [0, 1, 0.75] == [one.hit_rate for one in (Uses(), Uses(hits=1), Uses(loaded=1, hits=3))]


SCHEMA = pa.schema([pa.field("n", pa.uint32(), nullable=False)])


@pytest.fixture
def written(tmp_path):
    """A file of ten rows with metadata and two buffers."""
    store = LocalStore(tmp_path)
    batch = pa.record_batch([pa.array(range(10), pa.uint32())], schema=SCHEMA)
    size = write_index_file(
        store, "f.lance", SCHEMA, V2_1, [batch], {"k": "12", "t": "x"}, [b"one", b"two"]
    )
    return store, size


def opened(written, size=None) -> IndexFile:
    """Open the file."""
    return IndexFile(written[0].open("f.lance"), Context("f.lance"), size)


def test_what_was_written_is_read(written):
    """Rows, some of them, metadata, buffers."""
    file = opened(written, written[1])
    assert file.read("n", pa.uint32(), 2, 4).to_pylist() == [2, 3]
    assert file.take("n", np.array([1, 9])).to_pylist() == [1, 9]
    assert (file.number("k"), file.text("t"), file.num_rows) == (12, "x", 10)
    assert bytes(file.buffer(2).take(3, "two", "L.index.files.buffer")) == b"two"
    explained = explain_source(written[0].open("f.lance"))
    assert [] == explained.unowned
    assert {"global buffer 1", "global buffer 2"} < {one.name for one in explained.root.leaves()}


def test_keys_have_an_order(tmp_path):
    """Numbers are keys, lists and structs of them are not."""
    schema = pa.schema({"n": pa.int8(), "l": pa.list_(pa.int8()), "s": pa.struct({"x": pa.int8()})})
    batch = pa.record_batch([[2, 1], [[2], [1]], [{"x": 2}, {"x": 1}]], schema=schema)
    store = LocalStore(tmp_path)
    file = opened((store, 0), write_index_file(store, "f.lance", schema, V2_1, [batch], {}))
    assert file.read_ordered("n").to_pylist() == [2, 1]
    for name in ("l", "s"):
        with pytest.raises(FormatError, match="a type that has an order"):
            file.read_ordered(name)


def test_a_small_file_is_read_once(tmp_path, monkeypatch):
    """Its columns then cost no request; a larger one stays as it is."""
    schema = pa.schema([SCHEMA.field("n"), ("wide", pa.large_binary()), ("m", pa.uint64())])
    wide = [bytes([number]) * 30_000 for number in range(10)]
    columns = [list(range(10)), wide, [number * number for number in range(10)]]
    arrays = [pa.array(one, field.type) for one, field in zip(columns, schema, strict=True)]
    store = LocalStore(tmp_path)
    batch = pa.record_batch(arrays, schema=schema)
    size = write_index_file(store, "f.lance", schema, V2_1, [batch], {})
    for most, is_read in ((size, 1), (size - 1, 0)):
        monkeypatch.setattr(index_file, "SMALL_BYTES", most)
        file = opened((store, 0))
        store.stats.incremental()
        file.hold()
        assert store.stats.incremental().read_iops == is_read
        assert file.read("n", pa.uint32()).to_pylist() == columns[0]
        assert file.read("m", pa.uint64()).to_pylist() == columns[2]
        assert file.take("wide", np.array([3, 4])).to_pylist() == wide[3:5]
        assert (store.stats.incremental().read_iops == 0) == bool(is_read)


NUMBERS = pa.schema([pa.field("n", pa.int64())])


def test_files_are_listed_with_their_sizes(tmp_path):
    """Index files and others."""
    with SegmentWriter(LocalStore(tmp_path), V2_1) as writer:
        writer.write_file("a.lance", NUMBERS, [pa.record_batch({"n": [1]})])
        writer.write_bytes("b.bin", b"123")
    for file in writer.files:
        assert (tmp_path / writer.folder / file.path).stat().st_size == file.size_bytes
    assert [file.path for file in writer.files] == ["a.lance", "b.bin"]


def test_an_error_leaves_nothing(tmp_path):
    """Not even the folder."""
    with pytest.raises(DataRefused), SegmentWriter(LocalStore(tmp_path), V2_1) as writer:
        writer.write_file("a.lance", NUMBERS, [pa.record_batch({"n": [1]})])
        writer.write_file("b.lance", NUMBERS, [pa.record_batch({"n": ["x"]})])
    assert not (tmp_path / writer.folder).exists()


@pytest.mark.parametrize(("least", "faults"), [(1, []), (2, ["L.index.btree.bounds"])])
def test_bounds_may_pass_over_nulls(tmp_path, monkeypatch, least, faults):
    """As those of release 0.24.1: the page with nulls and values begins with the first value."""
    lookup, given = btree._lookup, pa.array([None, least, 2, 4], pa.int64())
    with monkeypatch.context() as early:
        early.setattr(btree, "PAGE_ROWS", 2)
        early.setattr(btree, "_lookup", lambda *values: {**lookup(*values), "min": given})
        dataset = write(pa.table({"i": [None, None, None, 1, 2, 3, 4]}), tmp_path)
        dataset.create_scalar_index("i", "BTREE")
    assert faults == [one.clause for one in validate(dataset.uri, deep=True)]
