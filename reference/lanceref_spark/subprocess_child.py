"""Subprocess child: reads the rows of one request of `subprocess_reader`."""

from __future__ import annotations

import os
import pickle
import sys

import pyarrow as pa

from lanceref_spark.reading import read_locally
from lanceref_spark.subprocess_reader import END


def main() -> None:
    """Read the request and write the rows; the output of the reader goes to standard error."""
    options, part, columns, serialized = pickle.load(sys.stdin.buffer)
    schema = pa.ipc.read_schema(pa.py_buffer(serialized))
    response = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(response, "wb") as out:
        with pa.ipc.new_stream(out, schema) as stream:
            for batch in read_locally(options, part, columns, schema):
                stream.write_batch(batch)
                out.flush()
        out.write(END)


if __name__ == "__main__":
    main()
