"""D.index.vector-sq-of-nulls: vectors added to an IVF_SQ index over nulls alone are not found."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

kind = pa.list_(pa.float32(), 4)
made = lance.write_dataset(pa.table({"v": pa.nulls(4, kind)}), tempfile.mkdtemp())
made.create_index("v", "IVF_SQ", ivf_centroids=np.float32([[1] * 4, [5] * 4]))
vectors = pa.array([[float(n)] * 4 for n in range(8)], kind)
made = lance.write_dataset(pa.table({"v": vectors}), made.uri, mode="append")
made.optimize.optimize_indices()
nearest = {"column": "v", "q": [2.0] * 4, "k": 3, "nprobes": 2}
found = lance.dataset(made.uri).to_table(nearest=nearest).num_rows
print(f"expected 3 rows, actual {found}")
raise SystemExit(int(found != 3))
