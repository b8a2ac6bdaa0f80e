"""Columns: added, cast, dropped, renamed, given new values; values of keys, without pandas."""

import shutil
import subprocess
import sys
from contextlib import nullcontext

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import SchemaRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.operations import alter_table
from lanceref.operations.alter_table import drop_fields
from lanceref.operations.new_data import joined_source, key_values, ordered_source
from lanceref.table.manifest import encode_manifest
from pylanceref.file import LanceFileReader, LanceFileWriter

from tests.operations.tables import table


def test_columns_are_added_where_files_are_gone(tmp_path, maker):
    """Columns are added to a clone whose base lost its files."""
    base, clone = tmp_path / "base", str(tmp_path / "clone")
    maker.write_dataset(pa.table({"a": range(3)}), str(base)).shallow_clone(clone, 1)
    shutil.rmtree(base / "data")
    new = pa.table({"n": [4, 5, 6]})
    maker.dataset(clone).add_columns(new.to_reader())

    fragment = pylanceref.dataset(clone).get_fragment(0)
    file = fragment.data_files()[-1].path
    assert 3 == fragment.physical_rows
    assert new.equals(LanceFileReader(f"{clone}/data/{file}").read_all().to_table())


@pytest.mark.oracle
def test_a_fragment_without_files_has_rows_of_nulls(tmp_path, maker):
    """D.fragment.no-files: rows remain after the last file is dropped."""
    import lance

    made = maker.write_dataset(pa.table({"k": range(3)}), tmp_path)
    made.add_columns(pa.schema({"n": pa.int32()}))
    made.drop_columns(["k"])

    assert pa.table({"n": pa.nulls(3, pa.int32())}) == pylanceref.dataset(tmp_path).to_table()
    with pytest.raises(pa.ArrowInvalid, match="does not contain any data"):
        lance.dataset(tmp_path).to_table()


@pytest.fixture
def snapshot(tmp_path):
    """Two fragments of five rows, the second row of the first deleted."""
    return table(tmp_path)._snapshot


def _values(source, snapshot):
    return [
        [row for batch in source.rows_of(rows) for row in batch.column(0).to_pylist()]
        for rows in snapshot.fragments
    ]


def test_rows_that_are_brought_are_those_that_live(snapshot):
    """Given rows are those of live rows; too few or many are refused."""
    source = ordered_source(snapshot, pa.table({"n": range(9)}), snapshot.fragments)

    assert [[0, 1, 2, 3], [4, 5, 6, 7, 8]] == _values(source, snapshot)
    with pytest.raises(SchemaRefused, match="ended before"):
        ordered_source(snapshot, pa.table({"n": range(8)}), snapshot.fragments)
    with pytest.raises(SchemaRefused, match="more values"):
        ordered_source(snapshot, pa.table({"n": range(10)}), snapshot.fragments)


def test_rows_are_joined_by_a_key(snapshot):
    """Joined columns are null without a match, and unknown keys are refused."""
    right = pa.table({"k": [4, 5], "v": ["x", "y"]})

    assert [[None] * 3 + ["x"], ["y"] + [None] * 4] == _values(
        joined_source(snapshot, right, "a", "k", "dataset"), snapshot
    )
    for left_on, right_on in (("zz", "k"), ("a", "zz")):
        with pytest.raises(SchemaRefused, match="zz"):
            joined_source(snapshot, right, left_on, right_on, "dataset")
    with pytest.raises(SchemaRefused, match="No data"):
        joined_source(snapshot, right.slice(0, 0), "a", "k", "dataset")


@pytest.mark.parametrize("legacy", [False, True])
def test_nulls_that_a_file_cannot_hold_are_refused(tmp_path, legacy):
    """Files of 0.1 hold nulls of text and not of numbers."""
    version = "0.1" if legacy else "2.1"
    made = pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path, data_storage_version=version)
    text = pa.table({"a": [1], "v": ["x"]})
    joined = joined_source(made._snapshot, text, "a", "a", "dataset")
    assert [["x", None]] == _values(joined, made._snapshot)
    numbers = joined_source(made._snapshot, pa.table({"a": [1], "v": [7]}), "a", "a", "dataset")
    brought_ones = ordered_source(
        made._snapshot, pa.table({"v": [7, None]}), made._snapshot.fragments
    )
    if legacy:
        for source in (numbers, brought_ones):
            with pytest.raises(SchemaRefused, match="storing nulls"):
                _values(source, made._snapshot)
        made.delete("a = 2")
        again = joined_source(made._snapshot, pa.table({"a": [1], "v": [7]}), "a", "a", "dataset")
        assert [[7]] == _values(again, made._snapshot)
    else:
        for source in (numbers, brought_ones):
            assert [[7, None]] == _values(source, made._snapshot)


