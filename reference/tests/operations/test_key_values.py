"""Values of key columns, and moments of nanoseconds where pandas is missing."""

import subprocess
import sys

import pyarrow as pa
import pytest
from lanceref.operations.new_data import key_values

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
