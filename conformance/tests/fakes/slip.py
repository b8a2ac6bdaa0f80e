"""The reference with one slip: in columns of int32 it reads a value of 13 as 31.

With `refuses` it refuses columns of text instead; with `dies` it dies of a null in one.
"""

import os
import sys

import pyarrow as pa
import pyarrow.compute as pc
from lance_conformance.adapters import reference
from lance_conformance.adapters.server import Adapter, serve, write_table
from lanceref.core.errors import LanceError, NotStorable

ADAPTER = reference.adapter()
MODE = sys.argv[1] if len(sys.argv) > 1 else "wrong"


def slipped(request):
    """Answer a read, and slip."""
    body = ADAPTER.operations[request["op"]](request)
    with pa.OSFile(request["out"]) as source:
        table = pa.ipc.open_file(source).read_all()
    for number, column in enumerate(table.columns):
        if MODE == "wrong" and column.type == pa.int32():
            wrong = pc.if_else(pc.equal(column, 13), pa.scalar(31, pa.int32()), column)
            table = table.set_column(number, table.schema.field(number), wrong)
        elif MODE == "refuses" and column.type == pa.string():
            raise NotStorable("no text")
        elif MODE == "dies" and column.type == pa.string() and column.null_count:
            os.abort()
    return body | write_table(request["out"], table)


if __name__ == "__main__":
    operations = dict.fromkeys(("file.read", "dataset.read"), slipped)
    serve(Adapter(reference.hello(), operations, lambda: (LanceError,), reference.refusal_response))
