"""Opened tables."""

import copy
import pickle

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, Unreadable
from pylanceref.table_handle import root_of


def test_a_commit_moves_on_to_what_it_made(tmp_path):
    """The dataset shows the new version; one that was opened before does not."""
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    other = pylanceref.dataset(tmp_path)
    made.update_config({"k": "1"})

    assert (2, {"k": "1"}) == (made.version, made.config())
    assert (1, {}) == (other.version, other.config())


def test_a_conflict_leaves_the_version_open(tmp_path):
    """Both set the same key: the second one is refused."""
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    other = pylanceref.dataset(tmp_path)
    made.update_config({"k": "1"})
    with pytest.raises(CommitConflict) as caught:
        other.update_config({"k": "2"})

    assert not caught.value.retryable
    assert 1 == other.version


def test_the_root_of_a_branch_is_that_of_its_table(tmp_path):
    """Tags and branches are listed there."""
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    branch = made.create_branch("dev/x")

    assert str(tmp_path) == root_of(branch._snapshot).root == root_of(made._snapshot).root


def test_storage_options_are_told(tmp_path):
    """As they were given, those of bases too; none are None."""
    options = {"a": "1", "base_2.a": "2"}
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path, storage_options=options)

    assert options == made.initial_storage_options == made.latest_storage_options()
    assert pylanceref.dataset(tmp_path).initial_storage_options is None


def test_options_go_with_a_pickled_dataset(tmp_path):
    """Under the name that pylance has for them."""
    options = {"allow_http": "true"}
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path, storage_options=options)
    fragment = pickle.loads(pickle.dumps(made.get_fragments()[0]))

    assert options == made.initial_storage_options
    assert options == fragment._ds.initial_storage_options


def test_a_table_is_opened_by_its_class(tmp_path):
    """As by the function: a version, a tag, arguments of every scan."""
    dataset = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    dataset.tags.create("first", 1)
    dataset.delete("true")
    kind = type(dataset)

    assert 2 == kind(dataset.uri).version
    assert 1 == kind(dataset.uri, 1).version == kind(dataset.uri, "first").version
    opened = kind(dataset.uri, default_scan_options={"with_row_id": True})
    assert opened.session().is_same_as(opened.checkout_version("first").session())
    for table in (opened, opened.checkout_version(1), opened.create_branch("side")):
        assert "_rowid" == table.schema.names[-1] == table.to_table().schema.names[-1]
    with pytest.raises(ValueError, match="Must specify either 'uri' or both"):
        pylanceref.dataset()


def test_a_copy_and_a_table_in_another_process_have_no_session_of_it(tmp_path):
    """What was opened there is not seen here; fragments go along."""
    dataset = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    mine = dataset.session()
    (fragment,) = dataset.get_fragments()
    assert 1 == dataset.take([0])["a"][0].as_py()
    for again in (pickle.loads(pickle.dumps(dataset)), copy.copy(dataset), copy.deepcopy(dataset)):
        assert dataset.to_table() == again.to_table()
        assert dataset.version == again.version
        assert not mine.is_same_as(again.session())
    assert dataset.to_table() == pickle.loads(pickle.dumps(fragment)).to_table()
    assert [0] == list(dataset.fragment_ids())
    pytest.importorskip("obstore")
    in_memory = pylanceref.write_dataset(dataset.to_table(), "memory://x")
    assert dataset.to_table() == copy.deepcopy(in_memory).to_table()


def test_a_table_can_be_held_to_its_own_folder(tmp_path):
    """Bases elsewhere are refused then; branches find their own table."""
    source = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "source")
    source.create_branch("dev", 1)
    source.shallow_clone(tmp_path / "clone", 1)
    clone = pylanceref.dataset(tmp_path / "clone", allow_external=False)

    assert [1] == pylanceref.dataset(tmp_path / "clone").to_table()["a"].to_pylist()
    with pytest.raises(Unreadable, match="allow_external"):
        clone.to_table()
    with pytest.raises(Unreadable, match="allow_external"):
        pickle.loads(pickle.dumps(clone)).to_table()
    with pytest.raises(Unreadable, match="allow_external"):
        lanceref.validate(tmp_path / "clone", allow_external=False)
    own = pylanceref.dataset(tmp_path / "source", allow_external=False)
    assert [1] == own.checkout_version(("dev", None)).to_table()["a"].to_pylist()
    assert [] == lanceref.validate(tmp_path / "source", allow_external=False)
