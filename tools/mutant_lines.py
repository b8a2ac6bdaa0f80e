"""Lines: which cases or tests run through which lines of the reference, traced in a child.

What a cache knows runs no line: caches are emptied before each case and test.

    touched(root, writing=False)       the cases of readers, or of writers, by line
    traced(trace)                      the ids by line that other work in a child sent
    caches_made_here()                 in such a child: what empties the caches made after it
    tell_lines(tracer, ...)            in such a child: send the traced lines
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mutant_child import Send, in_child, runner

if TYPE_CHECKING:
    from coverage import Coverage

Lines = Mapping[str, Mapping[int, Sequence[str]]]
"""Ids of cases or tests by file of the reference and line."""


def touched(root: Path, *, writing: bool = False) -> tuple[Lines, list[str]]:
    """Return the cases by line, and the ids of cases that the reference itself does not pass.

    They are the cases of readers, or those that are about `writing`.
    """
    return traced(lambda send: _trace(root, writing, send))


def traced(trace: Callable[[Send], None]) -> tuple[Lines, list[str]]:
    """Return the ids by line, and those left out, that a child sent by `send_lines`."""
    found = json.loads(in_child(trace))
    lines = {
        name: {int(line): ids for line, ids in by_line.items()}
        for name, by_line in found["lines"].items()
    }
    return lines, found["failing"]


def caches_made_here() -> Callable[[], None]:
    """Return what empties every cache that is made from now on: what it knows runs no line."""
    made: list[functools._lru_cache_wrapper[object]] = []
    real = functools.lru_cache

    def lru_cache(maxsize: object = 128, typed: bool = False) -> object:
        if callable(maxsize):
            return lru_cache()(maxsize)  # type: ignore[operator]

        def cached(function: Callable[..., object]) -> functools._lru_cache_wrapper[object]:
            made.append(real(maxsize, typed)(function))  # type: ignore[call-overload]
            return made[-1]

        return cached

    functools.lru_cache = lru_cache  # type: ignore[assignment]

    def empty() -> None:
        for cache in made:
            cache.cache_clear()

    return empty


def _trace(root: Path, writing: bool, send: Send) -> None:
    import coverage

    empty_caches = caches_made_here()
    tracer = coverage.Coverage(data_file=None, source=[str(root / "reference" / "lanceref")])
    tracer.start()
    run = runner(root, None)
    failing = []
    for case_id in run.writing if writing else run.reading:
        tracer.switch_context(case_id)
        empty_caches()
        if run(case_id) != "pass":
            failing.append(case_id)
    tracer.stop()
    send_lines(tracer, root, failing, send)


def send_lines(tracer: Coverage, root: Path, failing: Collection[str], send: Send) -> None:
    """Tell which lines each context of a tracer ran through, without those of some."""
    data = tracer.get_data()
    lines = {
        Path(name).relative_to(root).as_posix(): {
            line: sorted(set(ids) - {""} - set(failing))
            for line, ids in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }
    send(json.dumps({"lines": lines, "failing": sorted(failing)}))
