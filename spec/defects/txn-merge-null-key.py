"""D.txn.merge-null-key: a merge by an indexed key does not insert a row whose key is null."""

import tempfile

import lance
import pyarrow as pa

made = lance.write_dataset(pa.table({"k": [1, 2], "v": [1, 2]}), tempfile.mkdtemp())
made.create_scalar_index("k", "BTREE")
rows = pa.table({"k": pa.array([None, 3], pa.int64()), "v": [5, 6]})
merge = lance.dataset(made.uri).merge_insert("k").when_matched_update_all()
merge.when_not_matched_insert_all().execute(rows)
expected, actual = 4, lance.dataset(made.uri).count_rows()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
