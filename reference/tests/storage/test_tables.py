"""Tables in object stores: bases in several stores, locks, blobs and single files."""

from contextlib import contextmanager

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound, Unconditional
from pylanceref import DatasetBasePath
from pylanceref.file import LanceFileReader, LanceFileSession, LanceFileWriter

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64())})


class Lock:
    """A commit lock that counts who held it."""

    def __init__(self) -> None:
        self.held: list[int] = []

    @contextmanager
    def __call__(self, version: int):
        """Hold the lock."""
        self.held.append(version)
        yield


def test_a_lock_decides_where_the_store_cannot(server):
    """Without conditional puts a commit needs a lock, which an opened table keeps."""
    options = {**server.options, "aws_conditional_put": "disabled"}
    uri, lock = server.uri(), Lock()
    with pytest.raises(Unconditional):
        pylanceref.write_dataset(ROWS, uri, storage_options=options)
    with pytest.raises(NotFound):
        pylanceref.dataset(uri, storage_options=options)
    pylanceref.write_dataset(ROWS, uri, storage_options=options, commit_lock=lock)
    table = pylanceref.dataset(uri, storage_options=options, commit_lock=lock)
    table.delete("a = 1")
    table.checkout_version(1).restore()

    assert [1, 2, 3] == lock.held
    assert 3 == pylanceref.dataset(uri, storage_options=options).count_rows()


@pytest.mark.oracle
@pytest.mark.parametrize("ours_first", [True, False])
def test_bases_are_reached_with_their_own_options(server, tmp_path, ours_first):
    """A base in a bucket is reached with options by id, or of the table."""
    import lance

    pair = (pylanceref, lance) if ours_first else (lance, pylanceref)
    home = server.uri()
    of_base = {f"base_1.{key}": value for key, value in server.options.items()}
    base = (DatasetBasePath if ours_first else lance.DatasetBasePath)(home, name="cloud")
    pair[0].write_dataset(
        ROWS,
        tmp_path / "t",
        initial_bases=[base],
        target_bases=["cloud"],
        storage_options=of_base,
    )
    pair[1].write_dataset(
        ROWS,
        tmp_path / "t",
        mode="append",
        target_bases=["cloud"],
        storage_options=of_base,
    )

    assert 2 == len(server.keys(home))
    assert not (tmp_path / "t/data").exists()
    for by in pair:
        for options in (of_base, server.options):
            assert 6 == by.dataset(tmp_path / "t", storage_options=options).to_table().num_rows


@pytest.mark.oracle
@pytest.mark.parametrize("ours_first", [True, False])
def test_single_files_are_shared(server, ours_first):
    """A file in a bucket written by one is read by the other; a session finds it."""
    import lance.file as theirs

    ours = (LanceFileWriter, LanceFileReader, LanceFileSession)
    others = (theirs.LanceFileWriter, theirs.LanceFileReader, theirs.LanceFileSession)
    (write, _, _), (_, read, session) = (ours, others) if ours_first else (others, ours)
    folder = server.uri()
    with write(f"{folder}/a/x.lance", ROWS.schema, storage_options=server.options) as writer:
        writer.write_batch(ROWS)
    made = session(folder, storage_options=server.options)

    assert 3 == read(f"{folder}/a/x.lance", storage_options=server.options).num_rows()
    assert 3 == made.open_reader("a/x.lance").num_rows()
    with made.open_writer("b/y.lance", schema=ROWS.schema) as writer:
        writer.write_batch(ROWS)
    assert ["a/x.lance", "b/y.lance"] == server.keys(folder)
    with pytest.raises(ValueError, match="z"):
        made.open_reader("a/z.lance")
