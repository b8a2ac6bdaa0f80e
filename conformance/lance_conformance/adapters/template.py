"""A complete adapter in Python: copy it, and put your reader where `read` is.

The runner sends one JSON object per line on standard input and reads one per line from standard
output. Tables go through Arrow IPC files. Print nothing else on standard output.

    lance-conformance check-adapter -- python template.py
    lance-conformance run -- python template.py
"""

import json
import sys

import pyarrow as pa


def read(path: str) -> pa.Table:
    """YOUR READER GOES HERE: return all rows of the file, raise ValueError to refuse it.

    This toy only looks whether a file ends with the magic, and then gives up.
    """
    with open(path, "rb") as file:  # noqa: PTH123  a template shows the plainest way
        if file.read()[-4:] != b"LANC":
            raise ValueError("the file does not end with LANC")
    raise NotImplementedError("reading of rows is not written yet")


HELLO = {
    "protocol": 1,
    "implementation": {"name": "my-reader", "version": "0.1", "language": "python"},
    # What is not listed here is never asked for: claim more as you go.
    "capabilities": {"file.read": {"versions": ["2.0", "2.1", "2.2"]}},
}


def answer(request: dict[str, str]) -> dict[str, object]:
    """Return the response to one request, without its id."""
    if request["op"] == "hello":
        return {"ok": HELLO}
    try:
        table = read(request["path"])
    except ValueError as error:  # a controlled refusal: right for damaged files, wrong for others
        return {"reject": {"stage": "unknown", "message": str(error)}}
    except NotImplementedError as error:  # an honest gap: counted, but no failure
        return {"unsupported": {"feature": str(error)}}
    with pa.OSFile(request["out"], "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return {"ok": {"out": request["out"]}}


for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "bye":
        break
    print(json.dumps({"id": request["id"], **answer(request)}), flush=True)
