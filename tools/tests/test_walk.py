"""Walks: what a read enters is counted once a function, with the lines of its module."""

import walk
from sources import ROOT


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


def test_the_table_of_a_page_is_replaced():
    """What comes before and after it remains."""
    page = f"# One\n\n{walk.TITLE}\nText.\n\n| page |\n|---|\n| old |\n\nMore.\n"

    wanted = f"# One\n\n{walk.TITLE}\nText.\n\n| page | new |\n\nMore.\n"
    assert wanted == walk.with_table(page, "| page | new |\n")
