"""Prose: the computed numbers and the links of the Markdown pages.

A number that a page computes is written as code and value, as in `2**16` (= 65536), and computed
again here. The code is plain arithmetic on numbers: + - * / // % ** << >> & | ^ ~ and parentheses.
The value may be grouped by thin spaces, and words may follow it. A link to a file or a heading of
this repository must lead there.

    python tools/prose.py
"""

from __future__ import annotations

import argparse
import ast
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from findings import Finding, conclude
from register import slug, unfenced
from sources import ROOT, text_files

MAX_BITS = 4096
"""Powers and shifts beyond this size are no prose."""

_COMPUTED = re.compile(r"`([^`]+)`\s+\(=\s*([^)]+)\)")
_VALUE = re.compile(r"-?(?:0x[0-9a-f]+|[0-9]+(?:[\u2009\u202f_][0-9]{3})*(?:\.[0-9]+)?)\b")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]*`")

_BINARY: dict[type[ast.operator], Callable[[int | float, int | float], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_BITS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def evaluate(expression: str) -> int | float:
    """Compute plain arithmetic. Raises ValueError for anything else."""
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError) as error:
        raise ValueError(f"{expression!r} is not plain arithmetic: {error}") from error


def _value(node: ast.expr) -> int | float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.UnaryOp):
        operand = _value(node.operand)
        if isinstance(node.op, ast.USub):
            return -operand
        if isinstance(node.op, ast.Invert) and isinstance(operand, int):
            return ~operand
    if isinstance(node, ast.BinOp):
        return _binary(type(node.op), _value(node.left), _value(node.right))
    raise ValueError(f"{ast.unparse(node)!r} is not plain arithmetic")


def _binary(op: type[ast.operator], left: int | float, right: int | float) -> int | float:
    if op in _BINARY:
        return _BINARY[op](left, right)
    if op is ast.Pow and abs(right) * max(1, int(abs(left)).bit_length()) <= MAX_BITS:
        result = left**right
        if isinstance(result, int | float):
            return result
    whole = isinstance(left, int) and isinstance(right, int)
    shift = op in (ast.LShift, ast.RShift)
    if op in _BITS and whole and (not shift or 0 <= right <= MAX_BITS):
        return _BITS[op](int(left), int(right))
    raise ValueError(f"{op.__name__} of {left} and {right} is too large or not plain arithmetic")


def agrees(computed: int | float, written: str) -> bool:
    """Whether a written value is the computed one, to the decimals that are written."""
    number = re.sub("[\u2009\u202f_]", "", written)
    if "." in number:
        return f"{computed:.{len(number.partition('.')[2])}f}" == number
    return computed == int(number, 16 if "x" in number else 10)


def check_numbers(name: str, text: str) -> Iterator[Finding]:
    """Compute every computed number of a page again."""
    for match in _COMPUTED.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        written = _VALUE.match(match.group(2))
        if written is None:
            yield Finding(name, line, f"(= {match.group(2)}) does not start with a number")
            continue
        try:
            computed = evaluate(match.group(1))
        except ValueError as error:
            yield Finding(name, line, str(error))
            continue
        if not agrees(computed, written.group()):
            message = f"`{match.group(1)}` is {computed}, not {match.group(2)}"
            yield Finding(name, line, message)


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as web views of repositories make them."""
    found: set[str] = set()
    for line in text.splitlines():
        if line.startswith("#"):
            name = slug(line.lstrip("#"))
            number = sum(name == known or known.startswith(f"{name}-") for known in found)
            found.add(f"{name}-{number}" if name in found else name)
    return found


def check_links(root: Path, path: Path, text: str) -> Iterator[Finding]:
    """Follow every link of a page that stays in the repository."""
    for number, line in enumerate(_CODE.sub("", text).splitlines(), start=1):
        for groups in _LINK.findall(line):
            target, _, anchor = (groups[0] or groups[1]).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            aim = (path.parent / target).resolve() if target else path
            problem = ""
            if not aim.exists():
                problem = f"link to {target}, which does not exist"
            elif root.resolve() not in (aim.resolve(), *aim.resolve().parents):
                problem = f"link to {target}, outside of the repository"
            elif anchor and aim.suffix == ".md" and anchor not in anchors(_plain(aim)):
                problem = f"link to heading {anchor} of {aim.name}, which does not exist"
            if problem:
                yield Finding(path.relative_to(root).as_posix(), number, problem)


def _plain(path: Path) -> str:
    """Return the text of a page without its fenced blocks, on the same lines."""
    return "\n".join(line for _, line in unfenced(path.read_text("utf-8")))


def check(root: Path) -> tuple[int, list[Finding]]:
    """Return how many numbers are computed in the pages of `root`, and what is wrong."""
    computed, findings = 0, list[Finding]()
    for path in text_files(root):
        if path.suffix == ".md":
            text = _plain(path)
            computed += len(_COMPUTED.findall(text))
            findings += check_numbers(path.relative_to(root).as_posix(), text)
            findings += check_links(root, path, text)
    return computed, findings


def main() -> int:
    """Check the pages."""
    parser = argparse.ArgumentParser(description="Check computed numbers and links of the pages.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    computed, findings = check(parser.parse_args().root)
    print(f"{computed} numbers computed")
    return conclude("prose", findings)


if __name__ == "__main__":
    raise SystemExit(main())
