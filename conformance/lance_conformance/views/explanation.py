"""Views of an explanation: the annotated tree of a file's bytes as text, JSON or one HTML page."""

from __future__ import annotations

import json
import textwrap
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, select_autoescape
from lanceref.core.spans import Span
from lanceref.inspection import Explanation

from lance_conformance.untrusted_text import printable

WIDTH = 80
"""Default number of characters of a line of text."""

VALUE_WIDTH = 12
"""Minimum number of characters shown of a value."""

HTML_VALUE_WIDTH = 60
"""Characters of a value shown on the page."""

HTML_BYTES = 32
"""Bytes of a leaf shown on the page."""

HEX_BYTES = 16
"""Bytes shown on a hex line."""

FIELD = "field "
"""Prefix of the name of the group of a top-level field."""


@dataclass(frozen=True, slots=True)
class SpanFilter:
    """The spans to show: those with byte `at`, of field `column`, and not below `depth`."""

    at: int | None = None
    column: str | None = None
    depth: int | None = None


NO_FILTER = SpanFilter()


def to_text(
    explanation: Explanation,
    data: bytes | None = None,
    width: int = WIDTH,
    part: SpanFilter = NO_FILTER,
) -> Iterator[str]:
    """Yield the lines of the tree; with `data` each leaf is followed by its bytes in hex.

    A filtered tree includes the clauses of its spans, and no summary follows. Raises LookupError
    where the file has no such column or byte.
    """
    spans = _filtered_spans(explanation, part)
    yield f"{printable(explanation.path)}  {explanation.size} bytes"
    yield f"{'offset':>8} {'size':>7}  name"
    for depth, span in spans:
        clause = f"  {span.clause}" if span.clause and part.at is not None else ""
        yield f"{_line(depth, span, width)}{clause}"
        if data is not None and span.is_leaf:
            yield from _hex(data, span)
    if part == NO_FILTER:
        yield ""
        yield from summary(explanation, width)


def _filtered_spans(explanation: Explanation, part: SpanFilter) -> list[tuple[int, Span]]:
    """Return the spans of a filter with their depths, in the order of their bytes."""
    spans = list(_walk(explanation.root, 0))
    if part.column is not None:
        spans = list(_of_column(spans, part.column))
    if part.at is not None:
        if not 0 <= part.at < explanation.size:
            raise LookupError(f"no byte {part.at}; the file has {explanation.size}")
        spans = [(depth, span) for depth, span in spans if span.start <= part.at < span.end]
        if not any(span.is_leaf for _, span in spans):
            raise LookupError(f"byte {part.at} has no owner")
    return [(depth, s) for depth, s in spans if part.depth is None or depth < part.depth]


def _of_column(spans: Sequence[tuple[int, Span]], name: str) -> Iterator[tuple[int, Span]]:
    """Yield the group of a top-level field and its spans."""
    groups = [s.name.removeprefix(FIELD) for _, s in spans if s.name.startswith(FIELD)]
    if name not in groups:
        raise LookupError(f"no column {name!r}; there are {', '.join(groups) or 'none'}")
    inside = None
    for depth, span in spans:
        if inside is None and span.name == f"{FIELD}{name}":
            inside = depth
        elif inside is not None and depth <= inside:
            return
        if inside is not None:
            yield depth, span


