"""Opened tables, their sessions, and indices that are kept in memory."""

import copy
import pickle

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pylanceref.fragment
import pytest
from lanceref.core.errors import Unreadable
from pylanceref import Session
from tests.index.tables import write
from tests.index.vector.indexed import fixed

TABLE = pa.table({"a": range(20)})


@pytest.mark.parametrize(
    "arguments",
    [{"metadata_cache_size_bytes": 0}, {"session": Session(metadata_cache_size_bytes=0)}],
)
def test_without_room_nothing_is_kept_between_calls(tmp_path, arguments):
    """The manifest remains; what is read is the same, in every version."""
    made = write(TABLE, tmp_path, max_rows_per_file=5)
    made.insert(TABLE)
    dataset = pylanceref.dataset(made.uri, **arguments)
    for table in (dataset, dataset.checkout_version(1)):
        before = table.session().size_bytes()

        assert 0 < before
        assert TABLE == table.to_table().slice(0, 20)
        assert TABLE.slice(3, 2) == table.take([3, 4])
        assert before == table.session().size_bytes()
    assert 2 == dataset.count_rows("a = 3")


def test_tables_share_a_session(tmp_path):
    """Those opened with it, and what is opened from them; no others."""
    session = Session()
    dataset = pylanceref.write_dataset(TABLE, tmp_path / "t", session=session)
    again = pylanceref.dataset(tmp_path / "t", session=session)
    branch = dataset.create_branch("side")
    clone = dataset.shallow_clone(tmp_path / "clone", 1)
    for one in (dataset, again, dataset.checkout_version(1), branch, clone):
        assert session.is_same_as(one.session())
    other = pylanceref.dataset(tmp_path / "t")

    assert not session.is_same_as(other.session())
    assert other.session().is_same_as(other.session())
    assert dataset.retained_bytes + again.retained_bytes <= session.size_bytes()


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    """A table with an index of each kind that can be kept."""
    rows = range(600)
    vectors = np.random.default_rng(3).normal(size=(600, 8)).astype(np.float32)
    data = pa.table(
        {
            "id": rows,
            "colour": [f"c{row % 5}" for row in rows],
            "labels": [[f"a{row % 3}"] for row in rows],
            "text": [f"word{row % 7} foo bar" for row in rows],
            "v": fixed(vectors),
        }
    )
    path = str(tmp_path_factory.mktemp("use") / "t")
    made = pylanceref.write_dataset(data, path)
    made.create_scalar_index("id", "BTREE")
    made.create_scalar_index("colour", "BITMAP")
    made.create_scalar_index("labels", "LABEL_LIST")
    made.create_scalar_index("text", "INVERTED", with_position=True)
    made.create_index("v", "IVF_FLAT", num_partitions=2)
    return path


QUERIES = {
    "id_idx": {"filter": "id > 0"},
    "colour_idx": {"filter": "colour = 'c1'"},
    "labels_idx": {"filter": "array_has_any(labels, ['a1', 'a2'])"},
    "text_idx": {"full_text_query": "word1"},
    "v_idx": {"nearest": {"column": "v", "q": [0.0] * 8, "k": 3, "nprobes": 2}},
}


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_kept_is_not_read_again(uri, name):
    """The answer is the same, and every part of it was there; wrong arguments are refused."""
    cold, warm, told = pylanceref.dataset(uri), pylanceref.dataset(uri), []
    warm.prewarm_index(name)
    answer = warm.scanner(scan_stats_callback=told.append, **QUERIES[name]).to_table()
    assert answer == cold.to_table(**QUERIES[name])
    assert 0 == told[0].parts_loaded
    assert 1.0 == warm.index_cache_hit_rate()
    assert 0.0 == cold.index_cache_hit_rate()
    with pytest.raises(RuntimeError, match="not found: name=nope"):
        warm.prewarm_index("nope")
    with pytest.raises(ValueError, match="inverted indices, got BTree"):
        warm.prewarm_index("id_idx", with_position=True)


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
        assert (dataset.to_table(), dataset.version) == (again.to_table(), again.version)
        assert not mine.is_same_as(again.session())
    assert dataset.to_table() == pickle.loads(pickle.dumps(fragment)).to_table()
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
