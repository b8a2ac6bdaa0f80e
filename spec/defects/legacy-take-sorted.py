"""D.legacy.take-sorted: a fragment of 0.1 gives the rows of a take in another order."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"c": [0, 1, 2, 3]}), uri, data_storage_version="legacy")
expected = [3, 1, 2]
actual = made.get_fragments()[0].take(expected)["c"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
