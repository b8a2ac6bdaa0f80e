"""Prose of the code: docstrings that stand on their own, and words that mean nothing technical.

A public docstring of the reference has at least seven words, the shapes of arrays that it takes or
returns, and the errors that it raises. Docstrings, comments, messages and pages use the standard
term: bytes come after others and not behind them, a finding is reported and not told. A sentence
of a chapter, up to a full stop, colon or semicolon, has at most 40 words.

    python tools/lint_prose.py
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from findings import Finding, conclude
from register import unfenced
from sources import CODE_FOLDERS, ROOT, Source, python_files, text_files

FEWEST_WORDS = 7
"""Words that a public docstring has at least."""

MOST_WORDS = 40
"""Words that a sentence of a chapter has at most; code counts as one."""

PACKAGES = ("reference/lanceref/", "reference/pylanceref/")
"""Where public docstrings are held to these rules."""

WORDS = {
    r"(?<![-_./`\w])(?<!leave )(?<!leaves )(?<!left )(?<!Left )(?<!stay )(?<!thread )"
    r"(?<!version )(?<!look )(?<!fence )(?<!oracle )(?<!object )behind(?![-_`\w])": "after",
    r"\b(?:is|are|was|were) told\b(?! apart)": "is reported",
    r"\btold of\b": "reported",
    r"\bof which every\b": "each of which",
    r"\bstands? twice\b": "occurs twice",
    r"\bas (?:it stands|they stand)\b": "as it is",
}
"""Words that are not used for what they mean elsewhere, and the plain ones."""

NAMES = {
    "told",
    "tells",
    "deed",
    "odd",
    "oddity",
    "unwell",
    "victim",
    "sight",
    "asked",
    "apart",
    "beside",
}
"""Words that name no function, class or module: none is a term of formats, databases or tests."""

_WORDS = {re.compile(pattern): plain for pattern, plain in WORDS.items()}
_SHAPE = re.compile(r"\([^()]*,[^()]*\)|\[[^\]]+\]")
_ITEM = re.compile(r"\s*(?:[*-]|\d+\.) ")
_END = re.compile(r"(?<=[.!?;:])\s+")
_CODE = re.compile(r"`[^`]*`")
_CHAPTER = re.compile(r"spec/\d\d-[^/]*\.md")
_RAISES = re.compile(r"\b[Rr]aise|\b[Rr]efuse")

Public = tuple[ast.ClassDef | ast.FunctionDef, str]
"""A public class or function, and its docstring."""


def public(body: list[ast.stmt]) -> Iterator[Public]:
    """Yield the public classes and functions of a module that have a docstring, with it."""
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        text = ast.get_docstring(node)
        if text is not None:
            yield node, text
        if isinstance(node, ast.ClassDef):
            yield from public(node.body)


def array_types(sources: list[Source]) -> frozenset[str]:
    """Return the dotted names of the aliases of array types that modules define."""
    return frozenset(
        f"{source.module}.{ast.unparse(target)}"
        for source in sources
        for node in source.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("NDArray[")
        for target in node.targets
    )


def array_names(source: Source, types: frozenset[str]) -> frozenset[str]:
    """Return the names of array types in a module: its own aliases, and those it imports."""
    own = {one for one in types if one.rpartition(".")[0] == source.module}
    names = {"NDArray", *(one.rpartition(".")[2] for one in own)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            names |= {one.name for one in node.names if f"{node.module}.{one.name}" in types}
    return frozenset(names)


def docstrings(source: Source, arrays: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield what public docstrings of a module lack."""
    for node, text in public(source.tree.body):
        if len(text.split()) < FEWEST_WORDS:
            yield node.lineno, f"{node.name} says what it is in less than {FEWEST_WORDS} words"
        if isinstance(node, ast.ClassDef):
            continue
        if arrays & _annotated(node) and not _SHAPE.search(text):
            yield node.lineno, f"{node.name} has arrays and does not say their shapes"
        if _raises(node) and not _RAISES.search(text):
            yield node.lineno, f"{node.name} raises an error and does not say which"


def _annotated(node: ast.FunctionDef) -> frozenset[str]:
    """Return the names in the annotations of a function."""
    every = [*node.args.args, *node.args.kwonlyargs]
    annotations = [one.annotation for one in every] + [node.returns]
    found = [inner for one in annotations if one is not None for inner in ast.walk(one)]
    return frozenset(inner.id for inner in found if isinstance(inner, ast.Name))


def _raises(node: ast.FunctionDef) -> bool:
    """Whether a function itself raises an error; functions inside it are their own."""
    rest: list[ast.AST] = [*node.body]
    while rest:
        inner = rest.pop()
        if isinstance(inner, ast.Raise) and inner.exc is not None:
            return True
        if not isinstance(inner, ast.FunctionDef | ast.Lambda):
            rest += ast.iter_child_nodes(inner)
    return False


def words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the wrong word of each place in a text."""
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, plain in _WORDS.items():
            for match in pattern.finditer(line):
                yield number, f"{match[0]!r}: {plain!r} is the plain word"


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the words of each paragraph and item of a page, tables left out."""
    begun, first = list[str](), 0
    for number, line in [*unfenced(text), (0, "")]:
        is_prose = bool(line.strip()) and not line.startswith(("|", "#", "[L."))
        if begun and (not is_prose or _ITEM.match(line)):
            yield first, " ".join(begun)
            begun = []
        if is_prose:
            first = first if begun else number
            begun.append(
                _ITEM.sub("", line, count=1).strip() if _ITEM.match(line) else line.strip()
            )


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line of the paragraph and a message for each sentence that is too long."""
    for number, paragraph in paragraphs(text):
        for sentence in _END.split(_CODE.sub("code", paragraph)):
            count = len(sentence.split())
            if count > MOST_WORDS:
                yield number, f"a sentence of {count} words, {MOST_WORDS} at most: {sentence[:60]}"


def names(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and a message for each module, class or function with a word of `NAMES`."""
    named = [(1, source.module.rpartition(".")[2])]
    defined = (ast.ClassDef, ast.FunctionDef)
    named += [(one.lineno, one.name) for one in ast.walk(source.tree) if isinstance(one, defined)]
    for line, name in named:
        for word in sorted(NAMES & {one.lower() for one in re.findall("[A-Z]?[a-z]+", name)}):
            yield line, f"{name}: {word!r} is no term of the field"


def prose_of(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and text of every string and comment of a module."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start[0], token.string


def check(root: Path) -> list[Finding]:
    """Check every Python file and every page of `root`."""
    sources = [
        one for one in python_files(root, *CODE_FOLDERS) if not one.module.endswith("lint_prose")
    ]
    types, findings = array_types(sources), []
    for source in sources:
        found = [
            (first + line - 1, message)
            for first, text in prose_of(source)
            for line, message in words(text)
        ]
        if "/tests/" not in source.name:
            found += names(source)
        if source.name.startswith(PACKAGES):
            found += docstrings(source, array_names(source, types))
        findings += [Finding(source.name, line, message) for line, message in found]
    for path in text_files(root):
        if path.suffix == ".md":
            name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
            findings += [Finding(name, line, message) for line, message in words(text)]
            if _CHAPTER.fullmatch(name):
                findings += [Finding(name, line, message) for line, message in long_sentences(text)]
    return findings


def main() -> int:
    """Print what is wrong; exit 1 when anything is."""
    parser = argparse.ArgumentParser(description="Check the prose of the code.")
    parser.add_argument("--root", type=Path, default=ROOT)
    return conclude("prose of the code", check(parser.parse_args().root))


if __name__ == "__main__":
    raise SystemExit(main())
