"""The site and the maps: links that lead somewhere, maps that name what exists."""

import importlib
import re

import pytest
import walk
from docs_links import broken
from lint_layers import FOLDERS
from sources import ROOT


def test_links_that_lead_nowhere_are_named(tmp_path):
    """A page, a place and a file that are there, one of each that is not, one elsewhere."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.html").write_text('<p id="here">x</p><a href="../two.html#L.a.b">t</a>')
    links = ["a/one.html", "a/one.html#here", "#L.a.b", "style.css", "https://x.org/y"]
    links += ["a/none.html", "a/one.html#gone", "none.css"]
    text = '<div id="L.a.b">' + "".join(f'<a href="{link}">l</a>' for link in links)
    (tmp_path / "two.html").write_text(text)
    (tmp_path / "style.css").touch()

    assert [f"two.html: {link}" for link in links[-3:]] == list(broken(tmp_path))


MAP = (ROOT / "reference" / "README.md").read_text(encoding="utf-8").split("## Which chapter")[1]

ENTRIES = sorted(set(re.findall(r"`([a-z_0-9]+\.[A-Za-z_0-9.]+)`", MAP)))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_a_module_or_a_name_in_one(entry):
    """Modules are named from `lanceref` on, functions and classes after their module."""
    try:
        importlib.import_module(f"lanceref.{entry}")
    except ModuleNotFoundError:
        home, _, name = entry.rpartition(".")
        assert hasattr(importlib.import_module(f"lanceref.{home}"), name)


def test_every_folder_is_on_the_map():
    """Every folder but that of the generated messages is on the map."""
    assert [] == [folder for folder in FOLDERS if folder != "proto" and f"`{folder}`" not in MAP]


def test_a_walk_names_the_modules_that_run():
    """The decoder of the codec is entered, a codec of other pages is not."""
    found = walk.walk(walk.input_of(ROOT / "fixtures/file/2.1/bitpack/32"))
    names = {path.stem for path in found.modules}

    assert "bitpack" in names
    assert "fsst" not in names
    assert found.num_lines == sum(path.read_text().count("\n") for path in found.modules)
    assert 1 < found.depth < 40


def test_the_table_has_a_row_for_each_kind_of_page():
    """In the order of the versions."""
    rows = walk.table(ROOT / "fixtures").splitlines()[2:]

    assert list(walk.PAGES) == [row.split(" | ")[0].strip("| ") for row in rows]
