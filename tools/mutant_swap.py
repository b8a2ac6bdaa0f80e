"""Live code: which functions of a loaded package a changed module stands for.

A child that is forked from a process with everything imported need not import again: the code of
the changed functions is put in place. That holds for functions that did not run while the packages
were imported; what a module computed with a function then is there already, so a change of such a
function, or of the body of a module or class, needs an import of its own. So does a change of a
compiled function, whose machine code is kept by the name of its file.

    imported(names)              import modules and all below them, and note what ran meanwhile
    Live.changes(path, tree)     function and new code, or None: only an import shows the change
    Live.put(changes)            put the code in place
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType

Key = tuple[str, int]
"""Qualified name and first line of a code object in its file."""

Changes = list[tuple[FunctionType, CodeType]]
"""Functions and the code that each is to have."""


@dataclass(frozen=True, slots=True)
class Live:
    """The functions of the loaded packages by file, and the code that ran while importing."""

    functions: Mapping[str, Mapping[Key, Sequence[FunctionType]]]
    ran: frozenset[tuple[str, Key]]
    caches: Sequence[functools._lru_cache_wrapper[object]]

    def changes(self, path: Path, tree: ast.Module) -> Changes | None:
        """Return what puts a changed module in the place of that of `path`, if functions do."""
        name = str(path)
        functions = self.functions.get(name, {})
        old = compile(path.read_text(encoding="utf-8"), name, "exec")
        found: Changes = []
        for key, code in _outermost(old, compile(tree, name, "exec"), functions):
            if key not in functions or (name, key) in self.ran:
                return None
            found += [(function, code) for function in functions[key]]
        return found

    def put(self, changes: Changes) -> None:
        """Give functions their new code, and forget what was computed with the old."""
        for function, code in changes:
            function.__code__ = code
        for cache in self.caches:
            cache.cache_clear()


def imported(names: Iterable[str]) -> Live:
    """Import modules and all below them; those that lack a library of their own are left out."""
    ran: set[tuple[str, Key]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add((frame.f_code.co_filename, _key(frame.f_code)))

    sys.setprofile(note)
    try:
        for name in names:
            below = getattr(importlib.import_module(name), "__path__", [])
            for module in pkgutil.walk_packages(below, f"{name}.", lambda _: None):
                _import(module.name)
    finally:
        sys.setprofile(None)
    functions: dict[str, dict[Key, list[FunctionType]]] = {}
    compiled = {id(getattr(one, "py_func", one)) for one in gc.get_objects() if _is_compiled(one)}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and id(one) not in compiled:
            by_key = functions.setdefault(one.__code__.co_filename, {})
            by_key.setdefault(_key(one.__code__), []).append(one)
    caches = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    return Live(functions, frozenset(ran), caches)


def _is_compiled(one: object) -> bool:
    return type(one).__name__ == "CPUDispatcher"  # of numba


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        return


def _outermost(
    old: CodeType, new: CodeType, functions: Mapping[Key, object]
) -> Iterator[tuple[Key, CodeType]]:
    """Yield the outermost code objects that changed; that of a module or class has no function."""
    if _bare(old) != _bare(new):
        yield _key(new), new
        return
    for before, after in zip(_inner(old), _inner(new), strict=True):
        if _key(after) in functions:
            if before != after:
                yield _key(after), after
        else:
            yield from _outermost(before, after, functions)


def _bare(code: CodeType) -> tuple[object, ...]:
    """Return what a code object does without those inside of it."""
    consts = [(type(one), one) for one in code.co_consts if not isinstance(one, CodeType)]
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        consts,
        len(_inner(code)),
    )


def _inner(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _key(code: CodeType) -> Key:
    return code.co_qualname, code.co_firstlineno
