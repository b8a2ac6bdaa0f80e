"""D.index.vector-hamming-graphs: an index of graphs over bytes cannot be brought up to date."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri = tempfile.mkdtemp()
values = np.random.default_rng(3).integers(0, 256, (300, 8), np.uint8)
cut = [pa.FixedSizeListArray.from_arrays(pa.array(one.ravel()), 8) for one in (values, values)]
made = lance.write_dataset(pa.table({"v": cut[0]}), uri)
made.create_index("v", "IVF_HNSW_FLAT", metric="hamming", num_partitions=1)
made.insert(pa.table({"v": cut[1]}))
expected = "brought up to date"
try:
    actual = lance.dataset(uri).optimize.optimize_indices() or expected
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
