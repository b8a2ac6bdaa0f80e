"""When kernels are used, and how they are compiled."""

import sys
from types import SimpleNamespace

from lanceref.fast.compiled import KernelUse, compiled


def test_kernels_wait_until_enough_was_decoded_without_them():
    """The first hundred bytes are decoded without, then calls of ten bytes and more with."""
    patience = KernelUse(is_there=True, enough=100, smallest=10)

    assert [False, False, True, False] == [patience.use(size) for size in (60, 40, 10, 9)]


def test_without_numba_nothing_pays():
    """Where numba is missing there is nothing to wait for."""
    assert not KernelUse(is_there=False, enough=0, smallest=0).use(10**9)


def test_a_kernel_is_compiled_where_its_code_cannot_be_kept(monkeypatch):
    """Without a folder to write to, the function is compiled anew in every process."""

    def njit(function=None, *, cache=False):
        def refuse(_):
            raise RuntimeError("no locator available")

        return refuse if cache else ("compiled", function)

    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=njit))

    assert ("compiled", len) == compiled(len)
