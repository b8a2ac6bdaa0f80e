"""D.page.blob-in-list-unread: blobs inside lists are written and cannot be read."""

import tempfile

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

uri = tempfile.mkdtemp()
item = pa.field("item", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
rows = pa.table({"b": pa.array([[b"x"], None, []], pa.list_(item))})
path = uri + "/f.lance"
with LanceFileWriter(path, rows.schema, version="2.1") as writer:
    writer.write_batch(rows)
expected = 3
try:
    actual = LanceFileReader(path).read_all().to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
