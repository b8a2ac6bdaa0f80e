"""D.txn.gone-versions: a delete by an old handle brings back rows whose deletion a cleanup has
forgotten."""

import tempfile
from datetime import timedelta

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
lance.write_dataset(pa.table({"k": range(5)}), uri)
held = lance.dataset(uri)
lance.dataset(uri).delete("k = 0")
lance.dataset(uri).update_config({"a": "1"})
lance.dataset(uri).cleanup_old_versions(older_than=timedelta(0))
held.delete("k = 4")
expected, actual = [1, 2, 3], lance.dataset(uri).to_table()["k"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
