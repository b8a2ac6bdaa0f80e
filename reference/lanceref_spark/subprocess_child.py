"""Subprocess child: answers one question of `subprocess_reader` in a process of its own."""

from __future__ import annotations

import os
import pickle
import sys

import pyarrow as pa

from lanceref_spark.reading import rows_here
from lanceref_spark.subprocess_reader import END


def main() -> None:
    """Read the question and write the rows; what a reader prints goes to standard error."""
    options, part, columns, described = pickle.load(sys.stdin.buffer)
    schema = pa.ipc.read_schema(pa.py_buffer(described))
    answer = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(answer, "wb") as out:
        with pa.ipc.new_stream(out, schema) as stream:
            for batch in rows_here(options, part, columns, schema):
                stream.write_batch(batch)
                out.flush()
        out.write(END)


if __name__ == "__main__":
    main()
