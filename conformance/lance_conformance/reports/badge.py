"""Badge: the score in one line, as JSON for a badge service and as an SVG."""

from __future__ import annotations

import json
from html import escape

from lance_conformance import __version__
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.score import percent

LABEL = "Lance"
_COLOURS = {"all": "#2e7d32", "most": "#9e7c0c", "few": "#b3261e"}
_CHARACTER_PIXELS = 6.6


def message(run: Run) -> str:
    """Return the text with correctness, breadth and suite."""
    score = run.scores.get("format") or next(iter(run.scores.values()), None)
    if score is None:
        return f"nothing judged · suite {__version__}"
    shares = f"{percent(score.correctness)} of {percent(score.breadth)} claimed"
    return f"{shares} · suite {__version__}"


def colour(run: Run) -> str:
    """Return the colour of the correctness."""
    score = run.scores.get("format") or next(iter(run.scores.values()), None)
    share = score.correctness if score is not None else 0.0
    return _shade(share)


def shields(run: Run) -> str:
    """Return the endpoint JSON that shields.io reads."""
    return _endpoint(LABEL, message(run), colour(run))


def svg(run: Run) -> str:
    """Return the badge as an image without external resources."""
    return _image(LABEL, message(run), colour(run))


def by_level(run: Run) -> dict[str, str]:
    """Return the badges of levels with claimed cases, JSON and SVG, by file name."""
    found = {}
    for name, level in run.levels.items():
        if level.claimed:
            text = f"{level.passed} of {level.total} · suite {__version__}"
            shade = _shade(level.passed / level.total)
            found[f"{name}.json"] = _endpoint(f"{LABEL} {name}", text, shade)
            found[f"{name}.svg"] = _image(f"{LABEL} {name}", text, shade)
    return found


def _shade(share: float) -> str:
    return _COLOURS["all" if share == 1 else "most" if share >= 0.8 else "few"]


def _endpoint(label: str, text: str, shade: str) -> str:
    document = {"schemaVersion": 1, "label": label, "message": text, "color": shade}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _image(label: str, text: str, shade: str) -> str:
    left, right = (round(len(part) * _CHARACTER_PIXELS) + 12 for part in (label, text))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{escape(f"{label}: {text}")}">'
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{shade}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14" text-anchor="middle">{escape(label)}</text>'
        f'<text x="{left + right / 2}" y="14" text-anchor="middle">{escape(text)}</text>'
        "</g></svg>\n"
    )
