"""D.fragment.no-files: a table whose last column with a file is dropped cannot be read."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"k": range(3)}), uri)
made.add_columns(pa.schema({"n": pa.int32()}))
made.drop_columns(["k"])
expected = [None, None, None]
try:
    actual = lance.dataset(uri).to_table()["n"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
