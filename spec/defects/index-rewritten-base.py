"""D.index.rewritten-base: an index of a branch fails after a compaction."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"i": range(40)}), uri, max_rows_per_file=20)
made.create_scalar_index("i", "BTREE")
branch = made.create_branch("dev", made.version)
branch.optimize.compact_files()
branch = lance.dataset(uri).checkout_version(("dev", None))
expected = [7]
try:
    actual = branch.to_table(filter="i = 7")["i"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
