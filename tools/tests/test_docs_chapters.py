"""Chapters of the site: clauses become blocks with what shows them."""

from pathlib import Path

import pytest
from docs_chapters import Shown, case_link, shown, staged
from lance_conformance.cases import Case
from lance_conformance.matrix.judged import Judged
from lance_conformance.register import Clause

TEXT = """# A chapter

```
[L.not.a.clause] in a fence
```

[L.a.b.c] reader · since 2.0
Bytes MUST be there.

[L.a.b.d] writer · since 2.0
Bytes SHOULD be there.
"""

CLAUSES = {
    "L.a.b.c": Clause("L.a.b.c", "MUST", "Bytes MUST be there.", "10-a"),
    "L.a.b.d": Clause("L.a.b.d", "SHOULD", "Bytes SHOULD be there.", "10-a"),
}


def case(name: str, role: str, status: str = "active") -> Case:
    """A case of one clause."""
    clauses = [{"id": "L.a.b.c", "role": role}]
    return Case(Path(), {"id": name, "clauses": clauses, "status": status})


def judged(name: str, **outcomes: str) -> Judged:
    """A report of outcomes by the last part of ids."""
    found = {f"a/any/b/{slug}": outcome for slug, outcome in outcomes.items()}
    return Judged(name, "1", found, {}, {}, {})


def test_a_clause_is_a_block_with_its_text_and_cases():
    """The label opens the block, the status closes it; fences stay."""
    found = {"L.a.b.c": Shown(["a/any/b/kept"], ["a/any/b/neg"], {"x 1": 2}, {"x 1", "y 1"})}
    text = staged(TEXT, CLAUSES, found)

    assert "[L.not.a.clause] in a fence" in text
    assert '<div class="clause shown" id="L.a.b.c">\n\n`L.a.b.c` reader · since 2.0' in text
    assert 'kept by <a href="../cases/a-any-b.html#case-kept">a/any/b/kept</a>' in text
    assert '<span class="chip bad">x 1: 2 wrong</span> <span class="chip good">y 1</span>' in text
    assert '<div class="clause " id="L.a.b.d">' in text
    assert text.count("<div") == text.count("</div>") == 2


@pytest.mark.parametrize(
    ("found", "colour"),
    [(Shown(), "lacking"), (Shown(["a"]), "lacking"), (Shown(["a"], ["b"]), "shown")],
)
def test_the_edge_tells_whether_both_kinds_are_there(found, colour):
    """A MUST needs a case that keeps it and one that breaks it."""
    assert f'"clause {colour}"' in staged(TEXT, CLAUSES, {"L.a.b.c": found})


def test_outcomes_are_counted_by_clause():
    """Unclaimed cases count for nobody; drafts and context show nothing."""
    cases = [
        case("a/any/b/kept", "positive"),
        case("a/any/b/neg", "negative"),
        case("a/any/b/draft", "positive", "draft"),
        case("a/any/b/near", "context"),
    ]
    who = [judged("x", kept="pass", neg="crash", near="fail"), judged("y", kept="unsupported")]
    one = shown(cases, who)["L.a.b.c"]

    assert (["a/any/b/kept"], ["a/any/b/neg"]) == (one.keeping, one.breaking)
    assert ({"x 1": 1}, {"x 1"}) == (one.wrong, one.right)


def test_the_address_of_a_case():
    """Dots of a slug are no part of anchors."""
    assert "../cases/a-2.1-b.html#case-x-1-0" == case_link("a/2.1/b/x-1.0")


def test_a_link_out_of_the_site_is_text():
    """Files of the repository are no pages of it; those of the specification are."""
    text = "See [the log](../CHANGELOG.md), [`protos/`](../protos/README.md), [b](10-a.md)."

    assert "See the log, `protos/`, [b](10-a.md).\n\n" == staged(text, CLAUSES, {})
