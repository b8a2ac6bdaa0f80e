"""Context: what one parse knows beside the bytes, and which forms of functions it takes.

The file's name, the stage of the work, the caller's limits, and two optional collectors: spans (for
`explain`) and findings (for `validate`). Reading, explaining and validating run the same parsers;
only the collectors differ:

* `raise` of a `FormatError`: nothing after it can be trusted; a reader stops, `validate` records it
  and goes on with the next piece (see `piece`);
* `refuse`: a reader stops, `validate` records it and goes on right here;
* `lint`: a clause that binds writers only; a reader does not care, `validate` records it.

The plain form of a decoder or algorithm lies in the module of its clauses and is the specification.
A function marked `specified` may have a fast form in the folder `fast`, with the same signature and
the same result. Nothing imports that folder: it is loaded by its name, as a plug-in, at the first
call that may be fast. Fast forms are left out inside of `plain_forms()`, and in a process whose
environment has `LANCEREF_PLAIN=1`. Validation, explanations and byte coverage always do so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Generic, Literal, ParamSpec, TypeVar

from lanceref.core.errors import BytesError, CorruptPage, FormatError, Place, Stage
from lanceref.core.limits import DEFAULT_LIMITS, Budget, Limits
from lanceref.core.spans import SpanRecorder

Severity = Literal["must", "should", "note"]
"""The level of the clause a finding reports."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken clause: the object `validate` returns for it."""

    clause: str
    severity: Severity
    file: str
    offset: int
    size: int
    found: str
    wanted: str
    message: str


@dataclass(frozen=True, slots=True)
class Context:
    """File name, stage, limits and collectors of one parse.

    `budget` counts the memory of metadata: that of a file while it is parsed, that of the table
    otherwise; None outside of both.

    Rows may be `discarded` afterwards: what is wrong with the values of some is then no fault. The
    files of a table stay open for the next call where it `keeps` their metadata.
    """

    file: str
    stage: Stage = "open"
    limits: Limits = DEFAULT_LIMITS
    spans: SpanRecorder | None = None
    findings: list[Finding] | None = None
    discarded: bool = False
    keeps: bool = True
    budget: Budget | None = None

    @property
    def validating(self) -> bool:
        """Whether broken clauses are collected; checks of cost only `validate` pays ask this."""
        return self.findings is not None

    def at(self, offset: int, size_bytes: int = 0) -> Place:
        """Name a byte range of this file."""
        return Place(self.file, offset, size_bytes, self.stage)

    def during(self, stage: Stage) -> Context:
        """Return this context with another stage, which errors report."""
        return self if stage == self.stage else replace(self, stage=stage)

    def group(
        self, name: str, clause: str = "", value: object = None
    ) -> AbstractContextManager[None]:
        """Nest the spans of the block under `name`; does nothing when no spans are recorded."""
        return nullcontext() if self.spans is None else self.spans.group(name, clause, value)

    def leaf(
        self, start: int, end: int, name: str, kind: str, clause: str = "", value: object = None
    ) -> None:
        """Record an owning span when spans are recorded."""
        if self.spans is not None:
            self.spans.leaf(start, end, name, kind, clause, value)

    def refuse(self, error: BytesError) -> None:
        """Raise `error` when reading; record it and return when validating."""
        if self.findings is None:
            raise error
        self._record(error, "must")

    def reject(self, clause: str, place: Place, found: object, wanted: object) -> None:
        """Raise a FormatError when reading; record it and return when validating."""
        self.refuse(FormatError(clause, place, found, wanted))

    def lint(
        self, clause: str, place: Place, found: object, wanted: object, severity: Severity = "must"
    ) -> None:
        """Record a broken writer clause when validating; a reader goes on."""
        if self.findings is not None:
            self._record(FormatError(clause, place, found, wanted), severity)

    @contextmanager
    def piece(self) -> Iterator[None]:
        """Run a block that can fail alone: when validating, its error is recorded and ends it."""
        try:
            yield
        except BytesError as error:
            if self.findings is None:
                raise
            self._record(error, "must")

    def _record(self, error: BytesError, severity: Severity) -> None:
        """Add a finding; once there are as many as there may be, only the first of each clause."""
        findings, most, place = self.findings, self.limits.findings, error.place
        assert findings is not None
        if len(findings) >= most and error.clause in {one.clause for one in findings[most:]}:
            return
        at, found, wanted = (place.file, place.offset, place.size_bytes), error.found, error.wanted
        findings.append(Finding(error.clause, severity, *at, str(found), str(wanted), str(error)))


def expect(
    clause: str, found: object, wanted: object, place: Place, error: type[BytesError] = CorruptPage
) -> None:
    """Raise `error` for a clause unless `found` equals `wanted`."""
    if found != wanted:
        raise error(clause, place, found, wanted)


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Item = TypeVar("Item")

ENVIRONMENT = "LANCEREF_PLAIN"
"""Variable of the environment that leaves fast forms out, unless it is empty or 0."""

OF_INDICES = ("lanceref.kernels.", "lanceref.index.")
"""Modules whose fast forms are those of indices."""

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


@cache
def _load(of_indices: bool) -> None:
    of_files = ("files", "pages")
    for part in ("indices", "documents", "graphs", "row_sets") if of_indices else of_files:
        import_module(f"lanceref.fast.{part}")
