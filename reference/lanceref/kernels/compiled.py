"""Compiled: when the kernels of this room are used, and how they are compiled.

Each kernel has the name and the result of a NumPy function of `codecs`, which specifies it and does
the work where numba is missing. Kernels check no bounds: whatever they get has been checked, or
they give up at bytes that are not sound and the NumPy function says what is wrong with them.

Loading numba takes as long as decoding 100 MB without it. So the kernels are loaded once this
process has decoded that much: a program that reads a little never waits for them, and one that
reads a lot takes at most twice the time that it needs from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(slots=True)
class Patience:
    """How many bytes were decoded without kernels that could have been decoded with them.

    `is_there` says whether numba is; `enough` is when it is loaded, `smallest` how many bytes a
    call decodes at least to be worth it.
    """

    is_there: bool
    enough: int = 100 * 10**6
    smallest: int = 4096
    spent: int = 0

    def pays(self, size_bytes: int) -> bool:
        """Say whether a call that decodes about so many bytes is better done by a kernel."""
        if not self.is_there:
            return False
        self.spent += size_bytes
        return size_bytes >= self.smallest and self.spent > self.enough


PATIENCE = Patience(find_spec("numba") is not None)
"""That of this process."""


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function when it is first called, keep the machine code where that is allowed."""
    import numba

    try:
        kernel = numba.njit(cache=True)(function)
    except RuntimeError:  # no folder that can be written to
        kernel = numba.njit(function)
    return cast("Callable[Arguments, Result]", kernel)
