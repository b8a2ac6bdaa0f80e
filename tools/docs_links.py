"""Links of the site: every one that stays inside leads to a page, and to a place on it."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links of a page and the places on it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.places.add(attributes.get("id") or "")
        if tag == "a" and attributes.get("href"):
            self.links.append(str(attributes["href"]))


def broken(root: Path) -> Iterator[str]:
    """Yield `page: link` of each link inside the site that leads nowhere."""
    pages = {path: _read(path) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = pages.get(target)
            place = unquote(parts.fragment)
            if (there is None and not target.exists()) or (
                there is not None and place and place not in there.places
            ):
                yield f"{path.relative_to(root)}: {link}"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page
