"""Views of an explanation: every line fits, every leaf is there, the page opens."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lance_conformance.views.explanation import summary, to_html, to_json, to_text
from lanceref.core.spans import Span
from lanceref.explain import Explanation, explain_source
from lanceref.storage import BytesSource

FIXTURES = Path(__file__).parents[3] / "fixtures"
LIST = (FIXTURES / "file/2.1/levels/list/data.lance").read_bytes()
SAMPLE = sorted(
    path
    for version in ("2.0", "2.1", "2.2")
    for path in (FIXTURES / "file" / version).glob("*/*/data.lance")
    if "neg-" not in path.parent.name and "lint-" not in path.parent.name
)[::12]


def _explain(data: bytes, name: str = "data.lance") -> Explanation:
    return explain_source(BytesSource(data, name))


def _flat(*leaves: Span, size: int) -> Explanation:
    return Explanation("x", size, Span(0, size, "file", "group", children=list(leaves)), [])


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: str(path.parent.relative_to(FIXTURES)))
def test_lines_fit_a_terminal(path):
    """80 columns, but for names that are too long by themselves; 120 are enough for all."""
    lines = list(to_text(_explain(path.read_bytes())))

    assert max(map(len, lines)) <= 96
    assert sum(len(line) > 80 for line in lines) <= len(lines) / 20
    assert max(map(len, to_text(_explain(path.read_bytes()), width=120))) <= 120


def test_a_line_is_offset_size_name_value_and_kind():
    """The footer's number of columns, at its place."""
    lines = list(to_text(_explain(LIST)))

    assert f"{len(LIST) - 12:>8} {4:>7}    num_columns = 1  [u32]" in lines
    assert any(line.endswith("parent_id = -1  [proto field]") for line in lines)


def test_leaves_stand_in_the_order_of_their_bytes():
    """Also those that other parsers recorded than the group around them."""
    rows = [re.match(r" *(\d+) +(\d+)  ", line) for line in to_text(_explain(LIST))]
    starts = [int(row[1]) for row in rows if row is not None]

    assert sorted(starts) == starts


def test_long_values_lose_their_middle():
    """What is left fits the width given and shows both ends."""
    leaf = Span(0, 9, "path", "proto field", value="a" * 50 + "z" * 50)
    line = next(line for line in to_text(_flat(leaf, size=9)) if "path" in line)

    assert 80 == len(line)
    assert re.search(r"path = a+…z+  \[proto field\]$", line)


def test_bytes_are_shown_when_asked_for():
    """Sixteen a line in groups of four from the left, printable ones beside them."""
    lines = list(to_text(_flat(Span(0, 18, "v", "bytes"), size=18), b"ABCDEFGHIJKLMNOP\x00Z"))

    assert f"{0:>8x}: 41424344 45464748 494a4b4c 4d4e4f50  ABCDEFGHIJKLMNOP" in lines
    assert f"{16:>8x}: {'005a':<35}  .Z" in lines


def test_the_summary_adds_up_and_names_what_nobody_owns():
    """Bytes per kind and the gaps are all the bytes there are."""
    lines = list(summary(_flat(Span(0, 3, "a", "u8"), Span(5, 6, "b", "u8"), size=8)))

    assert f"  {4:>10}  u8" in lines
    assert "owned: 4 of 8 bytes (50.0 %)" in lines
    assert ["  nobody owns 3..5", "  nobody owns 6..8"] == lines[-2:]


def test_json_holds_the_tree_and_the_findings():
    """The leaves of the JSON are the leaves of the tree; a damaged file has findings."""
    told = json.loads(to_json(_explain(LIST[:-1] + b"X")))
    whole = json.loads(to_json(_explain(LIST)))

    def owned(span: dict) -> int:
        below = sum(map(owned, span["children"]))
        return below if span["kind"] == "group" else span["end"] - span["start"]

    assert len(LIST) == whole["size"] == owned(whole["spans"])
    assert ([], []) == (whole["findings"], whole["unowned"])
    assert "L.file.footer.magic" in [finding["clause"] for finding in told["findings"]]


def test_the_page_escapes_and_stands_alone():
    """A name of the file never becomes markup, and nothing is loaded from elsewhere."""
    page = to_html(_flat(Span(0, 2, "<b>", "u8", value="<i>"), size=2), b"\0\0")

    assert "&lt;b&gt;" in page
    assert "&lt;i&gt;" in page
    assert "<b>" not in page
    assert not re.search(r'(src|href)="', page)


def test_the_page_opens_in_a_browser(tmp_path):
    """Each leaf has its row."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium")
        pytest.skip("no Chromium: the page is not looked at")
    page, explained = tmp_path / "page.html", _explain(LIST)
    page.write_text(to_html(explained, LIST), encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/p"]
    command = [browser, *options, "--dump-dom", page.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    assert len(list(explained.root.leaves())) == len(re.findall(r'<tr id="b\d+"', shown))
