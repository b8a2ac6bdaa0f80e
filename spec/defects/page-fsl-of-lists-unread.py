"""D.page.fsl-of-lists-unread: fixed-size lists of lists are written in 2.2 and cannot be read."""

import tempfile

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

uri = tempfile.mkdtemp()
type_ = pa.list_(pa.struct([("a", pa.list_(pa.int32()))]), 2)
rows = pa.table({"p": pa.array([[{"a": [1]}, {"a": [2, 3]}]] * 3, type_)})
path = uri + "/f.lance"
with LanceFileWriter(path, rows.schema, version="2.2") as writer:
    writer.write_batch(rows)
expected = 3
try:
    actual = LanceFileReader(path).read_all().to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
