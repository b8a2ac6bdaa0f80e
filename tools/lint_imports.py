"""Imports: the modules that may import certain libraries and packages.

Imports inside functions count like the others. The order of folders is in `lint_layers`. The doors:

* `lance`, the oracle: `lance_conformance/oracle.py`, `lance_conformance/adapters/pylance.py`, and
  tests marked `oracle`;
* `pyspark`: below `lanceref_spark/`, the campaign and the benchmark of Spark, and tests marked
  `spark`;
* the packages below `reference/` never import `lance_conformance`; neither imports the tools.

    python tools/lint_imports.py
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from findings import Finding, conclude
from sources import CODE_FOLDERS, ROOT, Source, python_files

ORACLE_DOORS = frozenset({"lance_conformance.oracle", "lance_conformance.adapters.pylance"})
"""Modules that may import the oracle; of tests, those marked for it."""

SPARK_DOORS = (
    "lanceref_spark",
    "lance_conformance.campaigns.faults.spark",
    "lance_conformance.bench.spark",
)
"""What the names of modules that may import PySpark begin with."""

MARKED = {"lance": "oracle", "pyspark": "spark"}
"""Libraries that a test may import when it carries the mark."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported dotted name; `marks` are those of the functions around it and of the module."""

    name: str
    line: int
    marks: frozenset[str]


def imports_of(source: Source) -> list[Import]:
    """Return every import of a file, `pytest.importorskip` included."""
    return list(_imports(source, source.tree, _module_marks(source.tree)))


def _imports(source: Source, node: ast.AST, marks: frozenset[str]) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inner = marks
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = marks | _marks(child.decorator_list)
        for name in _names(source, child):
            yield Import(name, getattr(child, "lineno", 0), inner)
        yield from _imports(source, child, inner)


def _names(source: Source, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = source.module.split(".")
            up = node.level - (source.path.name == "__init__.py")
            base = ".".join([*package[: len(package) - up], *filter(None, [base])])
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("importorskip"):
        yield from (a.value for a in node.args[:1] if isinstance(a, ast.Constant))  # type: ignore[misc]


def _module_marks(tree: ast.Module) -> frozenset[str]:
    values = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    return _marks(values)


def _marks(nodes: list[ast.expr]) -> frozenset[str]:
    text = " ".join(ast.unparse(node) for node in nodes)
    return frozenset(mark for mark in MARKED.values() if f"pytest.mark.{mark}" in text)


CASES_DOOR = "lance_conformance.suite.case_storage"
"""Module from which tests of the reference take the folders of frozen cases."""


def check_doors(
    source: Source, tools: frozenset[str], tainted: frozenset[str]
) -> Iterator[Finding]:
    """Check that libraries and packages come in by their doors only.

    `tainted` names the support modules of tests that import the oracle: who imports one of them
    needs the mark too.
    """
    folder = source.name.split("/")[0]
    for found in imports_of(source):
        parts = found.name.split(".")
        problem = ""
        if parts[0] in MARKED:
            if not _by_door(source, parts[0], found):
                problem = f"{found.name} comes in outside of its doors"
        elif (
            source.is_test
            and not tainted.isdisjoint(parts)
            and not _in_test(source, "lance", found)
        ):
            problem = f"{found.name} imports the oracle: this test needs the mark"
        elif (
            parts[0] == "lance_conformance"
            and folder == "reference"
            and not (source.is_test and found.name.startswith(CASES_DOOR))
        ):
            problem = "the reference imports the suite"
        elif parts[0] in tools and folder != "tools":
            problem = f"{folder} imports the tool {parts[0]}"
        if problem:
            yield Finding(source.name, found.line, problem)


def _by_door(source: Source, library: str, found: Import) -> bool:
    if source.is_test:
        return _in_test(source, library, found)
    if library == "pyspark":
        return source.module.startswith(SPARK_DOORS)
    return source.module in ORACLE_DOORS


def _in_test(source: Source, library: str, found: Import) -> bool:
    """Whether a test may import a library: it is marked, or a support module of marked tests."""
    return MARKED[library] in found.marks or _is_support(source)


def _is_support(source: Source) -> bool:
    return source.is_test and not source.path.name.startswith("test_")


def check(root: Path) -> list[Finding]:
    """Check every Python file of `root`."""
    sources = list(python_files(root, *CODE_FOLDERS))
    tools = frozenset(s.path.stem for s in sources if s.name.count("/") == 1 and s.name[0] == "t")
    support = [source for source in sources if _is_support(source)]
    tainted = frozenset(
        source.path.stem
        for source in support
        if any(found.name.split(".")[0] == "lance" for found in imports_of(source))
    )
    findings: list[Finding] = []
    for source in sources:
        findings += check_doors(source, tools, tainted)
    return findings


def main() -> int:
    """Check the imports of the repository."""
    parser = argparse.ArgumentParser(description="Check the doors of imports.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    return conclude("imports", check(parser.parse_args().root))


if __name__ == "__main__":
    raise SystemExit(main())
