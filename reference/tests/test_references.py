"""Tags, branches and clones."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import AlreadyExists, NotFound, RefRefused


@pytest.fixture
def table(tmp_path):
    """Two versions: rows 0 and 1, then 2 and 3 too."""
    pylanceref.write_dataset(pa.table({"a": [0, 1]}), tmp_path / "t")
    return pylanceref.write_dataset(pa.table({"a": [2, 3]}), tmp_path / "t", mode="append")


def _rows(table):
    return table.to_table()["a"].to_pylist()


def test_a_tag_names_a_version(table):
    """By default the open one; it can be moved and deleted."""
    table.tags.create("first", 1)
    table.tags.create("now")

    assert [0, 1] == _rows(table.checkout_version("first"))
    assert 2 == table.tags.get_version("now")
    table.tags.update("first", 2)
    assert 2 == table.checkout_version("first").version
    table.tags.delete("first")
    assert ["now"] == list(table.tags.list())


def test_tags_are_ordered_by_version(table):
    """Newest first unless asked otherwise."""
    for name, version in (("x", 1), ("b", 2), ("a", 2)):
        table.tags.create(name, version)

    assert ["a", "b", "x"] == [name for name, _ in table.tags.list_ordered()]
    assert ["x", "a", "b"] == [name for name, _ in table.tags.list_ordered("asc")]
    with pytest.raises(ValueError, match="Invalid sort order"):
        table.tags.list_ordered("up")


def test_a_tag_that_cannot_be_is_refused(table):
    """A name that is taken, a version or tag that is not there."""
    table.tags.create("x", 1)
    with pytest.raises(RefRefused, match="already exists"):
        table.tags.create("x", 2)
    for call in (
        lambda: table.tags.create("y", 9),
        lambda: table.tags.update("x", 9),
        lambda: table.tags.update("y", 1),
        lambda: table.tags.delete("y"),
        lambda: table.tags.get_version("y"),
        lambda: table.checkout_version("y"),
    ):
        with pytest.raises(NotFound):
            call()
    assert 1 == table.tags.get_version("x")


def test_a_branch_goes_its_own_way(table):
    """It begins at a version, its appends are not seen on the main branch, and tags name both."""
    branch = table.create_branch("dev/x", 1)
    grown = pylanceref.write_dataset(pa.table({"a": [9]}), branch, mode="append")
    table.tags.create("there", ("dev/x", 2))

    assert (1, [0, 1]) == (branch.version, _rows(branch))
    assert ([0, 1, 9], [0, 1, 2, 3]) == (_rows(grown), _rows(table))
    assert [0, 1, 9] == _rows(table.checkout_version("there"))
    assert [0, 1, 9] == _rows(table.checkout_version(("dev/x", None)))
    assert [0, 1, 2, 3] == _rows(grown.checkout_version(("main", None)))


def test_a_branch_of_a_branch_remembers_both(table):
    """The way from the main branch: a version and an id for each step."""
    table.create_branch("one", 1)
    second = table.create_branch("two", ("one", None))
    held = table.branches.list()

    assert [0, 1] == _rows(second)
    assert ("one", 1) == (held["two"]["parent_branch"], held["two"]["parent_version"])
    assert held["one"]["branch_identifier"] == held["two"]["branch_identifier"][:1]
    assert [0, 1] == sorted(one.id for one in second.base_paths().values())


def test_a_branch_is_deleted_with_its_table(table, tmp_path):
    """Not before those that began in it; files stay until no other branch lies below."""
    table.create_branch("dev", 1)
    table.create_branch("dev/x", 2)
    table.create_branch("child", ("dev", None))
    with pytest.raises(RefRefused, match="referenced by"):
        table.branches.delete("dev")
    table.branches.delete("child")
    table.branches.delete("dev")

    assert ["dev/x"] == list(table.branches.list())
    assert [0, 1, 2, 3] == _rows(table.checkout_version(("dev/x", None)))
    with pytest.raises(NotFound):
        table.branches.delete("dev")
    folder = tmp_path / "t" / "tree"
    assert (folder / "dev" / "_versions").exists()
    assert not (folder / "child").exists()
    table.branches.delete("dev/x")
    assert [] == list(folder.iterdir())


def test_a_branch_that_cannot_be_is_refused(table):
    """A name that is taken or none, a version that is not there."""
    table.create_branch("dev")
    with pytest.raises(RefRefused, match="already exists"):
        table.create_branch("dev")
    with pytest.raises(RefRefused, match="reserved"):
        table.create_branch("main")
    with pytest.raises(NotFound):
        table.create_branch("x", 9)
    assert ["dev"] == [name for name, _ in table.branches.list_ordered()]


def test_metadata_of_refs_is_replaced(table):
    """Of a tag and of a branch; the rest stays."""
    table.tags.create("x", 1)
    table.create_branch("dev", 1)
    table.tags.replace_metadata("x", {"k": "1"})
    table.branches.replace_metadata("dev", {"l": "2"})

    assert ({"k": "1"}, 1) == (table.tags.list()["x"]["metadata"], table.tags.get_version("x"))
    assert {"l": "2"} == table.branches.list()["dev"]["metadata"]


def test_clones_have_the_rows(table, tmp_path):
    """A shallow one reads them where they are, a deep one has its own."""
    shallow = table.shallow_clone(tmp_path / "s", 1)
    deep = table.deep_clone(tmp_path / "d", ("main", 2))

    assert (1, [0, 1]) == (shallow.version, _rows(shallow))
    assert [] == list((tmp_path / "s").glob("data/*"))
    assert (2, [0, 1, 2, 3]) == (deep.version, _rows(deep))
    assert 2 == len(list((tmp_path / "d").glob("data/*")))
    pylanceref.write_dataset(pa.table({"a": [7]}), shallow, mode="append")
    assert [0, 1, 7] == _rows(pylanceref.dataset(tmp_path / "s"))
    with pytest.raises(AlreadyExists):
        table.shallow_clone(tmp_path / "d", 1)


@pytest.mark.oracle
def test_the_oracle_reads_our_refs_and_goes_on(table, tmp_path):
    """Tags, branches and clones; and its own on top of ours."""
    import lance

    table.tags.create("first", 1)
    table.create_branch("dev/x", "first")
    table.shallow_clone(tmp_path / "s", 2)
    theirs = lance.dataset(tmp_path / "t")

    assert table.tags.list() == theirs.tags.list()
    assert table.branches.list() == theirs.branches.list()
    assert [0, 1] == _rows(theirs.checkout_version(("dev/x", None)))
    assert [0, 1, 2, 3] == _rows(lance.dataset(tmp_path / "s"))
    theirs.create_branch("more", ("dev/x", None))
    assert theirs.branches.list() == table.branches.list()
    assert [0, 1] == _rows(table.checkout_version(("more", None)))


def test_a_branch_with_a_tag_stays(tmp_path):
    """Until the tag is gone."""
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    made.create_branch("dev", 1)
    made.tags.create("t", ("dev", 1))
    with pytest.raises(RefRefused, match="referenced by tags"):
        made.branches.delete("dev")

    made.tags.delete("t")
    made.branches.delete("dev")
    assert {} == made.branches.list()
