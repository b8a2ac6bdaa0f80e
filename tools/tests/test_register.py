"""Register, citations and contents: form of clauses, ids that stay, what a MUST needs."""

import json
import sys

import citations
import pytest
import register
import spec_index

MAGIC = """# Footer

[L.file.footer.magic] reader writer · since 2.0 · source both · violation refuse · see D.a.b, D.c.d
The last four bytes of a file
MUST be `LANC`.

A note.
"""


def _run(monkeypatch, root, *options, tool=register):
    monkeypatch.setattr(sys, "argv", [tool.__name__, "--root", str(root), *options])
    return tool.main()


def test_a_clause_is_label_and_paragraph(repository):
    """All attributes of the label and the whole paragraph, and not the note after it."""
    clauses, findings = register.extract(repository({"spec/10-file.md": MAGIC}))

    assert [] == findings
    assert [
        {
            "id": "L.file.footer.magic",
            "level": "MUST",
            "text": "The last four bytes of a file MUST be `LANC`.",
            "chapter": "10-file",
            "anchor": "spec/10-file.md#footer",
            "audience": ["reader", "writer"],
            "since": "2.0",
            "source": "both",
            "divergences": ["D.a.b", "D.c.d"],
            "violation": "refuse",
        }
    ] == [clause.as_json() for clause in clauses]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[L.a.b] reader · since 1 · source both\nIt MUST and it SHOULD.\n", "exactly one keyword"),
        ("[L.a.b] reader · since 1 · source both\nIt MUST, it MUST.\n", "exactly one keyword"),
        ("[L.a.b] reader · since 1 · source both\nIt is.\n", "exactly one keyword"),
        ("[L.a.b] reader · since 1 · source both\n\n\nIt MUST.\n", "no paragraph"),
        ("[L.a.b] reader · since 1 · source both\n# It MUST\n", "no paragraph"),
        ("[L.a] reader · since 1 · source both\nIt MUST.\n", "not of the form"),
        ("[L.a.B] reader · since 1 · source both\nIt MUST.\n", "not of the form"),
        ("[L.a.b] · since 1 · source both\nIt MUST.\n", "the audience"),
        ("[L.a.b] people · since 1 · source both\nIt MUST.\n", "the audience"),
        ("[L.a.b] reader · source both\nIt MUST.\n", "no since"),
        ("[L.a.b] reader · since 1 · source hearsay\nIt MUST.\n", "source is one of"),
        ("[L.a.b] reader · since 1 · since 2 · source both\nIt MUST.\n", "occurs twice"),
        ("[L.a.b] reader · since 1 · source both · see \nIt MUST.\n", "is empty"),
        ("[L.a.b] reader · since 1 · source both · rating 5\nIt MUST.\n", "unknown attribute"),
        ("[L.a.b] reader · since 1 · source both, oracle\nIt MUST.\n", "more than one word"),
        ("[L.a.b reader · since 1\nIt MUST.\n", "a label line that is not"),
        (
            "[L.a.b] reader · since 1 · source both · superseded-by L.c.d\nIt MUST.\n",
            "superseded by",
        ),
    ],
)
def test_bad_form_is_found(repository, text, complaint):
    """Each fault of form is reported with its line."""
    _, findings = register.extract(repository({"spec/10-a.md": f"\n{text}"}))

    assert any(complaint in finding.message for finding in findings), findings
    assert {("spec/10-a.md", 2)} == {(finding.path, finding.line) for finding in findings}


def test_drift_is_found(repository, monkeypatch):
    """--check passes right after writing, and fails once a chapter has changed."""
    root = repository({"spec/10-file.md": MAGIC})

    assert 1 == _run(monkeypatch, root, "--check")
    assert 0 == _run(monkeypatch, root)
    assert 0 == _run(monkeypatch, root, "--check")
    repository({"spec/10-file.md": MAGIC.replace("last", "final")})
    assert 1 == _run(monkeypatch, root, "--check")


