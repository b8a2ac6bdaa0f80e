"""D.page.packed-part-misread: fields of a packed struct that are read alone have other values."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
inner = pa.struct([("a", pa.int16()), ("b", pa.int32())])
field = pa.field("p", inner, metadata={"lance-encoding:packed": "true"})
values = pa.array([{"a": i, "b": 2 * i} for i in range(3)], inner)
rows = pa.table([values], schema=pa.schema([field]))
made = lance.write_dataset(rows, uri, data_storage_version="2.0")
expected = [0, 2, 4]
try:
    actual = made.to_table(columns=["p.b"]).column(0).to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
