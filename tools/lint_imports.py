"""Imports: the floors of the house, and the few doors.

A module of the reference imports from its own floor and from those below; `FLOORS` gives the floor
of each. Imports inside functions count like the others. The doors:

* `lance`, the oracle: `lance_conformance/oracle.py`, `lance_conformance/adapters/pylance.py`, and
  tests marked `oracle`;
* `pyspark`: below `lanceref/spark/`, the campaign and the benchmark of Spark, and tests marked
  `spark`;
* the reference never imports `lance_conformance`; neither imports the tools.

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

FLOORS: dict[str, int] = {
    # 1: foundations. The version of a file is a plain value that every floor speaks of.
    **dict.fromkeys(
        ("errors", "short_text", "limits", "context", "cursor", "spans", "wire", "storage"), 1
    ),
    **dict.fromkeys(("errors", "limits", "context", "cursor", "spans", "wire", "storage"), 1),
    **dict.fromkeys(("budget", "wire_memory", "held_rows"), 1),
    **dict.fromkeys(
        (
            "arguments",
            "message_text",
            "arrowtypes",
            "compute",
            "integers",
            "key_values",
            "memory",
            "extension",
            "proto",
            "slices",
            "nesting",
        ),
        1,
    ),
    "file.versions": 1,
    # 2: bytes in, arrays out
    **dict.fromkeys(("codecs", "kernels", "jsonb", "jsonb_column", "jsontext", "geometry"), 2),
    **dict.fromkeys(
        ("query.comparison", "query.casts", "query.coercion", "query.decimals", "query.float_text"),
        2,
    ),
    **dict.fromkeys(("query.budget", "query.json_path", "query.json_functions"), 2),
    # 3: the file formats
    **dict.fromkeys(("file", "legacy", "arrays", "pages"), 3),
    # 4: table and transactions
    **dict.fromkeys(("table", "txn", "manifests"), 4),
    # 5: indices
    **dict.fromkeys(("index", "build"), 5),
    # 6: query
    **dict.fromkeys(
        (
            "snapshot",
            "projection",
            "filters",
            "query",
            "edit",
            "plan",
            "scan",
            "take",
            "search",
            "take_blobs",
        ),
        6,
    ),
    # 7: faces
    **dict.fromkeys(("", "dataset", "fragment", "scanner", "explain", "validate", "testing"), 7),
    **dict.fromkeys(("optimize", "commit", "blob", "schema", "types", "indices", "vector"), 7),
    **dict.fromkeys(("write", "target", "write_rows", "homes", "progress", "auto_cleanup"), 7),
    **dict.fromkeys(("incoming", "operation", "metadata", "committing"), 7),
    **dict.fromkeys(
        ("transactions", "read_transaction", "opened", "history", "overlay_messages"), 7
    ),
    **dict.fromkeys(("settings", "references", "cleanup", "edits", "merge_insert"), 7),
    **dict.fromkeys(("evolution", "reading", "udf", "scan_arguments", "scanner_builder"), 7),
    **dict.fromkeys(("stats", "sql", "delta", "session", "sampler", "util", "bitmap"), 7),
    **dict.fromkeys(("_dataset", "dataset_files", "debug", "lance", "merge_explained"), 7),
    **dict.fromkeys(
        ("clusters", "self_search", "hamming", "duplicate_pairs", "search_filter", "lsm_planner"), 7
    ),
    **dict.fromkeys(("arrow", "bfloat16", "bfloat16_frames", "images", "signatures"), 7),
    **dict.fromkeys(
        ("indexing", "index_listing", "index_request", "full_text_request", "full_text_scanner"), 7
    ),
    **dict.fromkeys(("row_id_sequence", "data_frame", "search_scanner", "nearest_scanner"), 7),
    **dict.fromkeys(("vector_request", "vector_models", "indices_builder"), 7),
    **dict.fromkeys(
        ("moments", "processor", "hnsw", "fragment_session", "fragment_reading", "index_use"), 7
    ),
    **dict.fromkeys(
        (
            "cleanup_plan",
            "scan_statistics",
            "fts_tokens",
            "vector_index_reader",
            "vector_transform",
        ),
        7,
    ),
    **dict.fromkeys(("mem_wal", "mem_wal_indexing", "lsm_scanner", "shard_writer"), 7),
    **dict.fromkeys(("shard_snapshot", "lsm_vector_planner", "sstable"), 7),
    # 8: many processes
    **dict.fromkeys(("jobs", "spark", "validation", "distributed_index", "distributed_table"), 8),
    "distributed_model": 8,
}
"""Floor of each module below `lanceref` (of a package: of all it holds); "" is the root itself."""

ORACLE_DOORS = frozenset({"lance_conformance.oracle", "lance_conformance.adapters.pylance"})
"""Modules that may import the oracle; of tests, those marked for it."""

SPARK_DOORS = (
    "lanceref_spark",
    "lance_conformance.campaigns.spark",
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


def floor_of(module: str) -> int | None:
    """Return the floor of a module of the reference, None when the table does not know it."""
    parts = module.split(".")[1:]
    for size in range(len(parts), 0, -1):
        floor = FLOORS.get(".".join(parts[:size]))
        if floor is not None:
            return floor
    return FLOORS[""] if not parts else None


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


def check_floors(source: Source, modules: frozenset[str]) -> Iterator[Finding]:
    """Hold the imports of a module of the reference against the floors."""
    own = floor_of(source.module)
    if own is None:
        yield Finding(source.name, 0, f"{source.module} stands on no floor: add it to FLOORS")
        return
    for found in imports_of(source):
        if found.name.split(".")[0] != "lanceref":
            continue
        target = found.name if found.name in modules else found.name.rpartition(".")[0]
        floor = floor_of(target or found.name)
        if floor is None or floor > own:
            place = "no floor" if floor is None else f"floor {floor}"
            text = f"{source.module} (floor {own}) imports {found.name} of {place}"
            yield Finding(source.name, found.line, text)


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
        elif parts[0] == "lance_conformance" and folder == "reference":
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
    modules = frozenset(source.module for source in sources)
    findings: list[Finding] = []
    for source in sources:
        if source.name.startswith("reference/lanceref/"):
            findings += check_floors(source, modules)
        findings += check_doors(source, tools, tainted)
    return findings


def main() -> int:
    """Check the imports of the repository."""
    parser = argparse.ArgumentParser(description="Check floors and doors of the imports.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    return conclude("imports", check(parser.parse_args().root))


if __name__ == "__main__":
    raise SystemExit(main())
