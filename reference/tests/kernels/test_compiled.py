"""Compiled kernels: when they are used. `fast` holds what they give against plain forms."""

from types import SimpleNamespace

import pytest
from lanceref.fast.codecs import KernelUse

compiled_kernels = pytest.importorskip(
    "lanceref.fast.compiled", reason="numba is not installed", exc_type=ImportError
)


def test_kernels_wait_until_enough_was_decoded_without_them():
    """The first hundred bytes are decoded without, then calls of ten bytes and more with."""
    patience = KernelUse(is_there=True, enough=100, smallest=10)

    assert [False, False, True, False] == [patience.use(size) for size in (60, 40, 10, 9)]


def test_a_kernel_is_compiled_where_its_code_cannot_be_kept(monkeypatch):
    """Without a folder to write to, the function is compiled anew in every process."""

    def njit(function=None, *, cache=False, fastmath=False):
        def refuse(_):
            raise RuntimeError("no locator available")

        return refuse if cache else ("compiled", function)

    monkeypatch.setattr("lanceref.fast.compiled.numba", SimpleNamespace(njit=njit))

    assert ("compiled", len) == compiled_kernels.compiled(len)
