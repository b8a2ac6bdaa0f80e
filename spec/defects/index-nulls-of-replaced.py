"""D.index.nulls-of-replaced: a zone map that took in replaced values has rows as null that were."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"k": [1, 2, 3], "g": pa.array([1, None, 3], pa.int64())})
made = lance.write_dataset(rows, uri, max_rows_per_file=2)
made.create_scalar_index("g", "ZONEMAP")
new = pa.table({"k": [1, 2], "g": [10, 20]})
updated, modified = made.get_fragments()[0].update_columns(new, left_on="k")
operation = lance.LanceOperation.Update(updated_fragments=[updated], fields_modified=modified)
made = lance.LanceDataset.commit(made, operation, read_version=made.version)
made.optimize.optimize_indices(num_indices_to_merge=10)
expected, actual = [1, 2, 3], lance.dataset(uri).to_table(filter="g is not null")["k"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
