"""Layers: which package may import which, the order of the folders of two, and no circles.

The two are `lanceref`, the format, and `lance_conformance`, the suite.

An import counts wherever it lies: inside a function and under TYPE_CHECKING too.

    python tools/lint_layers.py
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from findings import Finding, conclude
from lint_imports import imports_of
from sources import ROOT, Source, python_files

PACKAGES: dict[str, frozenset[str]] = {
    "lanceref": frozenset(),
    "pylanceref": frozenset({"lanceref"}),
    "lanceref_spark": frozenset({"lanceref", "pylanceref"}),
    "lanceref_testing": frozenset({"lanceref"}),
    "pyspark_lance_reference": frozenset({"lanceref_spark"}),
    "lance_conformance": frozenset(
        {"lanceref", "pylanceref", "lanceref_spark", "lanceref_testing"}
    ),
}
"""Packages below `reference/` and `conformance/`, and those that each may import."""

FOLDERS = [
    "proto",
    "core",
    "storage",
    "json",
    "kernels",
    "codecs",
    "file",
    "encodings_2_0",
    "pages",
    "blobs",
    "file_0_1",
    "data_file",
    "table",
    "transactions",
    "index",
    "search",
    "operations",
    "checks",
    "fast",
]
"""Folders of `lanceref`, lowest first: each imports from those before it. Last comes the root."""

SUITE_FOLDERS = [
    "schemas",
    "adapters",
    "comparison",
    "specification",
    "protocol",
    "suite",
    "judging",
    "reports",
    "runs",
    "coverage",
    "views",
    "random_files",
    "matrix",
    "recipes",
    "shrink",
    "bench",
    "gate",
    "campaigns",
    "commands",
]
"""Folders of `lance_conformance`, lowest first. Before them comes the root: what all may import."""

TOP = ""
"""The root of a package in its order."""

ORDERS = {"lanceref": [*FOLDERS, TOP], "lance_conformance": [TOP, *SUITE_FOLDERS]}
"""Packages whose folders have an order, lowest first."""

Graph = Mapping[str, Mapping[str, int]]
"""Modules, and the line where each imports another."""


def graph_of(sources: Mapping[str, Source]) -> Graph:
    """Return which modules import which; a name of a module stands for the module."""
    return {module: dict(_edges(source, sources)) for module, source in sources.items()}


def _edges(source: Source, sources: Mapping[str, Source]) -> Iterator[tuple[str, int]]:
    for found in imports_of(source):
        name = found.name if found.name in sources else found.name.rpartition(".")[0]
        if name in sources and name != source.module:
            yield name, found.line


def wrong_arrow(module: str, target: str) -> str | None:
    """Return why a module may not import another, None where it may."""
    own, other = module.split(".", maxsplit=1)[0], target.split(".", maxsplit=1)[0]
    if own != other:
        return None if other in PACKAGES[own] else f"{own} imports {target}"
    if own in ORDERS and _height(module) < _height(target):
        return f"{module} imports {target} of a folder above"
    return None


def _height(module: str) -> int:
    package, folder = f"{module}.".split(".")[:2]
    order = ORDERS[package]
    return order.index(folder if folder in order else TOP)


def _has_place(source: Source) -> bool:
    """Whether a file is at the root of its package, or in a folder with a place in the order."""
    package, *folders = source.name.split("/")[1:-1]
    return package not in ORDERS or not folders or folders[0] in ORDERS[package]


def circles(graph: Graph) -> list[list[str]]:
    """Return the sets of modules that import each other in a circle, each in order of names."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        path.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in path:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            at = path.index(module)
            if len(path) - at > 1:
                found.append(sorted(path[at:]))
            del path[at:]

    for module in graph:
        if module not in index:
            visit(module)
    return found


def check(root: Path) -> list[Finding]:
    """Check every module of the packages."""
    folders = [f"{home}/{name}" for home in ("reference", "conformance") for name in PACKAGES]
    sources = {source.module: source for source in python_files(root, *folders)}
    graph = graph_of(sources)
    findings = [
        Finding(sources[module].name, line, wrong)
        for module, targets in graph.items()
        for target, line in targets.items()
        if (wrong := wrong_arrow(module, target)) is not None
    ]
    findings += [
        Finding(source.name, 0, "its folder has no place in the order of the package")
        for source in sources.values()
        if not _has_place(source)
    ]
    for circle in circles(graph):
        text = f"a circle of {len(circle)} modules: {', '.join(circle)}"
        findings.append(Finding(sources[circle[0]].name, 0, text))
    return findings


def main() -> int:
    """Check the layers of the repository."""
    parser = argparse.ArgumentParser(description="Check packages, folders and circles.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    return conclude("layers", check(parser.parse_args().root))


if __name__ == "__main__":
    raise SystemExit(main())
