"""D.index.nested-new-segment: an index on a field of a struct gets no segment for new rows."""

import tempfile

import lance
import pyarrow as pa

table = pa.table({"n": pa.array([{"x": 1}, {"x": 2}])})
made = lance.write_dataset(table, tempfile.mkdtemp())
made.create_scalar_index("n.x", "BTREE")
made = lance.write_dataset(table, made.uri, mode="append")
actual = "a segment"
try:
    made.optimize.optimize_indices(num_indices_to_merge=0)
except (OSError, ValueError) as error:
    actual = f"refused: {error}"
print(f"expected a segment, actual {actual[:60]}")
raise SystemExit(int(actual != "a segment"))
