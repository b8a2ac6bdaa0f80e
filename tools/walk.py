"""Walk: which modules and functions a plain read enters, from the name of a file to the array.

    python tools/walk.py fixtures/file/2.0/flat/int32       the rooms of one read
    python tools/walk.py --table                            seven kinds of page, as a table
    python tools/walk.py --write                            the table into reference/README.md
    python tools/walk.py --check                            fail where it is another one there

A module counts with all its lines when one of its functions runs; of these, the lines of functions
that ran are counted apart, without docstrings of classes and modules, imports and names. Modules
that are only imported, and generated messages, do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from lance_conformance.suite.case_storage import materialise
from sources import ROOT

PAGES = {
    "0.1 plain int32": "file/0.1/plain/integers",
    "2.0 flat": "file/2.0/flat/int32",
    "2.1 mini-block, bit-packed": "file/2.1/bitpack/32",
    "2.1 FSST strings": "file/2.1/fsst/urls",
    "2.1 list": "file/2.1/levels/list",
    "2.2 full-zip": "file/2.2/fullzip/pairs-strings",
    "2.3 planar": "file/2.3/planar/chunked",
}
"""Kinds of page, and a case of each."""


PAGE = ROOT / "reference" / "README.md"
"""The page that shows the table, after the heading `TITLE`."""

TITLE = "## Reading one page\n"
"""The heading of the table's section."""


@dataclass(slots=True)
class Walk:
    """What one read entered.

    `calls` are by (module, function), `ran` the lines of these functions; `depth` is of the stack.
    """

    calls: Counter[tuple[Path, str]] = field(default_factory=Counter)
    ran: set[tuple[Path, int]] = field(default_factory=set)
    depth: int = 0

    @property
    def modules(self) -> list[Path]:
        """The modules whose functions ran."""
        return sorted({path for path, _ in self.calls})

    @property
    def num_lines(self) -> int:
        """Lines of these modules."""
        return sum(path.read_text(encoding="utf-8").count("\n") for path in self.modules)


def walk(path: Path) -> Walk:
    """Read a file or a table and return what the read entered; a first read imports modules."""
    from lanceref import open_file, open_table
    from lanceref.core.context import plain_forms

    def read() -> None:
        with plain_forms():
            if path.is_dir():
                open_table(path).to_table()
            else:
                open_file(path).read()

    read()
    found, package, depth = Walk(), ROOT / "reference" / "lanceref", 0

    def trace(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth
        source = Path(frame.f_code.co_filename)
        if package not in source.parents or event not in ("call", "return"):
            return
        if frame.f_code.co_name == "<module>":
            return
        depth += 1 if event == "call" else -1
        if event == "call":
            found.calls[source, frame.f_code.co_qualname] += 1
            lines = [line for *_, line in frame.f_code.co_lines() if line]
            found.ran |= {(source, line) for line in range(min(lines), max(lines) + 1)}
            found.depth = max(found.depth, depth)

    sys.setprofile(trace)
    try:
        read()
    finally:
        sys.setprofile(None)
    return found


def input_of(case: Path) -> Path:
    """Return the data file or the table of a case; what is no folder of a case is itself."""
    if not (case / "case.json").exists():
        return case
    case_input = json.loads((case / "case.json").read_text(encoding="utf-8"))["input"]
    return materialise(case / str(case_input.get("path") or case_input["uri"]))


def file_of(case: Path) -> Path:
    """Return the data file of a case; of a table, the only one it has."""
    case_input = input_of(case)
    if case_input.is_dir():
        (case_input,) = case_input.glob("data/*.lance")
    return case_input


def table(fixtures: Path) -> str:
    """Return the walks of the seven kinds of page as a table in Markdown."""
    names = ("page", "case", "modules", "functions", "their lines", "lines of the modules", "depth")
    rows = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for page, case in PAGES.items():
        found = walk(file_of(fixtures / case))
        own = len(found.modules), len(found.calls), len(found.ran)
        figures = *own, found.num_lines, found.depth
        rows.append(f"| {page} | `{case}` | {' | '.join(f'{n:,}' for n in figures)} |")
    return "\n".join(rows) + "\n"


def with_table(text: str, shown: str) -> str:
    """Return the text of the page with its table replaced by another one."""
    head, title, rest = text.partition(TITLE)
    before, bar, after = rest.partition("| page |")
    if not title or not bar:
        raise ValueError(f"no table after {TITLE!r}")
    lines = f"{bar}{after}".splitlines(keepends=True)
    below = next((at for at, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return head + title + before + shown + "".join(lines[below:])


def update(*, write: bool) -> int:
    """Write the table into the page, or return 1 where another one is there."""
    text = PAGE.read_text(encoding="utf-8")
    updated = with_table(text, table(ROOT / "fixtures"))
    if write:
        PAGE.write_text(updated, encoding="utf-8")
        return 0
    if text != updated:
        print("reference/README.md: the walks are others now: python tools/walk.py --write")
    return int(text != updated)


def main() -> int:
    """Print the walk of a case, or the table of all pages."""
    parser = argparse.ArgumentParser(description="What one read enters.")
    parser.add_argument(
        "case", nargs="?", type=Path, help="the folder of a case, a data file or a table"
    )
    parser.add_argument("--file", action="store_true", help="of a table, its data file alone")
    parser.add_argument("--table", action="store_true", help="the seven kinds of page")
    parser.add_argument("--write", action="store_true", help="the table into reference/README.md")
    parser.add_argument("--check", action="store_true", help="fail where it is another one there")
    options = parser.parse_args()
    if options.write or options.check:
        return update(write=options.write)
    if options.table or options.case is None:
        print(table(ROOT / "fixtures"), end="")
        return 0
    found = walk(file_of(options.case) if options.file else input_of(options.case))
    for module in found.modules:
        entered = [name for source, name in found.calls if source == module]
        lines = module.read_text(encoding="utf-8").count("\n")
        print(f"{module.relative_to(ROOT / 'reference')} ({lines} lines)")
        for name in entered:
            print(f"    {name} x {found.calls[module, name]}")
    print(
        f"{len(found.modules)} modules, {len(found.calls)} functions, "
        f"{found.num_lines:,} lines, {found.depth} calls deep"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
