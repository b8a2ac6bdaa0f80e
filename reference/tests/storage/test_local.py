"""Local store: files of a folder."""

import pytest
from lanceref.core.errors import NotFound, StoreFailed
from lanceref.storage import SMALL_BYTES, BytesSource, LocalSource, LocalStore


def test_positioned_reads_are_counted(tmp_path):
    """A read returns the bytes asked for and adds one request and its bytes to the counters."""
    path = tmp_path / "f"
    path.write_bytes(bytes(range(100)))
    source = LocalSource(str(path))

    assert bytes([10, 11, 12]) == bytes(source.read(10, 3))
    assert (1, 3) == (source.stats.read_iops, source.stats.read_bytes)


@pytest.mark.parametrize("offset", [95, 100, 200])
def test_a_read_past_the_end_is_short(tmp_path, offset):
    """Only the bytes that exist come back, from memory and from a file alike."""
    data = bytes(range(100))
    path = tmp_path / "f"
    path.write_bytes(data)

    for source in (LocalSource(str(path)), BytesSource(data)):
        assert data[offset : offset + 10] == bytes(source.read(offset, 10))


def test_a_truncated_file_gives_a_short_read(tmp_path):
    """A file that shrinks after opening is no reason to crash."""
    path = tmp_path / "f"
    path.write_bytes(bytes(100))
    source = LocalSource(str(path))
    path.write_bytes(bytes(10))

    assert 5 == len(source.read(5, 50))


@pytest.mark.parametrize("size", [3, SMALL_BYTES + 1])
def test_many_reads_are_what_each_is(tmp_path, size):
    """Small or large, counted one by one, short at the end of the file."""
    path = tmp_path / "x"
    path.write_bytes(bytes(range(100)))
    source = LocalSource(str(path))
    found = source.read_many([98, 5], [size, 2])

    assert [bytes([98, 99]), bytes([5, 6])] == [bytes(part) for part in found]
    assert (2, 4) == (source.stats.read_iops, source.stats.read_bytes)


def test_a_missing_file_is_not_found(tmp_path):
    """Opening what does not exist raises NotFound, which is also a ValueError."""
    with pytest.raises(NotFound):
        LocalSource(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="no such file"):
        LocalStore(tmp_path).open("none")


def test_put_if_absent_never_overwrites(tmp_path):
    """The second writer of a name learns that it lost and changes nothing."""
    store = LocalStore(tmp_path)

    assert store.put_if_absent("a/x", b"first") is True
    assert store.put_if_absent("a/x", b"second") is False
    assert b"first" == bytes(store.open("a/x").read(0, 100))
    assert ["x"] == list(store.list("a"))


def test_put_replaces_and_delete_forgives(tmp_path):
    """`put` replaces in one step; deleting twice is fine."""
    store = LocalStore(tmp_path)
    store.put("x", b"1")
    store.put("x", b"22")

    assert 2 == store.open("x").size
    store.delete("x")
    store.delete("x")
    assert store.exists("x") is False


def test_an_object_is_put_whole_or_not_at_all(tmp_path):
    """A folder in its place makes it fail, and no temporary file stays."""
    store = LocalStore(tmp_path)
    store.put("a/b", b"xy")
    (tmp_path / "a/c").mkdir()

    with pytest.raises(OSError, match="c"):
        store.put("a/c", b"z")

    assert b"xy" == (tmp_path / "a/b").read_bytes()
    assert ["b", "c"] == sorted(entry.name for entry in (tmp_path / "a").iterdir())


def test_only_the_first_put_if_absent_counts(tmp_path):
    """The second says so, changes nothing and leaves nothing; both are counted as writes."""
    store = LocalStore(tmp_path)

    assert store.put_if_absent("v/1", b"first")
    assert not store.put_if_absent("v/1", b"second")
    assert b"first" == (tmp_path / "v/1").read_bytes()
    assert ["1"] == list(store.list("v"))
    assert (2, 11) == (store.stats.write_iops, store.stats.written_bytes)


def test_an_object_can_be_deleted_twice(tmp_path):
    """A missing one is no error."""
    store = LocalStore(tmp_path)
    store.put("a", b"")
    store.delete("a")
    store.delete("a")

    assert not store.exists("a")


@pytest.mark.parametrize("path", ["folder", "loop/x"])
def test_what_cannot_be_removed_is_refused_by_name(tmp_path, path):
    """A folder in the place of a file, or a loop of links above it, is the fault of the path."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(StoreFailed, match="cannot be removed"):
        LocalStore(tmp_path).delete(path)


def test_nothing_is_below_a_file(tmp_path):
    """What would lie below one is missing, and removed without an error."""
    store = LocalStore(tmp_path)
    store.put("a", b"")
    store.delete("a/b")

    assert ["a"] == list(store.list(""))


def test_a_store_is_walked_and_pruned(tmp_path):
    """Files at any depth with their sizes; empty folders go only when asked."""
    store = LocalStore(tmp_path)
    store.put("a/b/one", b"12")
    store.put("a/two", b"3")

    assert [("a/two", 1), ("a/b/one", 2)] == [(e.path, e.size) for e in store.walk("a")]
    assert [] == list(store.walk("none"))
    store.delete("a/b/one")
    assert (tmp_path / "a" / "b").is_dir()
    store.prune("a")
    assert ["two"] == [one.name for one in (tmp_path / "a").iterdir()]


def test_folders_are_walked_and_pruned_however_deep(tmp_path):
    """More of them than a process nests calls."""
    store, folder = LocalStore(tmp_path), tmp_path / "a"
    folder.mkdir()
    for _ in range(1200):
        folder = folder / "d"
        folder.mkdir()
    (folder / "file").touch()
    path = (folder / "file").relative_to(tmp_path).as_posix()

    assert [path] == [entry.path for entry in store.walk("a")]
    store.delete(path)
    store.prune("a")
    assert not (tmp_path / "a").exists()