def test_columns_of_nulls_need_files_of_2(tmp_path):
    """No file is written for them; those of 0.1 cannot leave a column out."""
    for version in ("0.1", "2.1"):
        rows, root = pa.table({"a": [1]}), tmp_path / version
        made = pylanceref.write_dataset(rows, root, data_storage_version=version)
        with pytest.raises(SchemaRefused, match="legacy") if version == "0.1" else nullcontext():
            made.add_columns(pa.schema([("n", pa.int8())]))
            assert [{"a": 1, "n": None}] == made.to_table().to_pylist()


IN_A_MAP = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))


@pytest.mark.parametrize("version", ["0.1", "2.0", "2.2"])
def test_a_struct_with_a_column_of_its_own_and_a_map_are_not_cast(tmp_path, version):
    """Structs of 0.1 and 2.0 are not cast in part, maps never."""
    rows, path = pa.table({"n": [{"x": 1}]}), "n.x"
    if version == "2.2":
        rows, path = pa.table({"n": IN_A_MAP}), "n.entries.value"
    made = pylanceref.write_dataset(rows, tmp_path, data_storage_version=version)
    with pytest.raises(SchemaRefused, match="cannot be cast"):
        made.alter_columns({"path": path, "data_type": pa.int32()})


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.int64(), pa.int8()),
        (pa.float16(), pa.float64()),
        (pa.utf8(), pa.large_utf8()),
        (pa.list_(pa.int8()), pa.large_list(pa.int64())),
        (pa.list_(pa.float32(), 4), pa.list_(pa.float16(), 4)),
        (pa.dictionary(pa.int8(), pa.utf8()), pa.large_utf8()),
        (pa.large_utf8(), pa.dictionary(pa.int8(), pa.utf8())),
        (pa.dictionary(pa.int16(), pa.int64()), pa.dictionary(pa.int8(), pa.int32())),
    ],
)
def test_values_of_one_kind_can_be_cast(held, wanted):
    """Numbers, texts and lists of them can be cast to another width; dictionaries are texts."""
    alter_table.check_cast("a", held, wanted)
    assert wanted == alter_table.cast_values(pa.nulls(1, held), wanted).type
    with pytest.raises(SchemaRefused, match="key bigger"):
        alter_table.cast_values(pa.array(range(129)), pa.dictionary(pa.int8(), pa.int64()))


@pytest.mark.parametrize(
    ("held", "wanted", "stored"),
    [
        (pa.timestamp("ms"), pa.timestamp("s"), 86_399),
        (pa.timestamp("ms"), pa.timestamp("ms", "+01:00"), 82_799_999),
        (pa.timestamp("ms", "+01:00"), pa.timestamp("ms"), 86_399_999),
        (pa.timestamp("ms", "+01:00"), pa.date32(), 1),
        (pa.timestamp("ms", "+01:00"), pa.date64(), 86_399_999),
        (pa.timestamp("ms"), pa.time32("s"), 86_399),
        (pa.date64(), pa.timestamp("s", "UTC"), 86_399),
    ],
)
def test_moments_are_cast(tmp_path, held, wanted, stored):
    """The last millisecond of a day: zones by the local time, and units by what fits in them."""
    made = pylanceref.write_dataset(pa.table({"t": pa.array([86_399_999]).cast(held)}), tmp_path)
    made.alter_columns({"path": "t", "data_type": wanted})
    found = made.to_table()["t"].combine_chunks()

    assert [stored] == found.view(f"int{wanted.bit_width}").to_pylist()
    with pytest.raises(SchemaRefused, match="not supported"):
        made.alter_columns({"path": "t", "data_type": pa.duration("s")})


@pytest.mark.parametrize("paths", [["n.x", "n.m.y"], ["l.item.z"], ["n", "l.item"]])
def test_what_has_no_field_left_is_dropped_too(paths):
    """Structs and lists without a remaining field are dropped."""
    nested = pa.struct([("x", pa.int8()), ("m", pa.struct([("y", pa.int8())]))])
    listed = pa.list_(pa.struct([("z", pa.int8())]))
    schema = schema_of(pa.schema([("k", pa.int8()), ("n", nested), ("l", listed)]))
    found = drop_fields(schema, paths)

    assert {"k", "n", "l"} - {path.split(".")[0] for path in paths} == {
        one.name for one in found.fields
    }
    with pytest.raises(SchemaRefused, match="all columns"):
        drop_fields(schema, ["k", "n.x", "n.m.y", "l.item.z"])


