"""D.file.no-columns: a file without columns is written and cannot be read."""

import tempfile

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

uri = tempfile.mkdtemp()
rows, path = pa.table({}), uri + "/f.lance"
with LanceFileWriter(path, rows.schema, version="2.1"):
    pass
expected = 0
try:
    actual = LanceFileReader(path).read_all().to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
