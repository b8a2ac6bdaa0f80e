"""D.txn.base-id-twice: a base is added under the id of another, whose files are then not found."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
table = lance.write_dataset(pa.table({"a": [1]}), f"{uri}/table")
table.add_bases([lance.DatasetBasePath(f"{uri}/p", "p", False, 5)])
lance.write_dataset(pa.table({"a": [2]}), table.uri, mode="append", target_bases=["p"])
expected = [1, 2]
try:
    lance.dataset(table.uri).add_bases([lance.DatasetBasePath(f"{uri}/q", "q", False, 5)])
except (OSError, ValueError) as error:
    print("refused:", str(error)[:90])
try:
    actual = lance.dataset(table.uri).to_table()["a"].to_pylist()
except (OSError, ValueError):
    actual = "refused"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
