"""D.index.zonemap-float16-nan: a zone of float16 that holds NaN alone is left out of ranges."""

import tempfile

import lance
import numpy as np
import pyarrow as pa
from lance.indices import IndexConfig

column = pa.array(np.array([1, 2, np.nan, np.nan], np.float16))
made = lance.write_dataset(pa.table({"a": column}), tempfile.mkdtemp())
made.create_scalar_index("a", IndexConfig("zonemap", {"rows_per_zone": 2}))
made = lance.dataset(made.uri)
expected = made.to_table(filter="a >= 2", use_scalar_index=False).num_rows
actual = made.to_table(filter="a >= 2").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
