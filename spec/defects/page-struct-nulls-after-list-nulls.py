"""D.page.struct-nulls-after-list-nulls: a file with null structs after an empty list in a struct
cannot be read."""

import tempfile

import pyarrow as pa
from lance.file import LanceFileReader, LanceFileWriter

uri = tempfile.mkdtemp()
type_ = pa.struct([("a", pa.list_(pa.int64()))])
schema, path = pa.schema([("c", type_)]), uri + "/f.lance"
with LanceFileWriter(path, schema, version="2.1", data_cache_bytes=1) as writer:
    for rows in ([{"a": []}], [None, {"a": [1]}]):
        writer.write_batch(pa.record_batch([pa.array(rows, type_)], schema=schema))
expected = [{"a": []}, None, {"a": [1]}]
try:
    actual = LanceFileReader(path).read_all().to_table()["c"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
