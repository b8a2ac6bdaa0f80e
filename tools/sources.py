"""Sources: the files of the repository, as the linters see them.

Every linter takes the root of a repository, so that its tests can hand it a small bad one. Hidden
folders and what the build makes are passed over.

    ROOT                     the repository of these tools
    python_files(root, "x")  the Python files under root/x, without generated ones
    text_files(root)         every text file
    Source                   one Python file: path, text, lines, tree, comments
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository these tools maintain."""

CODE_FOLDERS = ("reference", "conformance", "tools")
"""Folders with the Python code of the repository."""

TEXT_SUFFIXES = frozenset(
    {".css", ".hexmap", ".html", ".j2", ".java", ".js", ".json", ".jsonl", ".md", ".mjs", ".proto"}
    | {".py", ".pyi", ".sh", ".svg", ".toml", ".txt", ".yaml", ".yml"}
)
"""Ends of the names of text files; files without an end are text when they start with `#!`."""

_PASSED_OVER = frozenset({"__pycache__", "build", "dist", "node_modules", "report"})


@dataclass(frozen=True)
class Source:
    """One Python file: `name` is its path from the root, with slashes."""

    root: Path
    path: Path

    @property
    def name(self) -> str:
        """Path from the root of the repository."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def module(self) -> str:
        """Dotted name of the module, from its package on."""
        parts = list(self.path.relative_to(self.root).with_suffix("").parts)
        if parts[0] in CODE_FOLDERS and len(parts) > 1:
            parts = parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_test(self) -> bool:
        """Whether the file is in a test tree."""
        return "tests" in self.path.relative_to(self.root).parts

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the file."""
        return ast.parse(self.text, self.name)

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line and text of every comment."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return [
            (token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT
        ]

    @cached_property
    def docstring_lines(self) -> frozenset[int]:
        """Lines that docstrings of the module, its classes and its functions take."""
        lines: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if first is not None and ast.get_docstring(node, clean=False) is not None:
                    lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        return frozenset(lines)


def python_files(root: Path, *folders: str) -> Iterator[Source]:
    """Yield the Python files under `folders` of `root`, without the generated message modules."""
    for folder in folders:
        for path in _walk(root / folder):
            generated = path.stem.endswith("_pb2") or path.stem.endswith("_pb2_grpc")
            if path.suffix == ".py" and not generated:
                yield Source(root, path)


def text_files(root: Path) -> Iterator[Path]:
    """Yield every text file of `root`."""
    for path in _walk(root):
        if path.suffix in TEXT_SUFFIXES or (not path.suffix and path.read_bytes()[:2] == b"#!"):
            yield path


def _walk(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name in _PASSED_OVER or (path.name.startswith(".") and path.name != ".ci"):
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path
