"""Tests of the oracle's adapter: both forms of a panic, and what its messages mean."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.oracle


def test_panics_in_both_forms() -> None:
    """A class named like a panic, or a text that mentions one, is reported as panicked."""
    from lance_conformance.adapters import pylance

    class PanicException(BaseException):
        pass

    assert PanicException in pylance.refusals()
    assert pylance.refuse(PanicException("index out of bounds"))["panicked"]
    assert pylance.refuse(OSError("task 14 panicked with message x"))["panicked"]
    assert "panicked" not in pylance.refuse(OSError("Not found: x"))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("file does not have the magic", "bad_magic"),
        ("failed to decode Protobuf message: invalid tag", "bad_proto"),
        ("position 5 is outside file of size 2", "out_of_range"),
        ("something else", None),
    ],
)
def test_kinds_of_messages(message: str, kind: str | None) -> None:
    """The mapping beside the adapter says what a message means; the rest has no kind."""
    from lance_conformance.adapters import pylance

    assert kind == pylance.refuse(OSError(message))["reject"].get("kind")
