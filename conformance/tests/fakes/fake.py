"""A toy implementation that keeps to the protocol, or misbehaves in the way its argument names.

Its files are JSON: `{"a": [...], "b": [...]}` are columns, `"odd": true` is what `validate`
reports, and bytes that are not JSON are to be refused.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

MODE = sys.argv[1] if len(sys.argv) > 1 else "perfect"
HELLO = {
    "protocol": 1,
    "implementation": {"name": f"fake-{MODE}", "version": "1", "language": "python"},
    "capabilities": {
        "file.read": {"versions": ["2.1"], "projection": ["top"], "ranges": True, "rows": True},
        "validate": {},
    },
}


def read(request):
    """Return the response to `file.read`."""
    try:
        columns = json.loads(Path(request["path"]).read_bytes())
    except ValueError as error:
        if MODE != "accepts-all":
            return {"reject": {"stage": "open", "kind": "other", "message": str(error)}}
        columns = {"a": []}
    columns.pop("odd", None)
    num_rows = len(next(iter(columns.values())))
    rows = list(range(num_rows))
    if "ranges" in request:
        ((start, end),) = request["ranges"]
        rows = rows[int(start) : int(end)]
    if "rows" in request:
        rows = [int(row) for row in request["rows"]]
    names = request.get("columns", list(columns))
    write(request["out"], {name: [columns[name][row] for row in rows] for name in names})
    return {"ok": {"out": request["out"], "num_rows": str(len(rows))}}


def write(path, columns):
    """Write an Arrow IPC file."""
    import pyarrow as pa

    if MODE == "wrong-answer":
        columns = {name: values[::-1] for name, values in columns.items()}
    table = pa.table(columns)
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    if MODE == "bad-output":
        Path(path).write_bytes(b"ARROW1 but nothing else")


def validate(request):
    """Return the response to `validate`."""
    try:
        odd = json.loads(Path(request["path"]).read_bytes()).get("odd")
    except ValueError:
        return {"ok": {"valid": False, "findings": [{"message": "not JSON"}]}}
    found = [{"clause": "L.toy.odd", "severity": "must", "message": "odd"}] if odd else []
    return {"ok": {"valid": not odd, "findings": found}}


def misbehave(request):
    """Do what the mode asks, and return the response, if there still is one."""
    refusal = {"reject": {"stage": "unknown", "message": "no"}}
    match MODE:
        case "silent":
            time.sleep(600)
        case "crash":
            print("about to die", file=sys.stderr)
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            sys.exit(7)
        case "flaky" | "forgets":
            if not Path("crashed").exists():
                Path("crashed").touch()
                os.abort()
        case "memory-hog":
            len(bytearray(8 * 2**30))
        case "slow":
            time.sleep(float(os.environ.get("FAKE_SECONDS", "0.2")))
        case "modifies-input":
            with Path(request["path"]).open("ab") as file:
                file.write(b" ")
        case "overclaims":
            return {"unsupported": {"feature": "file.read"}}
        case "unsupported":
            return {"unsupported": {"feature": "columns called a"}}
        case "panics":
            return {**refusal, "panicked": True}
        case "rejects-all":
            return refusal
        case "adapter-error":
            return {"adapter_error": {"message": "my own bug"}}
        case "unknown-field":
            return {**refusal, "surprise": 1}
    return read(request) if request["op"] == "file.read" else validate(request)


def main():
    """Answer requests until `bye`."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "bye":
            return
        if request["op"] == "hello":
            if MODE == "exits-at-hello":
                sys.exit("no hello from me")
            if MODE == "forgets" and Path("crashed").exists():
                del HELLO["capabilities"]["validate"]
            response = {"ok": HELLO}
        else:
            response = misbehave(request)
        answer = json.dumps({"id": request["id"], **response})
        if request["op"] != "hello":
            if MODE == "bad-json":
                answer = answer[:-1]
            elif MODE == "two-lines":
                answer = f"{answer}\n{answer}"
            elif MODE == "wrong-id":
                answer = json.dumps({"id": 4711, **response})
        print(answer, flush=True)


main()
