"""Files of blobs beside a data file."""

import pytest
from lanceref.blobs.blob_writer import Sidecars
from lanceref.data_file.descriptors import sidecar_path
from lanceref.storage import LocalStore

DATA_FILE = "data/x.lance"


def _write(files: Sidecars, data: bytes, most: int) -> tuple[int, int]:
    return files.write_shared([memoryview(data)], len(data), most)


def _read(store: LocalStore, number: int) -> bytes:
    source = store.open(sidecar_path(DATA_FILE, number))
    return bytes(source.read(0, source.size))


def test_files_are_numbered_as_they_begin(tmp_path) -> None:
    """Blobs alone and shared files count together; a shared file goes on after one alone."""
    store = LocalStore(tmp_path)
    files = Sidecars(store, DATA_FILE)

    assert _write(files, b"abc", 100) == (1, 0)
    assert files.write_alone([memoryview(b"de"), memoryview(b"f")]) == 2
    assert _write(files, b"gh", 100) == (1, 3)
    files.close()

    assert [_read(store, number) for number in (1, 2)] == [b"abcgh", b"def"]
    assert files.paths == [sidecar_path(DATA_FILE, number) for number in (1, 2)]


def test_a_shared_file_ends_at_its_limit_and_where_the_limit_changes(tmp_path) -> None:
    """A blob larger than the limit has a shared file of its own."""
    files = Sidecars(LocalStore(tmp_path), DATA_FILE)

    found = [_write(files, b"abc", most) for most in (6, 6, 6, 7, 7, 6, 2)]
    assert found == [(1, 0), (1, 3), (2, 0), (3, 0), (3, 3), (4, 0), (5, 0)]


@pytest.mark.parametrize("closed", [False, True])
def test_nothing_is_left_after_an_abort(tmp_path, closed: bool) -> None:
    """Whether the files are whole or not."""
    files = Sidecars(LocalStore(tmp_path), DATA_FILE)
    _write(files, b"abc", 100)
    files.write_alone([memoryview(b"d")])
    if closed:
        files.close()
    files.abort()

    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_file_whose_bytes_stop_coming_is_not_left(tmp_path) -> None:
    """The error goes on to the caller, who aborts."""
    files = Sidecars(LocalStore(tmp_path), DATA_FILE)

    def stops():
        yield memoryview(b"a")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        files.write_alone(stops())
    files.abort()
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]
