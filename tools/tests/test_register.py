"""Register: form of clauses, ids that stay, drift."""

import json
import sys

import pytest
import register

MAGIC = """# Footer

[L.file.footer.magic] reader writer · since 2.0 · source both · violation refuse · see D.a.b, D.c.d
The last four bytes of a file
MUST be `LANC`.

A note.
"""


def _run(monkeypatch, root, *options):
    monkeypatch.setattr(sys, "argv", ["register.py", "--root", str(root), *options])
    return register.main()


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


def test_optional_attributes_have_their_names(repository):
    """until, untestable and superseded-by come out under Python names; MUST NOT is one keyword."""
    label = "[L.a.b] writer · since 2.0 · until 2.1 · source spec · untestable: no bytes, no case"
    text = f"{label} · superseded-by L.file.footer.magic\n\nWriters MUST NOT sing.\n"
    clauses, findings = register.extract(repository({"spec/10.md": text, "spec/20.md": MAGIC}))
    entry = clauses[0].as_json()

    assert [] == findings
    assert ("MUST NOT", "2.1", "no bytes, no case", "L.file.footer.magic", []) == (
        entry["level"],
        entry["until"],
        entry["untestable"],
        entry["superseded_by"],
        entry["divergences"],
    )


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


def test_an_id_stands_once(repository):
    """The second paragraph of the same id is reported, with the place of the first."""
    _, findings = register.extract(repository({"spec/10.md": MAGIC, "spec/20.md": MAGIC}))

    assert ["L.file.footer.magic: exists already at spec/10.md:3"] == [f.message for f in findings]


def test_fenced_examples_are_no_clauses(repository):
    """A page may show the form of a clause in a fenced block."""
    clauses, findings = register.extract(repository({"spec/README.md": f"```\n{MAGIC}```\n"}))

    assert ([], []) == (clauses, findings)


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


def test_bad_form_is_not_written(repository, monkeypatch):
    """A register is written only from chapters without findings."""
    root = repository({"spec/10-file.md": MAGIC.replace("MUST be", "is")})

    assert 1 == _run(monkeypatch, root)
    assert not (root / register.REGISTER).exists()


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


def test_a_reader_that_is_not_bound_refuses_nothing(repository):
    """`violation refuse` needs a clause for readers; an unknown word is a finding."""
    text = "[L.a.b] writer · since 2.0 · source spec · violation {}\n\nWriters MUST write.\n"

    for word, number in (("read", 0), ("refuse", 1), ("panic", 1)):
        _, findings = register.extract(repository({"spec/10.md": text.format(word)}))
        assert number == len(findings), word
