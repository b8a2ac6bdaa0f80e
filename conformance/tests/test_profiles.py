"""Profiles: told by a manifest alone."""

import pytest
from lance_conformance.profiles import counts, is_active, is_core, profile


@pytest.mark.parametrize(
    ("kind", "requires", "name", "core"),
    [
        ("read-file", {"file_version": "2.1"}, "format", True),
        ("read-file", {"file_version": "2.3"}, "unstable", False),
        ("negative-dataset", {}, "format", True),
        ("negative-dataset", {"index": "BTREE"}, "format", False),
        ("index-search", {"index": "BTREE"}, "format", False),
        ("robust", {}, "robust", False),
        ("lint", {}, "format", False),
    ],
)
def test_the_profile_of_a_case(kind, requires, name, core):
    """Core is what readers of files and tables need: nothing that asks an index."""
    manifest = {"kind": kind, "requires": requires}

    assert (name, core) == (profile(manifest), is_core(manifest))


def test_what_counts():
    """Drafts and withdrawn cases do not."""
    assert is_active({})
    assert not is_active({"status": "draft"})


def test_active_cases_are_counted_by_profile():
    """Core is a part of format; drafts are not counted."""
    plain = {"kind": "read-file", "requires": {}}
    lint = {"kind": "lint", "requires": {}}
    draft = {**plain, "status": "draft"}

    assert {"core": 1, "format": 2, "unstable": 0, "all": 2} == counts([plain, lint, draft])
