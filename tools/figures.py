"""Figures: for each chapter a picture of a file, drawn from the bytes of a case.

The boxes are the spans that `explain` finds: groups around what they hold, with the offset on the
left and the size on the right. Long rows of like boxes are cut.

    python tools/figures.py            write spec/figures/*.svg
    python tools/figures.py --check    fail when a figure is not that of its bytes
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from findings import Finding, conclude
from lance_conformance.suite.case_storage import case_folder
from lanceref import explain
from lanceref.core.spans import Span
from sources import ROOT

FOLDER = "spec/figures"
"""Folder of the figures."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What is drawn: a file of a case, to so many levels of groups, with a title."""

    case: str
    file: str
    title: str
    depth: int = 2
    within: str = ""


FIGURES = {
    "10-file-container": Figure(
        "file/2.0/container/footer-2-0",
        "data.lance",
        "A data file: data first, its end describes it",
    ),
    "15-file-0.1": Figure(
        "file/0.1/container/batches", "dataset/data/*.lance", "A file of 0.1 and its batches"
    ),
    "20-encodings-2.0": Figure(
        "file/2.0/list/int32", "data.lance", "A list column of 2.0: ends, then items", 3, "field c"
    ),
    "30-pages-2.1": Figure(
        "file/2.1/levels/list",
        "data.lance",
        "A mini-block page: chunk table, chunks of levels and values, repetition index",
        6,
        "field c",
    ),
    "31-codecs": Figure(
        "file/2.1/variable/string", "data.lance", "A chunk of variable values", 6, "field c"
    ),
    "35-pages-2.3": Figure(
        "file/2.3/planar/chunked-list", "data.lance", "A planar page of 2.3", 6, "field c"
    ),
    "40-table": Figure(
        "table/any/deletions/arrow",
        "dataset/_versions/*3.manifest",
        "A manifest and its sections",
        3,
    ),
    "43-blobs": Figure(
        "table/any/blob/second-kind",
        "dataset/data/*.lance",
        "Descriptors of blobs in a full-zip page; the first blob is before them",
        5,
        "field b",
    ),
    "45-deletions-row-ids": Figure(
        "table/any/deletions/bitmap",
        "dataset/_deletions/*.bin",
        "A deletion file: a Roaring bitmap",
        4,
    ),
    "50-transactions": Figure(
        "table/any/deletions/arrow",
        "dataset/_transactions/1-*.txn",
        "The transaction of a Delete",
        4,
    ),
    "62-scalar-indices": Figure(
        "index/any/zonemap/plain", "dataset/_indices/*/zonemap.lance", "The zones of a ZONEMAP", 1
    ),
    "64-full-text": Figure(
        "index/any/inverted/plain",
        "dataset/_indices/*/part_*_invert.lance",
        "Posting lists of an INVERTED index",
    ),
    "66-vector-indices": Figure(
        "index/any/ivf-pq/plain",
        "dataset/_indices/*/auxiliary.idx",
        "The storage of IVF_PQ: partitions, codebook, row ids, codes",
    ),
}
"""The figure of each chapter that has one."""

MOST_ALIKE = 6
"""Boxes of one name in a row that are drawn."""

WIDTH, LINE, INDENT, LEFT = 720, 22, 14, 64
MARGIN, GAP = 8, 6
"""Sizes of the drawing, in its own units."""

STYLE = """text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}
.n{text-anchor:end;fill:#59636e;font-size:11px}.t{font-weight:600;font-size:14px}
rect{fill:#f6f8fa;stroke:#afb8c1}.d1{fill:#ddf4ff}.d2{fill:#dafbe1}.d3{fill:#fff8c5}.d4{fill:#ffeff7}
.d5{fill:#fbefff}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9198a1}rect{fill:#151b23;stroke:#3d444d}
.d1{fill:#0c2d4a}.d2{fill:#0f3320}.d3{fill:#3b2e07}.d4{fill:#42162e}.d5{fill:#2f1a4d}}"""


