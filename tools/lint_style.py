"""Style: the house rules that a formatter does not know.

Sizes of modules and functions, docstrings, comments that put work off, broad handlers, errors
without a clause, open types in signatures, and absolute paths of one machine.

    python tools/lint_style.py
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from findings import Finding, conclude
from sources import CODE_FOLDERS, ROOT, Source, python_files, text_files

MAX_MODULE_LINES = 400
"""No module is longer."""

MAX_FUNCTION_LINES = 50
"""No function is longer, its signature and docstring included."""

NAMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
"""Module names without meaning."""

IMPORTED = frozenset({"pylanceref.util"})
"""Modules that users of pylance import from under such a name all the same."""

PACKAGES = ("reference/lanceref", "reference/pylanceref/")
"""Where signatures are closed and errors name their clause; `lanceref_spark` and others too."""

BROAD = frozenset({"Exception", "BaseException"})
"""What no handler of the reference catches."""

_PUT_OFF = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
_OPEN_IGNORE = re.compile(r"type:\s*ignore(?!\[)")
_MACHINE = re.compile(r"(?<![\w.:/-])/(?:work|root|tmp|home)/\w[\w./-]*")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Found = Iterator[tuple[int, str]]
"""Line and message of what a rule finds."""


def _functions(source: Source) -> Iterator[Function]:
    return (node for node in ast.walk(source.tree) if isinstance(node, Function))


def sizes(source: Source) -> Found:
    """Modules and functions stay small."""
    num_lines = source.text.count("\n")
    if num_lines > MAX_MODULE_LINES:
        yield 0, f"{num_lines} lines, at most {MAX_MODULE_LINES}"
    for node in _functions(source):
        num_lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if num_lines > MAX_FUNCTION_LINES:
            yield node.lineno, f"{node.name} has {num_lines} lines, at most {MAX_FUNCTION_LINES}"


def names(source: Source) -> Found:
    """A module is named after what it holds."""
    if source.module in IMPORTED:
        return
    if not NAMELESS.isdisjoint(source.module.split(".")):
        yield 0, "a module is named after what it holds"


def docstrings(source: Source) -> Found:
    """Modules and tests say what they are."""
    if source.text.strip() and ast.get_docstring(source.tree) is None:
        yield 0, "no module docstring"
    if source.path.name.startswith("test_"):
        for node in _functions(source):
            if node.name.startswith("test_") and ast.get_docstring(node) is None:
                yield node.lineno, f"{node.name} does not say what must hold"


def comments(source: Source) -> Found:
    """No comment puts work off, no type error is ignored without its code."""
    for line, text in source.comments:
        if _PUT_OFF.search(text):
            yield line, f"work put off: {text}"
        if _OPEN_IGNORE.search(text):
            yield line, "a type error is ignored without its code"


def handlers(source: Source) -> Found:
    """The reference catches nothing broadly."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler):
            caught = BROAD if node.type is None else _names_in(node.type)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            caught = frozenset[str]().union(*map(_names_in, node.args))
        else:
            continue
        if caught & BROAD:
            yield node.lineno, "everything is caught"


def _names_in(node: ast.expr) -> frozenset[str]:
    return frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def signatures(source: Source) -> Found:
    """Signatures of the reference are closed."""
    for node in _functions(source):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += filter(None, (arguments.vararg, arguments.kwarg))
        annotations = [a.annotation for a in every] + [node.returns]
        text = " ".join(ast.unparse(a) for a in annotations if a is not None)
        if re.search(r"\bAny\b", text):
            yield node.lineno, f"the signature of {node.name} holds Any"


def error_classes(source: Source) -> frozenset[str]:
    """Return the names of the errors that are about bytes: BytesError and what derives from it."""
    family = {"BytesError"}
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and family & {ast.unparse(b) for b in node.bases}:
            family.add(node.name)
    return frozenset(family)


def clauses_of_errors(source: Source, family: frozenset[str]) -> Found:
    """Every error about bytes names its clause, or passes on the one it was given."""
    constants = {
        ast.unparse(node.targets[0])
        for node in source.tree.body
        if isinstance(node, ast.Assign) and _is_clause(node.value, frozenset())
    }
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in family:
            named = [k.value for k in node.keywords if k.arg == "clause"] or node.args[:1]
            if not named or not _is_clause(named[0], frozenset(constants)):
                yield node.lineno, f"{ast.unparse(node.func)} without a clause id written out"


def _is_clause(node: ast.expr, constants: frozenset[str]) -> bool:
    """Whether an expression is a clause id: a literal, a constant, or a `clause` passed on."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.startswith("L.")
    if isinstance(node, ast.IfExp):
        return _is_clause(node.body, constants) and _is_clause(node.orelse, constants)
    name = ast.unparse(node)
    return name in constants or name.split(".")[-1] == "clause" or name.endswith("_clause")


def machine_paths(root: Path) -> Iterator[Finding]:
    """Yield paths that exist on one machine only."""
    for path in text_files(root):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            for found in _MACHINE.findall(line):
                name = path.relative_to(root).as_posix()
                yield Finding(name, number, f"path of a machine: {found}")


EVERYWHERE: tuple[Callable[[Source], Found], ...] = (sizes, names, docstrings, comments)
"""Rules of all code."""


def check(root: Path) -> list[Finding]:
    """Check every file of `root`."""
    sources = list(python_files(root, *CODE_FOLDERS))
    errors = [source for source in sources if source.module == "lanceref.core.errors"]
    family = frozenset[str]().union(*(error_classes(source) for source in errors))
    findings = list(machine_paths(root))
    for source in sources:
        found = [item for rule in EVERYWHERE for item in rule(source)]
        if source.name.startswith("reference/"):
            found += handlers(source)
        if source.name.startswith(PACKAGES):
            found += [*signatures(source), *clauses_of_errors(source, family)]
        findings += [Finding(source.name, line, message) for line, message in found]
    return findings


def main() -> int:
    """Check the style of the repository."""
    parser = argparse.ArgumentParser(description="Check the house rules.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    return conclude("style", check(parser.parse_args().root))


if __name__ == "__main__":
    raise SystemExit(main())
