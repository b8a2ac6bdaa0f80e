"""Tests of messages: lines, and what the schemas let through."""

from __future__ import annotations

import pytest
from lance_conformance import protocol
from lance_conformance.protocol import ProtocolError


def test_message_survives_the_line() -> None:
    """A message is one line, whatever text it holds."""
    message = {"id": 1, "op": "validate", "path": "a\nb ü", "deep": True}
    line = protocol.encode(message)

    assert 1 == line.count(b"\n")
    assert message == protocol.decode(line)
    assert [] == protocol.check_request(message)


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b'"' + b"x" * 2**21 + b'"', b"[" * 10**5])
def test_line_that_is_no_message(line: bytes) -> None:
    """Anything but a JSON object of at most 1 MiB is a protocol error."""
    with pytest.raises(ProtocolError):
        protocol.decode(line)


def test_operations_of_this_version() -> None:
    """What reads, writes and asks indices, validate and the session's own are there."""
    reading = {"file.read", "file.inspect", "dataset.read", "dataset.take", "dataset.versions"}
    writing = {"write.dataset", "commit.apply", "mutate"}
    others = {"dataset.describe", "hello", "validate", "reset", "bye"}
    asking = {"index.search", "index.dump"}

    assert reading | writing | asking | others == set(protocol.operations())


@pytest.mark.parametrize(
    "response",
    [
        {"id": 1},
        {"id": 1, "ok": {"out": "x"}, "reject": {"stage": "open", "message": ""}},
        {"id": 1, "ok": {}},
        {"id": 1, "ok": {"out": "x", "rows": 1}},
        {"id": 1, "ok": {"out": "x", "num_rows": 1}},
        {"id": 1, "reject": {"stage": "later", "message": ""}},
        {"id": 1, "reject": {"stage": "open", "kind": "bad luck", "message": ""}},
    ],
)
def test_response_that_breaks_the_schema(response: dict[str, object]) -> None:
    """None or two answers, unknown fields, numbers for integers and unknown words are found."""
    assert protocol.check_response("file.read", response)


@pytest.mark.parametrize(
    "response",
    [
        {"id": 1, "ok": {"out": "x", "num_rows": "18446744073709551615"}},
        {"id": 1, "reject": {"stage": "unknown", "message": "no"}, "panicked": True},
        {"id": 1, "unsupported": {"feature": "maps"}},
        {"id": 1, "adapter_error": {"message": "mine"}},
    ],
)
def test_response_that_keeps_to_the_schema(response: dict[str, object]) -> None:
    """Each of the four kinds of answer is let through."""
    assert [] == protocol.check_response("file.read", response)
