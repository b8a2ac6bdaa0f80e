"""D.table.take-past-end: a take of rows in no order leaves out those past the end of the table."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
dataset = lance.write_dataset(pa.table({"k": [1, 2, 3]}), uri)
expected = "a refusal, as for [0, 3]"
try:
    found = dataset.take([3, 0])["k"].to_pylist()
except (OSError, ValueError, IndexError):
    found = expected
print(f"expected {expected}, actual {found}")
raise SystemExit(int(found != expected))
