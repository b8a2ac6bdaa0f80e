"""D.query.ordered-no-rows: an order and a limit of no rows end in a panic."""

import tempfile

import lance
import pyarrow as pa

table = lance.write_dataset(pa.table({"a": [2, 1]}), tempfile.mkdtemp())
expected = 0
try:
    actual = table.to_table(order_by=["a"], limit=0).num_rows
except BaseException as error:
    actual = f"{type(error).__name__}: {error}"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
