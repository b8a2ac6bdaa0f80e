"""D.index.vector-several-no-number: a row of several vectors is not found where one of them is
zero."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
several = [[[1, 0], [0, 0]], [[1, 0.5]]]
rows = pa.table({"m": pa.array(several, pa.list_(pa.list_(pa.float32(), 2)))})
made = lance.write_dataset(rows, uri)
nearest = {"column": "m", "q": [[1.0, 0.0]], "metric": "cosine", "k": 9}
expected, actual = 2, made.to_table(nearest=nearest).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
