"""D.index.vector-joined-full: joined partitions are full at some size: further rows go to others,
and are not found."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri, random = tempfile.mkdtemp(), np.random.default_rng(3)
heads = random.normal(size=(40, 32)) * 4
values = heads[random.integers(0, 40, 6250)] + random.normal(size=(6250, 32)) * 0.3
vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel().astype("f4")), 32)
made = lance.write_dataset(pa.table({"i": range(6250), "v": vectors}), uri)
made.create_index("v", "IVF_FLAT", num_partitions=256, target_partition_size=256)
made = lance.write_dataset(pa.table({"i": [6250], "v": vectors[:1]}), uri, mode="append")
made.optimize.optimize_indices()
made, found = lance.dataset(uri), 0
for row in range(0, 6250, 25):
    nearest = {"column": "v", "q": vectors[row].values, "k": 1, "nprobes": 1, "maximum_nprobes": 1}
    found += made.to_table(nearest=nearest)["_distance"][0].as_py() == 0
print(f"expected 250 of 250 vectors in the nearest partition, actual {found}")
raise SystemExit(int(found < 245))
