"""Names of tags and branches: none leads out of its table, whatever it is."""

import json
from datetime import timedelta
from urllib.parse import quote

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lanceref.core.errors import FormatError, LanceError, Place, RefRefused, StoreFailed
from lanceref.storage import LocalStore
from lanceref.table.refs import branch_store, check_stored_branch, main_root

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


def put_tag(root, name, branch):
    """Put a tag file by hand."""
    text = json.dumps({"branch": branch, "version": 1, "manifestSize": 1})
    (root / "hostile" / "_refs" / "tags" / f"{name}.json").write_text(text)


def put_branch(root, name, parent=None):
    """Put a branch file by hand."""
    text = json.dumps({"parentBranch": parent, "parentVersion": 1})
    (root / "hostile" / "_refs" / "branches" / f"{quote(name, safe='')}.json").write_text(text)


def files(root):
    """Every file below a folder, with its bytes."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", BAD)
def test_a_tag_of_a_branch_that_cannot_be_is_refused(tables, name):
    """Its use is, as a reader and as a writer; the list of tags and other tags stay usable."""
    put_tag(tables, "bad", name)
    put_tag(tables, "good", None)
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


@pytest.mark.parametrize("name", [name for name in BAD if name])
def test_a_branch_file_of_such_a_name_is_refused(tables, name):
    """Its use is, and a cleanup, which cannot know what it needs; validation reports it."""
    put_branch(tables, name)
    uri = tables / "hostile"
    made = pylanceref.dataset(uri)

    assert [name] == list(made.branches.list())
    for use in (
        lambda: made.checkout_version((name, 1)),
        lambda: made.branches.delete(name),
        lambda: made.branches.replace_metadata(name, {}),
        lambda: made.cleanup_old_versions(timedelta(0)),
        lambda: made.create_branch(name),
    ):
        with pytest.raises(RefRefused, match="Ref is invalid"):
            use()
    assert {"L.table.refs.branch-name"} == {one.clause for one in lanceref.validate(uri)}


def test_a_parent_of_such_a_name_is_reported(tables):
    """By the validation of the table and of the file."""
    put_branch(tables, "dev", OUT)
    uri = tables / "hostile"

    assert {"L.table.refs.branch-name"} == {one.clause for one in lanceref.validate(uri)}
    found = lanceref.explain(uri / "_refs" / "branches" / "dev.json").findings
    assert {"L.table.refs.branch-name"} == {one.clause for one in found}


@pytest.mark.parametrize("name", ["../x", "../../x", "a/b", "a\0b", "", "first."])
def test_a_tag_of_a_name_that_cannot_be_is_refused(tables, name):
    """Also one that is there under its quoted name: nothing outside its folder goes or comes."""
    put_tag(tables, quote(name, safe=""), None)
    made = pylanceref.dataset(tables / "hostile")
    before = files(tables)

    for use in (
        lambda: made.tags.get_version(name),
        lambda: made.tags.create(name, 1),
        lambda: made.tags.update(name, 1),
        lambda: made.tags.replace_metadata(name, {"k": "v"}),
        lambda: made.tags.delete(name),
        lambda: made.checkout_version(name),
    ):
        with pytest.raises(RefRefused, match="Ref is invalid"):
            use()
    assert before == files(tables)


def test_a_tag_file_has_the_name_of_the_oracle(tables):
    """Letters of other scripts are percent-encoded, and the tag is found again."""
    made = pylanceref.dataset(tables / "hostile")
    made.tags.create("é", 1)
    made.tags.update("é", 1)

    assert ["%C3%A9.json"] == [
        path.name for path in (tables / "hostile" / "_refs" / "tags").iterdir()
    ]
    made.tags.delete("é")
    assert {} == made.tags.list()


def test_a_branch_folder_that_is_a_link_is_refused(tables):
    """It would lead a writer to another table."""
    put_branch(tables, "dev")
    (tables / "hostile" / "tree" / "dev").symlink_to(tables / "victim")
    made = pylanceref.dataset(tables / "hostile")
    before = files(tables / "victim")

    with pytest.raises(StoreFailed, match="leads out"):
        made.checkout_version(("dev", 1))
    made.branches.delete("dev")
    assert before == files(tables / "victim")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
@example(name=OUT)
def test_no_name_leads_out_of_the_table(tables, name):
    """As a tag or branch it gives a LanceError or success; the other table stays as it was."""
    made = pylanceref.dataset(tables / "hostile")
    put_tag(tables, "stable", name)
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
        lambda: made.tags.replace_metadata(name, {}),
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


def test_the_store_of_a_branch_is_below_the_root(tmp_path):
    """That of the main branch is the root, under either of its names."""
    root = LocalStore(str(tmp_path))

    assert f"{tmp_path}/tree/dev/x" == branch_store(root, "dev/x").root
    assert root is branch_store(root, None)
    assert root is branch_store(root, "main")
    assert "/a" == main_root("/a/tree/dev/x", "dev/x")
    assert "/a" == main_root("/a", "dev/x")
    assert "/a" == main_root("/a", "")


def test_bytes_may_name_the_main_branch():
    """As none, and by its name."""
    check_stored_branch(None, Place("x", 0))
    check_stored_branch("main", Place("x", 0))
