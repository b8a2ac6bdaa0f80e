"""D.index.vector-compacted-ids: a vector search counts rows that a compaction dropped."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri = tempfile.mkdtemp()
values = np.random.default_rng(3).normal(size=(1400, 8)).astype("f4")
vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8)
rows = pa.table({"i": range(1400), "v": vectors})
made = lance.write_dataset(rows, uri, max_rows_per_file=500, enable_stable_row_ids=True)
made.create_index("v", "IVF_FLAT", num_partitions=1)
made.delete("i % 4 = 1")
made.optimize.compact_files(target_rows_per_fragment=3000)
nearest = {"column": "v", "q": np.zeros(8, "f4"), "k": 50, "nprobes": 1}
expected, actual = 50, lance.dataset(uri).to_table(nearest=nearest).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
