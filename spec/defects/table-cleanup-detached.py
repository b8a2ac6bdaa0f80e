"""D.table.cleanup-detached: a cleanup removes the files of a detached version."""

import tempfile
from datetime import timedelta

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"a": [1]}), uri)
made.insert(pa.table({"a": [2]}))
data = lance.fragment.write_fragments(pa.table({"a": [7]}), uri)
append = lance.LanceOperation.Append(data)
apart = lance.LanceDataset.commit(uri, append, read_version=2, detached=True)
lance.dataset(uri).cleanup_old_versions(timedelta(0), delete_unverified=True)
expected = [1, 2, 7]
try:
    actual = lance.dataset(uri, apart.version).to_table()["a"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
