"""D.query.order-not-asked: an order by a column that is not asked for is refused."""

import tempfile

import lance
import pyarrow as pa

table = lance.write_dataset(pa.table({"a": [2, 1], "b": [20, 10]}), tempfile.mkdtemp())
expected = {"b": [10, 20]}
try:
    actual = table.to_table(columns=["b"], order_by=["a"]).to_pydict()
except ValueError as error:
    actual = f"{error}"[:90]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
