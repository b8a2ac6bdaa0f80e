"""D.query.st-literal-first: a geometric predicate with a literal first exchanges its
arguments."""

import struct
import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
box = "st_geomfromtext('POLYGON((0 0,9 0,9 9,0 9,0 0))')"
point = struct.pack("<BIdd", 1, 1, 3.0, 3.0)
field = pa.field("g", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb"})
made = lance.write_dataset(pa.table([pa.array([point])], schema=pa.schema([field])), uri)
expected = made.count_rows(f"st_within(g, {box})")
actual = made.count_rows(f"st_contains({box}, g)")
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