def test_an_id_never_vanishes(repository, monkeypatch):
    """A clause that is taken out is an error, and the written register stays as it was."""
    root = repository({"spec/10-file.md": MAGIC})
    _run(monkeypatch, root)
    repository({"spec/10-file.md": "# Footer\n"})

    assert 1 == _run(monkeypatch, root)
    written = json.loads((root / register.REGISTER).read_text("utf-8"))
    assert ["L.file.footer.magic"] == [clause["id"] for clause in written["clauses"]]


def test_the_register_names_version_and_cases(repository, monkeypatch):
    """Of the active cases, those that keep a clause and those that break it."""
    keeps = {
        "id": "file/a",
        "kind": "read-file",
        "clauses": [{"id": "L.file.footer.magic", "role": "positive"}],
    }
    breaks = {
        "id": "file/neg-a",
        "kind": "negative-file",
        "clauses": [{"id": "L.file.footer.magic", "role": "negative"}],
    }
    gone = {**breaks, "id": "file/neg-b", "status": "withdrawn"}
    cases = {f"fixtures/{case['id']}/case.json": json.dumps(case) for case in (keeps, breaks, gone)}
    suite = {"fixtures/SUITE.json": '{"suite": "0.2.0"}'}
    root = repository({"spec/10-file.md": MAGIC, **cases, **suite})

    assert 0 == _run(monkeypatch, root)
    written = json.loads((root / register.REGISTER).read_text("utf-8"))
    assert "0.2.0" == written["version"]
    assert {"positive": ["file/a"], "negative": ["file/neg-a"]} == written["clauses"][0]["cases"]


@pytest.mark.parametrize(
    ("kind", "violation", "finding"),
    [
        ("negative-file", "refuse", ""),
        ("negative-file", "either", ""),
        ("negative-file", "read", "no clause that it breaks binds readers"),
        ("lint", "read", ""),
        ("lint", "refuse", ""),
        ("lint", "", "no violation, but file/a breaks it"),
        ("commit-race", "", ""),
        ("commit-race", "read", ""),
        ("read-file", "refuse", "is to be read, and breaks a clause"),
    ],
)
def test_the_verdict_on_a_case_follows_from_the_clauses_it_breaks(kind, violation, finding):
    """A negative breaks a clause of readers; a clause about bytes says what a reader does."""
    attributes = {"violation": violation} if violation else {}
    clause = register.Clause("L.a.b", "spec/10.md", 1, "It MUST be.", ["reader"], attributes)
    case = {"id": "file/a", "kind": kind, "clauses": [{"id": "L.a.b", "role": "negative"}]}

    found = [one.message for one in register.unfounded([case], [clause])]

    assert bool(finding) == bool(found)
    assert all(finding in text for text in found)


SPEC = """[L.a.b] reader · since 1 · source both
It MUST be.

[L.a.c] reader · since 1 · source both · untestable: no bytes
It MUST NOT be.

[L.a.d] reader · since 1 · source both
It MAY be.

[L.a.e] reader · since 1 · source both · superseded-by L.a.b
It MUST have been.
"""

CODE = '"""Module.\n\nClauses: L.a.c\n"""\n\nX = 1  # L.a.b\n'


def _case(*roles, **more):
    entries = [{"id": clause, "role": role} for clause, role in roles]
    return json.dumps({"clauses": entries, **more})


GOOD = {
    "spec/10.md": SPEC,
    "spec/divergences.md": "# Divergences\n\n## D.a.odd-bytes: the words\n",
    "reference/lanceref/a.py": CODE + 'raise E("L.a.c")  # D.a.odd-bytes\n',
    "fixtures/x/case.json": _case(("L.a.b", "positive")),
    "fixtures/y/case.json": _case(("L.a.b", "negative"), ("L.a.c", "context")),
}


