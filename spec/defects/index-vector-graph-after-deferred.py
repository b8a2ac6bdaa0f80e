"""D.index.vector-graph-after-deferred: no search by a graph after a deferred compaction."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri = tempfile.mkdtemp()
vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(160, dtype="f4")), 8)
made = lance.write_dataset(pa.table({"k": range(20), "v": vectors}), uri, max_rows_per_file=8)
made.create_index("v", "IVF_HNSW_FLAT", ivf_centroids=np.float32([[40] * 8, [120] * 8]))
lance.dataset(uri).delete("k = 3")
lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=5, defer_index_remap=True)
nearest = {"column": "v", "q": [24.0] * 8, "k": 20, "nprobes": 2, "ef": 100}
expected = 19
try:
    actual = lance.dataset(uri).to_table(nearest=nearest).num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
