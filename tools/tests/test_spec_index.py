"""Contents: sections and clauses by chapter, terms that are used and have their clause."""

import sys

import pytest
import spec_index

CHAPTER = """# Files

## The footer

[L.file.footer.magic] reader · since 2.0 · source both
The magic of a footer MUST be there.
"""


def _run(monkeypatch, root, *options):
    monkeypatch.setattr(sys, "argv", ["spec_index.py", "--root", str(root), *options])
    return spec_index.main()


def test_sections_and_clauses_are_linked(repository, monkeypatch):
    """Written once, up to date until a chapter changes."""
    root = repository({"spec/10-file.md": CHAPTER})

    assert 1 == _run(monkeypatch, root, "--check")
    assert 0 == _run(monkeypatch, root)
    text = (root / spec_index.INDEX).read_text("utf-8")
    assert "  * [The footer](10-file.md#the-footer)" in text
    assert "| [`L.file.footer.magic`](10-file.md#the-footer) | MUST | reader | 2.0 |" in text
    assert 0 == _run(monkeypatch, root, "--check")
    repository({"spec/10-file.md": CHAPTER.replace("MUST", "SHOULD")})
    assert 1 == _run(monkeypatch, root, "--check")


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ("| footer | the end | `L.file.footer.magic` |\n", ""),
        ("| footer | the end | `L.file.footer.gone` |\n", "no clause L.file.footer.gone"),
        ("| trailer | the end | `L.file.footer.magic` |\n", "no chapter uses the term"),
        (
            "| magic | a word | `L.file.footer.magic` |\n| footer | x | `L.file.footer.magic` |\n",
            "not in order",
        ),
    ],
)
def test_terms_are_held_against_the_chapters(repository, monkeypatch, capsys, rows, complaint):
    """A term has a clause and is used; the glossary is in order."""
    root = repository({"spec/10-file.md": CHAPTER, spec_index.INTRODUCTION: rows})

    assert int(bool(complaint)) == _run(monkeypatch, root)
    assert complaint in capsys.readouterr().out


@pytest.mark.parametrize(("text", "complaint"), [("*footers*", ""), ("*trailer*", "not in the")])
def test_a_term_that_a_chapter_introduces_is_in_the_glossary(
    repository, monkeypatch, capsys, text, complaint
):
    """Terms are introduced in italics, in the plural too."""
    rows = "| footer | the end | `L.file.footer.magic` |\n"
    chapter = f"{CHAPTER}\nThe end has {text}.\n"
    root = repository({"spec/10-file.md": chapter, spec_index.INTRODUCTION: rows})

    assert int(bool(complaint)) == _run(monkeypatch, root)
    assert complaint in capsys.readouterr().out
