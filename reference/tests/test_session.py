"""Sessions: which tables are of one, and what they hold."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pylanceref.fragment
import pytest
from pylanceref.session import Session

from .sql.written import write

TABLE = pa.table({"a": range(20)})


def test_a_table_that_is_read_holds_more(tmp_path):
    """The metadata of its files, beside its manifest."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=5)
    session = dataset.session()
    before = session.size_bytes()
    dataset.to_table()

    assert 0 < before < session.size_bytes() == dataset.held_bytes
    assert repr(session).endswith(f"metadata_cache_size_bytes={session.size_bytes()})")
    assert 0 == session.index_cache_size_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        {"metadata_cache_size_bytes": 0},
        {"session": Session(metadata_cache_size_bytes=0)},
    ],
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
    assert dataset.held_bytes + again.held_bytes <= session.size_bytes()


def test_an_opened_table_keeps_its_session(tmp_path):
    """Rows are written with no other."""
    dataset = write(TABLE, tmp_path)
    for act in (pylanceref.write_dataset, pylanceref.fragment.write_fragments):
        act(TABLE, dataset, mode="append", session=dataset.session())
        with pytest.raises(ValueError, match="not the destination dataset's own session"):
            act(TABLE, dataset, mode="append", session=Session())
    for wrong in (5, "x"):
        with pytest.raises(TypeError, match="is not an instance of '_Session'"):
            pylanceref.dataset(dataset.uri, session=wrong)
