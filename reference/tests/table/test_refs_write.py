"""Tags and branches, written."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import RefRefused
from lanceref.storage import LocalStore
from lanceref.table.refs import (
    Branch,
    Tag,
    check_branch_name,
    check_tag_name,
    list_branches,
    list_tags,
    put_branch,
    put_tag,
)

MOMENT = datetime(2026, 11, 21, 10, 55, 25, 359620, UTC)
TAG = Tag(
    branch=None,
    version=2,
    created_at=MOMENT,
    updated_at=MOMENT,
    manifest_size=423,
    metadata={"k": "v"},
)
BRANCH = Branch(
    parent_branch=None,
    branch_identifier=[(2, "2ec5e8db9d124d289e029191dfb727d6")],
    parent_version=2,
    create_at=1795258525,
    manifest_size=423,
    metadata={},
)


def test_a_tag_has_the_form_of_the_oracle(tmp_path):
    """Two spaces, this order of keys, nanoseconds."""
    put_tag(LocalStore(tmp_path), "v1", TAG, new=True)
    text = (tmp_path / "_refs" / "tags" / "v1.json").read_text()

    assert text == (
        '{\n  "branch": null,\n  "version": 2,\n  "createdAt": "2026-11-21T10:55:25.359620000Z",\n'
        '  "updatedAt": "2026-11-21T10:55:25.359620000Z",\n  "manifestSize": 423,\n'
        '  "metadata": {\n    "k": "v"\n  }\n}'
    )


def test_refs_come_back(tmp_path):
    """The name of a branch may have slashes and letters of any script."""
    store = LocalStore(tmp_path)
    put_tag(store, "v1", TAG)
    put_branch(store, "dev/ü", BRANCH)

    assert {"v1": TAG} == list_tags(store, Context("t"))
    assert {"dev/ü": BRANCH} == list_branches(store, Context("t"))
    file = tmp_path / "_refs" / "branches" / "dev%2F%C3%BC.json"
    assert [[2, BRANCH["branch_identifier"][0][1]]] == json.loads(file.read_bytes())["identifier"][
        "version_mapping"
    ]


def test_a_new_ref_takes_no_name_that_is_taken(tmp_path):
    """The old one stays."""
    store = LocalStore(tmp_path)
    put_tag(store, "x", TAG, new=True)
    put_branch(store, "x", BRANCH, new=True)
    with pytest.raises(RefRefused, match="already exists"):
        put_tag(store, "x", {**TAG, "version": 7}, new=True)
    with pytest.raises(RefRefused, match="already exists"):
        put_branch(store, "x", BRANCH, new=True)

    assert 2 == list_tags(store, Context("t"))["x"]["version"]


@pytest.mark.parametrize("name", ["v1", "main", "a.b-c_d", "ü", "x."[:1]])
def test_good_tag_names(name):
    """Letters, digits, dot, dash, underscore."""
    check_tag_name(name)


@pytest.mark.parametrize("name", ["", "a/b", ".a", "a..b", "a.lock", "a b", "a.", "../x"])
def test_bad_tag_names(name):
    """Nothing that leads to another place or that a lock might have."""
    with pytest.raises(RefRefused, match="Ref is invalid"):
        check_tag_name(name)


@pytest.mark.parametrize("name", ["dev", "dev/x", "ü", ".a", "-a", "a/b/c.d"])
def test_good_branch_names(name):
    """Segments with one slash between."""
    check_branch_name(name)


@pytest.mark.parametrize(
    "name", ["", "main", "/a", "a/", "a//b", "a/../b", "a\\b", "a.lock", "a b"]
)
def test_bad_branch_names(name):
    """The default branch, empty segments, ways out."""
    with pytest.raises(RefRefused, match="Ref is invalid"):
        check_branch_name(name)


@pytest.mark.oracle
def test_bad_names_are_refused_in_the_words_of_the_oracle(tmp_path):
    """Of tags and of branches."""
    import lance

    made = lance.write_dataset(pa.table({"a": [1]}), tmp_path / "t")
    checks = [
        (
            check_tag_name,
            lambda name: made.tags.create(name, 1),
            ["a b", "a.", ".a", "a..b", "a.lock"],
        ),
        (check_branch_name, made.create_branch, ["main", "/a", "a//b", "a..b", "a b/c", "a.lock"]),
    ]
    for ours, theirs, names in checks:
        for name in ["", *names]:
            with pytest.raises(RefRefused) as own:
                ours(name)
            with pytest.raises(OSError, match="Ref is invalid") as told:
                theirs(name)
            assert str(told.value).startswith(str(own.value))
