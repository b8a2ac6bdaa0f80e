"""Defects: outcomes of scripts, entries and scripts that belong together, the page."""

import json
import sys

import defects
import pytest

ENTRY = """## D.a.one

| field | |
|---|---|
| kind | defect: wrong answer |
| component | filters |
| workaround | ask otherwise |

One and one is three.
"""
SCRIPT = '"""D.a.one: a sum is wrong."""\n\nactual = 1 + 1\n'
THERE = 'print(f"expected 3, actual {actual}")\nraise SystemExit(int(actual != 3))\n'


def _run(monkeypatch, root, *options):
    monkeypatch.setattr(sys, "argv", ["defects.py", "--root", str(root), *options])
    return defects.main()


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (THERE, defects.THERE),
        (THERE.replace("!=", "=="), defects.GONE),
        ("raise ValueError(actual)\n", defects.UNTOLD),
        ("actual.there\n", defects.UNTOLD),
        ("raise SystemExit(7)\n", defects.UNTOLD),
        ("print('module has no attribute x')\nraise SystemExit(1)\n", defects.UNTOLD),
    ],
)
def test_the_exit_code_is_the_outcome(tmp_path, end, outcome):
    """But for scripts that fail, or ask for what is not there."""
    path = tmp_path / "one.py"
    path.write_text(SCRIPT + end)

    assert outcome == defects.run(sys.executable, path)[0]


def test_outcomes_are_kept_and_held_against_later_ones(repository, monkeypatch, capsys):
    """A defect that is gone is a finding until it is written down; the page shows both."""
    script = f"{defects.SCRIPTS}/a-one.py"
    root = repository({defects.PAGE: ENTRY, script: SCRIPT + THERE})

    assert 1 == _run(monkeypatch, root, "--check")
    assert 0 == _run(monkeypatch, root, "--write")
    kept = json.loads((root / defects.RESULTS).read_text("utf-8"))
    assert [{"D.a.one": "there"}] == list(kept.values())
    page = (root / defects.DEFECTS).read_text("utf-8")
    assert "[a sum is wrong](#daone) | wrong answer | there | `a-one.py`" in page
    assert "* workaround: ask otherwise" in page
    assert 0 == _run(monkeypatch, root, "--check")
    assert 0 == _run(monkeypatch, root)
    repository({script: SCRIPT + THERE.replace("!=", "==")})
    assert 1 == _run(monkeypatch, root)
    assert "a-one.py: gone on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"a-two.py": SCRIPT}, "no entry of spec/divergences.md has this script"),
        ({"a-one.py": SCRIPT.replace("D.a.one", "D.a.two")}, "the docstring begins with"),
        ({"a-one.py": SCRIPT + "import pandas\n"}, "imports pandas"),
        ({"a-one.py": SCRIPT + "actual += 1\n" * 20}, "21 lines, at most 20"),
    ],
)
def test_scripts_are_held_against_the_entries(repository, monkeypatch, capsys, files, complaint):
    """A script belongs to a defect, says so, is short, and imports pylance and its like alone."""
    scripts = {f"{defects.SCRIPTS}/{name}": text for name, text in files.items()}
    root = repository({defects.PAGE: ENTRY, **scripts})

    assert 1 == _run(monkeypatch, root, "--check")
    assert complaint in capsys.readouterr().out


def test_an_entry_has_a_kind(repository, monkeypatch, capsys):
    """One of the list."""
    root = repository({defects.PAGE: ENTRY.replace("defect: wrong answer", "defect: ugly")})

    assert 1 == _run(monkeypatch, root, "--check")
    assert "D.a.one: kind is one of" in capsys.readouterr().out
