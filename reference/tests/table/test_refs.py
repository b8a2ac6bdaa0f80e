"""Tags and branches: their bytes, their names, and that no name leads out of the table."""

import json
from datetime import UTC, datetime, timedelta

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, OperationRefused, StoreFailed
from lanceref.storage import LocalStore
from lanceref.table import refs

MOMENT = datetime(2026, 11, 21, 10, 55, 25, 359620, UTC)

NEW_TAG = refs.Tag(
    branch=None,
    version=2,
    created_at=MOMENT,
    updated_at=MOMENT,
    manifest_size=423,
    metadata={"k": "v"},
)

NEW_BRANCH = refs.Branch(
    parent_branch=None,
    branch_identifier=[(2, "2ec5e8db9d124d289e029191dfb727d6")],
    parent_version=2,
    create_at=1795258525,
    manifest_size=423,
    metadata={},
)


def test_refs_come_back(tmp_path):
    """Tags and branches with slashes and letters of any script are read back."""
    store = LocalStore(tmp_path)
    refs.put_tag(store, "v1", NEW_TAG)
    refs.put_branch(store, "dev/ü", NEW_BRANCH)

    assert {"v1": NEW_TAG} == refs.list_tags(store, Context("t"))
    assert {"dev/ü": NEW_BRANCH} == refs.list_branches(store, Context("t"))
    file = tmp_path / "_refs" / "branches" / "dev%2F%C3%BC.json"
    assert [[2, NEW_BRANCH["branch_identifier"][0][1]]] == json.loads(file.read_bytes())[
        "identifier"
    ]["version_mapping"]


@pytest.mark.oracle
def test_bad_names_are_refused_in_the_words_of_the_oracle(tmp_path):
    """Refusals of names begin as those of the oracle."""
    import lance

    made = lance.write_dataset(pa.table({"a": [1]}), tmp_path / "t")
    checks = [
        (refs.check_tag_name, lambda name: made.tags.create(name, 1), "a b|a.|.a|a..b|a.lock"),
        (refs.check_branch_name, made.create_branch, "main|/a|a//b|a..b|a b/c|a.lock"),
    ]
    for ours, theirs, names in checks:
        for name in ["", *names.split("|")]:
            with pytest.raises(OperationRefused) as own:
                ours(name)
            with pytest.raises(OSError, match="Ref is invalid") as told:
                theirs(name)
            assert str(told.value).startswith(str(own.value))


OUT = "../../victim"
BAD = [OUT, "..", ".", "./x", "a/../../x", "/etc", "a//b", "a/", "a\\b", "a\0b", "\x01", "", "a b"]

NAMES = st.one_of(
    st.text(max_size=8),
    st.lists(
        st.sampled_from(["..", ".", "", "victim", "a", "\\", "\0", "%2F", "x.lock", "/"]),
        max_size=5,
    ).map("/".join),
)


@pytest.fixture
def tables(tmp_path):
    """A table, and another one beside it that is never to be touched."""
    for name, value in (("victim", 1), ("hostile", 2)):
        pylanceref.write_dataset(pa.table({"a": [value]}), tmp_path / name)
    for folder in ("_refs/branches", "_refs/tags", "tree"):
        (tmp_path / "hostile" / folder).mkdir(parents=True)
    return tmp_path


def put_tag_file(root, name, branch):
    """Put a tag file by hand."""
    text = json.dumps({"branch": branch, "version": 1, "manifestSize": 1})
    (root / "hostile" / "_refs" / "tags" / f"{name}.json").write_text(text)


def files(root):
    """Every file below a folder, with its bytes."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", BAD)
def test_a_tag_of_a_branch_that_cannot_be_is_refused(tables, name):
    """Using such a tag is refused; listing, other tags and its deletion are not."""
    put_tag_file(tables, "bad", name)
    put_tag_file(tables, "good", None)
    uri = tables / "hostile"
    made = pylanceref.dataset(uri)

    for use in (
        lambda: pylanceref.dataset(uri, version="bad"),
        lambda: made.checkout_version("bad"),
        lambda: made.create_branch("new", "bad"),
        lambda: made.tags.create("other", "bad"),
        lambda: made.shallow_clone(tables / "clone", "bad"),
    ):
        with pytest.raises(FormatError) as caught:
            use()
        assert "L.table.refs.branch-name" == caught.value.clause
    assert {"bad", "good"} == made.tags.list().keys()
    assert [2] == pylanceref.dataset(uri, version="good").to_table()["a"].to_pylist()
    found = {finding.clause for finding in lanceref.validate(uri)}
    assert {"L.table.refs.branch-name"} == found
    tag = uri / "_refs" / "tags" / "bad.json"
    assert found == {finding.clause for finding in lanceref.explain(tag).findings}
    made.tags.delete("bad")
    assert {"good"} == made.tags.list().keys()


def test_a_branch_folder_that_is_a_link_is_refused(tables):
    """A branch folder that is a link is not followed to another table."""
    branch = json.dumps({"parentBranch": None, "parentVersion": 1})
    (tables / "hostile" / "_refs" / "branches" / "dev.json").write_text(branch)
    (tables / "hostile" / "tree" / "dev").symlink_to(tables / "victim")
    made = pylanceref.dataset(tables / "hostile")
    before = files(tables / "victim")

    with pytest.raises(StoreFailed, match="leads out"):
        made.checkout_version(("dev", 1))
    made.branches.delete("dev")
    assert before == files(tables / "victim")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
@example(name=OUT)
def test_no_name_leads_out_of_the_table(tables, name):
    """Any name of a tag or branch leaves the table next to this one unchanged."""
    made = pylanceref.dataset(tables / "hostile")
    put_tag_file(tables, "stable", name)
    before = files(tables / "victim")
    beside = sorted([path.name for path in (tables).iterdir()])
    uses = (
        lambda: pylanceref.dataset(tables / "hostile", version="stable"),
        lambda: pylanceref.write_dataset(
            pa.table({"a": [666]}), made.checkout_version("stable"), mode="append"
        ),
        lambda: made.checkout_version((name, 1)),
        lambda: made.create_branch(name),
        lambda: made.branches.delete(name),
        lambda: made.tags.create(name),
        lambda: made.tags.update(name),
        lambda: made.tags.delete(name),
        lambda: made.cleanup_old_versions(timedelta(0)),
    )
    for use in uses:
        try:
            found = use()
        except LanceError:
            continue
        if isinstance(found, pylanceref.LanceDataset):
            assert 1 not in found.to_table()["a"].to_pylist()
    assert before == files(tables / "victim")
    assert beside == sorted([path.name for path in (tables).iterdir()])
