"""D.write.unaligned-decimals: decimals of an Arrow file, whose buffers begin at multiples of 8."""

import tempfile
from decimal import Decimal

import lance
import pyarrow as pa

rows = pa.table({"a": [1, 2, 3], "d": pa.array([Decimal(1), None, Decimal(2)], pa.decimal128(9))})
with tempfile.TemporaryDirectory() as folder:
    with pa.ipc.new_file(f"{folder}/rows.arrow", rows.schema) as writer:
        writer.write_table(rows)
    with pa.memory_map(f"{folder}/rows.arrow") as source:
        given = pa.ipc.open_file(source).read_all()
        print("expected: the table is written")
        try:
            lance.write_dataset(given, f"{folder}/t")
        except BaseException as error:
            print("found:", type(error).__name__, str(error)[:90])
            raise SystemExit(1) from None
