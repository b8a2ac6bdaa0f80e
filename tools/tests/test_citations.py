"""Citations: ids that exist, and what a MUST needs."""

import json
import sys

import citations
import pytest

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


def _run(monkeypatch, root, *options):
    monkeypatch.setattr(sys, "argv", ["citations.py", "--root", str(root), *options])
    return citations.main()


def test_a_complete_tree_passes_strictly(repository, monkeypatch, capsys):
    """Check in code, a case of each polarity; untestable, MAY and superseded need no case."""
    assert 0 == _run(monkeypatch, repository(GOOD), "--strict")
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
    assert 1 == _run(monkeypatch, repository({**GOOD, name: text}))
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

    assert 0 == _run(monkeypatch, root)
    assert 0 == _run(monkeypatch, root, "--strict", *others)
    assert 1 == _run(monkeypatch, root, "--strict", kind)
    assert 1 == _run(monkeypatch, root, "--strict")
    assert f"has no {kind}" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["L.a.b.*", "L.<chapter>.<topic>", "self.L.a.x", 'f"L.a.b.{x}"'])
def test_patterns_are_no_citations(repository, text):
    """A wildcard, a placeholder or an attribute names no clause."""
    root = repository({"reference/lanceref/a.py": f"# {text}\n"})

    assert {} == citations.collect(root).by_kind["citation"]