@dataclass(frozen=True, slots=True)
class Box:
    """A box to draw: its name, where its bytes are, and the boxes inside it."""

    name: str
    start: int
    end: int
    inside: tuple[Box, ...] = ()

    @property
    def height(self) -> int:
        """Height of the box in the drawing: its name, what is inside, a margin."""
        inside = sum(box.height for box in self.inside)
        return LINE + (inside + MARGIN if inside else 0)


def extent(span: Span) -> tuple[int, int]:
    """Return the first byte of a span and the one after its last."""
    leaves = list(span.leaves())
    if not leaves:
        return span.start, span.end
    return min(leaf.start for leaf in leaves), max(leaf.end for leaf in leaves)


def boxes(spans: list[Span], depth: int) -> Iterator[Box]:
    """Yield the boxes of spans in the order of the file; of many of one name only the first."""
    alike, last = 0, ""
    for span in sorted(spans, key=lambda one: extent(one)[0]):
        start, end = extent(span)
        if span.kind == "proto tag" or start == end:
            continue
        name = _name(span)
        kind = name.rstrip("0123456789 []")
        alike = alike + 1 if kind == last else 1
        last = kind
        if alike > MOST_ALIKE:
            if alike == MOST_ALIKE + 1:
                yield Box("...", start, start)
            continue
        inner = tuple(boxes(list(span.children), depth - 1)) if depth > 1 else ()
        yield Box(name, start, end, inner)


def _name(span: Span) -> str:
    name = span.name.partition(":")[0]
    value = span.value if isinstance(span.value, int | str) and span.is_leaf else None
    return name if value is None or len(str(value)) > 40 else f"{name} = {value}"


def draw(figure: Figure, root: Path) -> str:
    """Return the picture of a figure as SVG. Raises ValueError where its file is not one file."""
    folder = case_folder(root / "fixtures" / figure.case)
    found = sorted(folder.glob(figure.file))
    if len(found) != 1:
        raise ValueError(f"{len(found)} files {figure.case}/{figure.file}")
    explained = explain(found[0])
    spans = list(explained.root.children)
    if figure.within:
        spans = [one for one in spans if one.name == figure.within]
    top = list(boxes(spans, figure.depth))
    height = 56 + sum(box.height + GAP for box in top)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(figure.title)}</title>",
        f"<style>{STYLE}</style>",
        f'<text class="t" x="8" y="20">{escape(figure.title)}</text>',
        f'<text x="8" y="38">{escape(figure.case)}, {explained.size} bytes</text>',
    ]
    at = 50
    for box in top:
        lines += _drawn(box, at, 0)
        at += box.height + GAP
    return "\n".join([*lines, "</svg>"]) + "\n"


def _drawn(box: Box, at: int, depth: int) -> Iterator[str]:
    x, width = LEFT + INDENT * depth, WIDTH - LEFT - 8 - 2 * INDENT * depth
    height, middle = box.height - 3, at + 15
    place = f'x="{x}" y="{at}" width="{width}" height="{height}"'
    yield f'<rect class="d{min(depth, 5)}" {place} rx="3"/>'
    yield f'<text x="{x + 8}" y="{middle}">{escape(box.name)}</text>'
    if box.end > box.start:
        yield f'<text class="n" x="{LEFT - 8}" y="{middle}">{box.start}</text>'
        size = box.end - box.start
        unit = "byte" if size == 1 else "bytes"
        yield f'<text class="n" x="{x + width - 8}" y="{middle}">{size} {unit}</text>'
    below = at + LINE
    for inner in box.inside:
        yield from _drawn(inner, below, depth + 1)
        below += inner.height


def main() -> int:
    """Write or check the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    options = parser.parse_args()
    findings = list[Finding]()
    (ROOT / FOLDER).mkdir(exist_ok=True)
    for chapter, figure in FIGURES.items():
        path = ROOT / FOLDER / f"{chapter}.svg"
        text = draw(figure, ROOT)
        if not options.check:
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            findings.append(Finding(f"{FOLDER}/{path.name}", 0, "is not that of its bytes"))
        if f"figures/{chapter}.svg" not in (ROOT / "spec" / f"{chapter}.md").read_text("utf-8"):
            findings.append(Finding(f"spec/{chapter}.md", 0, "does not show its figure"))
    return conclude("figures", findings)


if __name__ == "__main__":
    raise SystemExit(main())
