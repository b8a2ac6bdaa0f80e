"""D.table.backtick-name: a column with a backtick in its name is written and cannot be read."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"a`b": [1, 2]}), uri)
expected = 2
try:
    actual = made.to_table().num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
