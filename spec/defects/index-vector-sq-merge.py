"""D.index.vector-sq-merge: merged SQ segments keep the bounds of the first: rows of others are
not found."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri = tempfile.mkdtemp()
values = np.random.default_rng(3).normal(size=(500, 8)).astype("f4")
values[250:] *= 8
vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8)
made = lance.write_dataset(pa.table({"i": range(500), "v": vectors}), uri, max_rows_per_file=250)
given = {"ivf_centroids": values[::250]}
parts = [
    made.create_index_uncommitted("v", "IVF_SQ", fragment_ids=[part], **given) for part in (0, 1)
]
merged = made.merge_existing_index_segments(parts)
made = made.commit_existing_index_segments("v_idx", "v", [merged])
nearest = {"column": "v", "q": values[250], "k": 10, "nprobes": 2}
wanted = made.to_table(nearest={**nearest, "use_index": False})["i"].to_pylist()
found = len({*wanted} & {*made.to_table(nearest=nearest)["i"].to_pylist()})
print(f"expected about 10 of the 10 nearest rows, actual {found}")
raise SystemExit(int(found < 5))
