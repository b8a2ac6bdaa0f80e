"""Request loop of Python adapters, and the responses to refusals."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

Message = dict[str, Any]
Operation = Callable[[Message], Message]
"""Takes a request, returns the `ok` body; raises to refuse."""


class Unsupported(Exception):
    """A requested feature is not supported; the message names it."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """The parts of an adapter.

    `refusals` returns the exceptions by which the implementation refuses (called for each error, as
    some classes exist only once raised); `refuse` converts one to a response. Any other exception
    ends the process, which the runner reports as a crash.
    """

    hello: Message
    operations: Mapping[str, Operation]
    refusals: Callable[[], tuple[type[BaseException], ...]]
    refuse: Callable[[BaseException], Message]


def serve(adapter: Adapter) -> None:
    """Respond to requests, one per line, until `bye` or the end of input."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "bye":
            return
        response = {"id": request["id"], **respond(adapter, request)}
        sys.stdout.write(json.dumps(response) + "\n")
        sys.stdout.flush()


def respond(adapter: Adapter, request: Message) -> Message:
    """Return the response to one request, without its id."""
    if request["op"] == "hello":
        return {"ok": adapter.hello}
    operation = adapter.operations.get(request["op"])
    if operation is None:
        return {"unsupported": {"feature": request["op"]}}
    try:
        return {"ok": operation(request)}
    except Unsupported as error:
        return {"unsupported": {"feature": str(error)}}
    except adapter.refusals() as error:
        return adapter.refuse(error)


def write_table(path: str, table: pa.Table) -> Message:
    """Write an Arrow IPC file and return the `ok` body for it."""
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return {"out": path, "num_rows": str(table.num_rows)}


def load_kinds(path: Path) -> list[tuple[re.Pattern[str], Message]]:
    """Read a `kinds.toml`: regular expressions of messages, with their stage and kind."""
    entries = tomllib.loads(path.read_text("utf-8"))["kind"]
    return [
        (re.compile(entry["match"]), {k: entry[k] for k in ("stage", "kind") if k in entry})
        for entry in entries
    ]