def test_a_file_of_hidden_row_ids_stays_beside_new_columns(tmp_path):
    """Its column is none of the schema; a Merge that left it out would lose the ids."""
    made = pylanceref.write_dataset(
        pa.table({"a": [1, 2, 3]}), str(tmp_path), enable_stable_row_ids=True
    )
    ids = pa.table({"_rowid": pa.array([9, 8, 7], pa.uint64())})
    with LanceFileWriter(str(tmp_path / "data" / "ids.lance"), ids.schema) as writer:
        writer.write_batch(ids)
    manifest = made._snapshot.manifest
    (fragment,) = manifest.message.fragments
    file = fragment.files.add()
    file.CopyFrom(fragment.files[0])
    file.path, file.fields[:], file.column_indices[:] = "ids.lance", [-3], [0]
    file.file_size_bytes = (tmp_path / "data" / "ids.lance").stat().st_size
    fragment.column_row_ids.SetInParent()
    manifest.message.reader_feature_flags |= 2048
    manifest.message.writer_feature_flags |= 2048
    (path,) = (tmp_path / "_versions").glob("*.manifest")
    path.write_bytes(encode_manifest(manifest.message, manifest.transaction, (), {}))
    pylanceref.dataset(str(tmp_path)).add_columns({"new": "1"})

    read = pylanceref.dataset(str(tmp_path)).to_table(["new"], with_row_id=True)
    assert [9, 8, 7] == read["_rowid"].to_pylist()


ALONE = """
import sys, tempfile, warnings
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoPandas())
warnings.simplefilter("ignore")
import pyarrow as pa
import pylanceref
moments = pa.array([1, 1_001, None, 2_000_000_007, 5], pa.timestamp("ns"))
rows = pa.table({"t": moments, "v": range(5), "s": [[one] for one in moments]})
"""
"""What a process without pandas begins with."""

BY_INDEX = """
for kind, wanted in (("BTREE", 2), ("BITMAP", 2), ("ZONEMAP", 2), ("BLOOMFILTER", 2)):
    table = pylanceref.write_dataset(rows, tempfile.mkdtemp())
    table.create_scalar_index("t", kind)
    at = "arrow_cast({}, 'Timestamp(Nanosecond, None)')".format
    assert table.count_rows(f"t in ({at(1001)}, {at(5)})") == wanted, kind
    assert table.count_rows(f"t = {at(2_000_000_007)}") == 1, kind
    assert table.count_rows(f"t > {at(5)}") == 2, kind
    assert table.stats.index_stats("t_idx")["num_indexed_rows"] == 5
"""

BY_QUERY = """
for version in ("legacy", "2.0", "2.1", "2.2"):
    names = rows.column_names if version != "legacy" else ["t", "v"]
    some = rows.select(names)
    made = pylanceref.write_dataset(some, tempfile.mkdtemp(), data_storage_version=version)
    at = "arrow_cast({}, 'Timestamp(Nanosecond, None)')".format
    assert made.count_rows(f"t in ({at(1)}, {at(5)}, {at(7)}, {at(8)}, {at(9)})") == 2
    if version != "legacy":
        assert made.count_rows(f"array_has_any(s, [{at(1)}, {at(1001)}])") == 2
    assert made.count_rows(f"t between {at(2)} and {at(5000)}") == 2
    nulls = 0 if version == "legacy" else 1  # which has none of numbers
    assert made.count_rows("try_cast(t as string) is not null") == 5 - nulls
    assert made.to_table(order_by="t")["v"].to_pylist()[-2 - nulls :][:2] == [1, 3]
"""

BY_KEY = """
made = pylanceref.write_dataset(rows.select(["t", "v"]), tempfile.mkdtemp())
made.merge(pa.table({"t": moments, "w": range(10, 15)}), "t")
assert made.to_table()["w"].to_pylist()[3] == 13
twice = pa.concat_tables([rows.select(["t", "v"]).slice(1, 1)] * 2)
try:
    made.merge_insert("t").when_matched_update_all().execute(twice.append_column("w", [[1, 2]]))
except OSError as error:
    assert "(t = 1001)" in str(error), error
else:
    raise AssertionError("not refused")
"""


def test_moments_of_nanoseconds_are_counts():
    """All other values are what they are, and null is None."""
    assert key_values(pa.array([1, None], pa.timestamp("ns", "UTC"))) == [1, None]
    assert key_values(pa.chunked_array([["a"], [None]])) == ["a", None]


@pytest.mark.parametrize("lines", [BY_INDEX, BY_QUERY, BY_KEY], ids=["index", "query", "key"])
def test_moments_of_nanoseconds_need_no_pandas(lines):
    """In a process that cannot import it."""
    command = [sys.executable, "-c", ALONE + lines]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