def summary(explanation: Explanation, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines on the bytes of each kind of leaf, and on unowned bytes."""
    size = explanation.size
    unowned = sum(end - start for start, end in explanation.unowned)
    yield "bytes per kind of leaf:"
    for kind, owned in explanation.bytes_per_kind().items():
        yield f"  {owned:>10}  {kind}"
    share = 100.0 if size == 0 else 100 * (size - unowned) / size
    yield f"owned: {size - unowned} of {size} bytes ({share:.1f} %)"
    for start, end in explanation.unowned:
        yield f"  unowned: {start}..{end}"
    if explanation.findings:
        yield f"findings: {len(explanation.findings)}"
        for finding in explanation.findings:
            text = f"{finding.severity}: {printable(finding.message)}"
            yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def to_json(explanation: Explanation) -> str:
    """Return the tree, the bytes per kind and the findings as one JSON object."""
    return json.dumps(
        {
            "path": explanation.path,
            "size": explanation.size,
            "unowned": explanation.unowned,
            "bytes_per_kind": explanation.bytes_per_kind(),
            "findings": [
                {
                    "clause": f.clause,
                    "severity": f.severity,
                    "offset": f.offset,
                    "message": f.message,
                }
                for f in explanation.findings
            ],
            "spans": _span_entry(explanation.root),
        },
        indent=1,
    )


def to_html(explanation: Explanation, data: bytes) -> str:
    """Return one static page: the tree with the bytes of each leaf."""
    environment = Environment(
        loader=PackageLoader("lance_conformance", "views"), autoescape=select_autoescape()
    )
    rows = [
        {
            "depth": depth,
            "span": span,
            "value": _cut_middle(_value(span), HTML_VALUE_WIDTH),
            "hex": _first_bytes(data, span) if span.is_leaf else "",
        }
        for depth, span in _walk(explanation.root, 0)
    ]
    template = environment.get_template("explanation.html")
    return template.render(
        explanation=explanation,
        rows=rows,
        kinds=explanation.bytes_per_kind(),
        unowned=explanation.unowned,
    )


def _walk(span: Span, depth: int, adopted: Sequence[Span] = ()) -> Iterator[tuple[int, Span]]:
    """Yield the spans in the order of their bytes; leaves inside a sibling group move there."""
    groups = sorted((s for s in span.children if not s.is_leaf), key=lambda s: (s.start, s.end))
    starts = [group.start for group in groups]
    inside: list[list[Span]] = [[] for _ in groups]
    stay: list[tuple[Span, Sequence[Span]]] = list(zip(groups, inside, strict=True))
    for leaf in (*adopted, *(child for child in span.children if child.is_leaf)):
        at = bisect_right(starts, leaf.start) - 1
        if at >= 0 and leaf.end <= groups[at].end:
            inside[at].append(leaf)
        else:
            stay.append((leaf, ()))
    for child, children in sorted(stay, key=lambda one: (one[0].start, one[0].end)):
        yield depth, child
        yield from _walk(child, depth + 1, children)


def _line(depth: int, span: Span, width: int) -> str:
    line = f"{span.start:>8} {span.end - span.start:>7}  {'  ' * depth}"
    if span.kind == "proto tag":  # named by its group
        return f"{line}tag, length = {span.value}"
    line += printable(span.name)
    if not span.is_leaf:
        return line
    kind, value = ("" if span.kind == span.name else f"  [{span.kind}]"), _value(span)
    if value:
        room = width - len(line) - len(" = ") - len(kind)
        line += f" = {_cut_middle(value, max(room, VALUE_WIDTH))}"
    return line + kind


def _value(span: Span) -> str:
    if span.value is None:
        return ""
    if isinstance(span.value, bytes):
        return span.value.decode("ascii") if _is_printable(span.value) else span.value.hex()
    return printable(str(span.value)).replace("\n", "\\n")


def _is_printable(data: bytes) -> bool:
    return len(data) > 0 and all(32 <= byte < 127 for byte in data)


def _cut_middle(text: str, width: int) -> str:
    """Return a long text without its middle part."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def _first_bytes(data: bytes, span: Span) -> str:
    shown = data[span.start : min(span.end, span.start + HTML_BYTES)]
    rest = " …" if span.end - span.start > HTML_BYTES else ""
    return shown.hex(" ", -4) + rest


def _hex(data: bytes, span: Span) -> Iterator[str]:
    for at in range(span.start, span.end, HEX_BYTES):
        part = data[at : min(at + HEX_BYTES, span.end)]
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        yield f"{at:>8x}: {part.hex(' ', -4):<35}  {shown}"


def _span_entry(span: Span) -> dict[str, object]:
    value = span.value.hex() if isinstance(span.value, bytes) else span.value
    return {
        "start": span.start,
        "end": span.end,
        "name": span.name,
        "kind": span.kind,
        "clause": span.clause,
        "value": value if isinstance(value, int | float | str | list | None) else str(value),
        "children": [_span_entry(child) for child in span.children],
    }