def test_a_complete_tree_passes_strictly(repository, monkeypatch, capsys):
    """Check in code, a case of each polarity; untestable, MAY and superseded need no case."""
    assert 0 == _run(monkeypatch, repository(GOOD), "--strict", tool=citations)
    assert ["all", "4", "2", "2/2", "1/1", "1/1"] == capsys.readouterr().out.split("\n")[2].split()


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("reference/lanceref/b.py", '"""Clauses: L.a.x"""\n', "L.a.x is no clause"),
        ("reference/lanceref/b.py", "# L.a.b.c\n", "L.a.b.c is no clause"),
        ("reference/lanceref/b.py", "# L.a.e\n", "L.a.e is superseded by L.a.b"),
        ("conformance/lance_conformance/b.py", "# L.a.x\n", "L.a.x is no clause"),
        ("fixtures/z/case.json", _case(("L.a.x", "context")), "L.a.x is no clause"),
        ("reference/lanceref/b.py", "# D.a.other\n", "D.a.other has no heading"),
        ("spec/20.md", "See D.a.other.\n", "D.a.other has no heading"),
    ],
)
def test_what_is_cited_exists(repository, monkeypatch, capsys, name, text, complaint):
    """An id of a clause or divergence that is not written, or stands no more, is an error."""
    assert 1 == _run(monkeypatch, repository({**GOOD, name: text}), tool=citations)
    assert complaint in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("reference/lanceref/a.py", CODE, "citation"),
        ("fixtures/x/case.json", _case(("L.a.b", "context")), "positive"),
        ("fixtures/y/case.json", _case(("L.a.b", "positive")), "negative"),
        ("fixtures/y/case.json", _case(("L.a.b", "negative"), status="withdrawn"), "negative"),
    ],
)
def test_what_a_must_lacks_is_an_error_when_strict(
    repository, monkeypatch, capsys, name, text, kind
):
    """Lacking one kind passes by default, fails under --strict and under --strict of that kind."""
    root = repository({**GOOD, name: text})
    others = [other for other in citations.KINDS if other != kind]

    assert 0 == _run(monkeypatch, root, tool=citations)
    assert 0 == _run(monkeypatch, root, "--strict", *others, tool=citations)
    assert 1 == _run(monkeypatch, root, "--strict", kind, tool=citations)
    assert 1 == _run(monkeypatch, root, "--strict", tool=citations)
    assert f"has no {kind}" in capsys.readouterr().out


CHAPTER = """# Files

## The footer

[L.file.footer.magic] reader · since 2.0 · source both
The magic of a footer MUST be there.
"""


def test_sections_and_clauses_are_linked(repository, monkeypatch):
    """Written once, up to date until a chapter changes."""
    root = repository({"spec/10-file.md": CHAPTER})

    assert 1 == _run(monkeypatch, root, "--check", tool=spec_index)
    assert 0 == _run(monkeypatch, root, tool=spec_index)
    text = (root / spec_index.INDEX).read_text("utf-8")
    assert "  * [The footer](10-file.md#the-footer)" in text
    assert "| [`L.file.footer.magic`](10-file.md#the-footer) | MUST | reader | 2.0 |" in text
    assert 0 == _run(monkeypatch, root, "--check", tool=spec_index)
    repository({"spec/10-file.md": CHAPTER.replace("MUST", "SHOULD")})
    assert 1 == _run(monkeypatch, root, "--check", tool=spec_index)


FOOTER = "| footer | the end | `L.file.footer.magic` |\n"


@pytest.mark.parametrize(
    ("rows", "text", "complaint"),
    [
        (FOOTER, "", ""),
        (FOOTER.replace("magic", "gone"), "", "no clause L.file.footer.gone"),
        (FOOTER.replace("| footer", "| trailer"), "", "no chapter uses the term"),
        (FOOTER.replace("| footer", "| magic") + FOOTER, "", "not in order"),
        (FOOTER, "\nThe end has *footers*.\n", ""),
        (FOOTER, "\nThe end has a *trailer*.\n", "not in the"),
    ],
)
def test_terms_are_held_against_the_chapters(
    repository, monkeypatch, capsys, rows, text, complaint
):
    """A term has a clause and is used, in order; one that a chapter has in italics is there."""
    root = repository({"spec/10-file.md": CHAPTER + text, spec_index.INTRODUCTION: rows})

    assert int(bool(complaint)) == _run(monkeypatch, root, tool=spec_index)
    assert complaint in capsys.readouterr().out
