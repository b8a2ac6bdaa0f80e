"""D.codec.empty-values-unread: binary of width 0 is written in 2.1 and cannot be read."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"c": pa.array([b"", None], pa.binary(0))})
made = lance.write_dataset(rows, uri, data_storage_version="2.1")
expected = 2
try:
    actual = made.to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
