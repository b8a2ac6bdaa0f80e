"""D.page.empty-structs-in-lists: lists of structs without fields are written and not read."""

import tempfile

import lance
import pyarrow as pa

rows = pa.table({"a": pa.array([[{}], [], None, [{}, {}]], pa.list_(pa.struct([])))})
table = lance.write_dataset(rows, tempfile.mkdtemp(), data_storage_version="2.3")
expected = rows.to_pydict()
try:
    actual = table.to_table().to_pydict()
except BaseException as error:
    actual = f"{type(error).__name__}: {str(error)[:90]}"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
