"""D.legacy.second-dictionary: batches of 0.1 with another dictionary are read with the first
one."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
parts = [pa.array(one).dictionary_encode() for one in (["a", "b"], ["b", "c"])]
schema = pa.schema([("d", parts[0].type)])
batches = [pa.record_batch([part], schema=schema) for part in parts]
reader = pa.RecordBatchReader.from_batches(schema, batches)
made = lance.write_dataset(reader, uri, data_storage_version="0.1", max_rows_per_group=2)
expected, actual = ["a", "b", "b", "c"], made.to_table()["d"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
