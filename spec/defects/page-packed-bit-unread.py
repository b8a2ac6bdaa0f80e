"""D.page.packed-bit-unread: a packed struct with a boolean is written and cannot be read."""

import tempfile

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

uri = tempfile.mkdtemp()
inner = pa.struct([("a", pa.int16()), ("b", pa.bool_())])
field = pa.field("p", inner, metadata={"lance-encoding:packed": "true"})
values = pa.array([{"a": 1, "b": True}] * 3, inner)
rows, path = pa.table([values], schema=pa.schema([field])), uri + "/f.lance"
with LanceFileWriter(path, rows.schema, version="2.1") as writer:
    writer.write_batch(rows)
expected = 3
try:
    actual = LanceFileReader(path).read_all().to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
