"""D.page.fsl-struct-length: a column of fixed-size lists of structs cannot be read beside
another."""

import tempfile

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

uri = tempfile.mkdtemp()
type_ = pa.list_(pa.struct([("a", pa.int32())]), 2)
pairs = pa.array([[{"a": 1}, {"a": 2}]] * 3, type_)
rows, path = pa.table({"p": pairs, "i": range(3)}), uri + "/f.lance"
with LanceFileWriter(path, rows.schema, version="2.2") as writer:
    writer.write_batch(rows)
expected = 3
try:
    actual = LanceFileReader(path).read_all().to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
