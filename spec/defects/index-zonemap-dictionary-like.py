"""D.index.zonemap-dictionary-like: zones of a dictionary column lose rows of LIKE."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"c": pa.array(["apple", "cherry"]).dictionary_encode()})
lance.write_dataset(rows, uri).create_scalar_index("c", "ZONEMAP")
made = lance.dataset(uri)
expected = made.to_table(filter="c LIKE 'a%'", use_scalar_index=False).num_rows
actual = made.to_table(filter="c LIKE 'a%'").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
