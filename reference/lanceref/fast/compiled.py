"""Compiled kernels (numba, the extra `fast`): when they are used, and how they are compiled.

Each kernel has the name and the result of a NumPy function of `codecs`, which specifies it and
replaces it where numba is missing. Kernels check no bounds: their input has been checked, or they
stop at damaged bytes, which the NumPy function then reports.

Loading numba takes as long as decoding 100 MB without it. So kernels are loaded once this process
has decoded that much: short programs never wait for them, long ones take at most twice the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(slots=True)
class KernelUse:
    """Whether numba `is_there`, and how many bytes were decoded without kernels so far.

    Kernels are used for at least `smallest` bytes, once `enough` bytes were decoded.
    """

    is_there: bool
    enough: int = 100 * 10**6
    smallest: int = 4096
    spent: int = 0

    def use(self, size_bytes: int) -> bool:
        """Count a call that decodes about so many bytes; return whether to use a kernel for it."""
        self.spent += size_bytes if self.is_there else 0
        return self.is_ready(size_bytes)

    def is_ready(self, size_bytes: int) -> bool:
        """Return whether to use a kernel for about so many bytes, which are counted elsewhere."""
        return self.is_there and size_bytes >= self.smallest and self.spent > self.enough


KERNEL_USE = KernelUse(find_spec("numba") is not None)
"""That of this process."""


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function when it is first called, keep the machine code where that is allowed."""
    import numba

    try:
        kernel = numba.njit(cache=True)(function)
    except RuntimeError:  # no folder that can be written to
        kernel = numba.njit(function)
    return cast("Callable[Arguments, Result]", kernel)
