"""Tests of refusals: what counts as a panic of native code."""

from __future__ import annotations

from lance_conformance.adapters.refusing import refusals, refuse


def test_a_panic_where_the_call_awaits() -> None:
    """The class that comes into being with such a panic is a refusal, reported as panicked."""

    class RustPanic(Exception):
        pass

    assert RustPanic in refusals()
    assert refuse(RustPanic("unknown error"))["panicked"]


def test_another_exception_is_no_refusal() -> None:
    """A fault of an adapter ends its process."""
    assert not issubclass(AssertionError, refusals())
