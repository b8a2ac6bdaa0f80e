"""D.index.vector-query-no-number: a query vector of NaN finds rows through a graph."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri = tempfile.mkdtemp()
values = np.random.default_rng(3).normal(size=(300, 8)).astype("f4")
vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8)
made = lance.write_dataset(pa.table({"v": vectors}), uri)
made.create_index("v", "IVF_HNSW_FLAT", metric="cosine", num_partitions=1)
nearest = {"column": "v", "q": np.full(8, np.nan, "f4"), "k": 3}
expected, actual = 0, lance.dataset(uri).to_table(nearest=nearest).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
