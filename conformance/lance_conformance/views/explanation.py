"""Views of an explanation: the annotated tree of a file's bytes as text, JSON or one HTML page."""

from __future__ import annotations

import json
from collections.abc import Iterator

from jinja2 import Environment, PackageLoader, select_autoescape
from lanceref.explain import Explanation
from lanceref.spans import Span

VALUE_WIDTH = 28
"""Characters of a value shown in text."""

HEX_BYTES = 16
"""Bytes shown on a hex line."""


def to_text(explanation: Explanation, data: bytes | None = None) -> Iterator[str]:
    """Yield the lines of the tree; with `data` each leaf is followed by its bytes in hex."""
    yield f"{explanation.path}  {explanation.size} bytes"
    yield f"{'offset':>8} {'size':>7}  name"
    for depth, span in _walk(explanation.root, 0):
        yield _line(depth, span)
        if data is not None and span.is_leaf:
            yield from _hex(data, span)
    yield ""
    yield from summary(explanation)


def summary(explanation: Explanation) -> Iterator[str]:
    """Yield the lines that say how many bytes each kind of leaf owns, and what is unowned."""
    size = explanation.size
    unowned = sum(end - start for start, end in explanation.unowned)
    yield "bytes per kind of leaf:"
    for kind, owned in explanation.bytes_per_kind().items():
        yield f"  {owned:>10}  {kind}"
    share = 100.0 if size == 0 else 100 * (size - unowned) / size
    yield f"owned: {size - unowned} of {size} bytes ({share:.1f} %)"
    for start, end in explanation.unowned:
        yield f"  nobody owns {start}..{end}"
    if explanation.findings:
        yield f"findings: {len(explanation.findings)}"
        for finding in explanation.findings:
            yield f"  {finding.severity}: {finding.message}"


def to_json(explanation: Explanation) -> str:
    """Return the tree, the owners' bytes per kind and the findings as one JSON object."""
    return json.dumps(
        {
            "path": explanation.path,
            "size": explanation.size,
            "unowned": explanation.unowned,
            "bytes_per_kind": explanation.bytes_per_kind(),
            "findings": [
                {"clause": f.clause, "severity": f.severity, "offset": f.offset, "message": f.message}
                for f in explanation.findings
            ],
            "spans": _as_object(explanation.root),
        },
        indent=1,
    )


def to_html(explanation: Explanation, data: bytes) -> str:
    """Return one static page: the tree beside the bytes, each leaf linked to its range."""
    environment = Environment(
        loader=PackageLoader("lance_conformance", "views"), autoescape=select_autoescape()
    )
    rows = [
        {
            "depth": depth,
            "span": span,
            "value": _value(span),
            "hex": data[span.start : span.end][:64].hex(" ", 4) if span.is_leaf else "",
        }
        for depth, span in _walk(explanation.root, 0)
    ]
    template = environment.get_template("explanation.html")
    return template.render(
        explanation=explanation, rows=rows, kinds=explanation.bytes_per_kind(), unowned=explanation.unowned
    )


def _walk(span: Span, depth: int) -> Iterator[tuple[int, Span]]:
    for child in sorted(span.children, key=lambda s: (s.start, s.end)):
        yield depth, child
        yield from _walk(child, depth + 1)


def _line(depth: int, span: Span) -> str:
    head = f"{span.start:>8} {span.end - span.start:>7}  {'  ' * depth}"
    if not span.is_leaf:
        return head + span.name
    value = _value(span)
    return head + span.name + (f" = {value}" if value else "") + f"  [{span.kind}]"


def _value(span: Span) -> str:
    if span.value is None:
        return ""
    text = span.value.hex() if isinstance(span.value, bytes) else str(span.value)
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"


def _hex(data: bytes, span: Span) -> Iterator[str]:
    for at in range(span.start, span.end, HEX_BYTES):
        part = data[at : min(at + HEX_BYTES, span.end)]
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        yield f"{at:>8x}: {part.hex(' ', 4):<35}  {shown}"


def _as_object(span: Span) -> dict[str, object]:
    value = span.value.hex() if isinstance(span.value, bytes) else span.value
    return {
        "start": span.start,
        "end": span.end,
        "name": span.name,
        "kind": span.kind,
        "clause": span.clause,
        "value": value if isinstance(value, int | float | str | None) else str(value),
        "children": [_as_object(child) for child in span.children],
    }
