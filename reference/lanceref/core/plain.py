"""Plain and fast forms: a function that specifies, and what may take its place for speed.

The plain form of a decoder or algorithm lies in the module of its clauses and is the specification.
A function marked `specified` may have a fast form in the folder `fast`, with the same signature and
the same result. Nothing imports that folder: it is loaded by its name, as a plug-in, at the first
call that may be fast, and registers what it has. The forms of indices are loaded apart from those
of files.

Fast forms are left out inside of `plain_forms()`, and in a process whose environment has
`LANCEREF_PLAIN=1`. Validation, explanations and byte coverage always leave them out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Item = TypeVar("Item")

ENVIRONMENT = "LANCEREF_PLAIN"
"""Variable of the environment that leaves fast forms out, unless it is empty or 0."""

OF_INDICES = ("lanceref.kernels.", "lanceref.index.")
"""Modules whose fast forms lie in `fast.indices`, `fast.builds` and `fast.documents`."""

_plain = ContextVar("plain", default=os.environ.get(ENVIRONMENT, "0") not in ("", "0"))


class Specified(Generic[Arguments, Result]):
    """A function by its plain form, and the fast form that takes its place, where there is one."""

    def __init__(self, plain: Callable[Arguments, Result]) -> None:
        self.plain, self.fast = plain, plain
        self.__doc__ = plain.__doc__

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if _plain.get():
            return self.plain(*args, **kwargs)
        _load(self.plain.__module__.startswith(OF_INDICES))
        return self.fast(*args, **kwargs)

    def replaced_by(self, fast: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        """Register the function below as the fast form."""
        self.fast = fast
        return fast


specified = Specified
"""Marks a plain form that may have a fast one."""


def is_plain() -> bool:
    """Whether fast forms are left out here."""
    return _plain.get()


@contextmanager
def plain_forms(on: bool = True) -> Iterator[None]:
    """Leave fast forms out in a `with` block, where it is `on`; do not hold it over a `yield`."""
    token = _plain.set(on or _plain.get())
    try:
        yield
    finally:
        _plain.reset(token)


def plainly(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items, each made by plain forms."""
    end = object()
    while True:
        with plain_forms():
            item = next(items, end)
        if item is end:
            return
        yield item  # type: ignore[misc]


@cache
def _load(of_indices: bool) -> None:
    for part in ("indices", "builds", "documents") if of_indices else ("files",):
        import_module(f"lanceref.fast.{part}")
