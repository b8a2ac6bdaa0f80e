"""D.query.year-beyond-nanoseconds: no row has a year that is unlike one beyond nanoseconds."""

import datetime
import tempfile

import lance
import pyarrow as pa

moments = pa.array([datetime.datetime(2020, 1, 1), datetime.datetime(1999, 1, 1)])
made = lance.write_dataset(pa.table({"t": moments}), tempfile.mkdtemp())
years = "date_part('year', cast(t as timestamp))"
expected, actual = 2, made.to_table(filter=f"{years} != 255").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
