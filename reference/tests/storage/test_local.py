"""Local files: refusals name the path, and nothing outside the root is touched."""

import errno
import os
import pickle
import socket
import stat
from collections.abc import Iterator
from contextlib import chdir, contextmanager

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError, NotFound, StoreFailed, Unreadable
from lanceref.files import open_source
from lanceref.storage import LocalSource, LocalStore
from lanceref.storage.local import make_folder
from lanceref.storage.local_file import refusal
from lanceref_testing.table_operations import OPERATIONS, prepare


def test_a_truncated_file_gives_a_short_read(tmp_path):
    """A file that shrinks after it was opened gives the bytes it still has."""
    path = tmp_path / "f"
    path.write_bytes(bytes(100))
    source = LocalSource(str(path))
    path.write_bytes(bytes(10))

    assert 5 == len(source.read(5, 50))


@pytest.mark.parametrize("path", ["folder", "loop/x"])
def test_what_cannot_be_removed_is_refused_by_name(tmp_path, path):
    """A folder in place of a file and a loop of links above it are faults of the path."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(StoreFailed, match="cannot be removed"):
        LocalStore(tmp_path).delete(path)


def test_folders_are_walked_and_pruned_however_deep(tmp_path):
    """Folders nested deeper than the recursion limit are walked and pruned."""
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


NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EIO, errno.EOVERFLOW, errno.ESTALE)


def listening(path):
    """A socket; its path may be longer than a socket's name."""
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


KINDS = {
    "fifo": os.mkfifo,
    "socket": listening,
    "loop": lambda path: path.symlink_to(path.name),
    "folder": lambda path: path.mkdir(),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_not_found(tmp_path, kind):
    """Opening a special file ends at once, by path and by store, and names the path."""
    path = tmp_path / "x"
    KINDS[kind](path)
    store = LocalStore(tmp_path)

    for opened in (lambda: open_source(path), lambda: store.open("x")):
        with pytest.raises(NotFound, match=str(path)):
            opened()
    assert not store.exists("x")
    assert ([] if kind == "folder" else ["x"]) == list(store.list(""))


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300, "file/x", ""])
def test_what_names_no_file_is_not_found(tmp_path, name):
    """Null bytes, lone surrogates, long names and paths through a file are not found."""
    (tmp_path / "file").write_bytes(b"1")
    store = LocalStore(tmp_path)

    with pytest.raises(NotFound):
        store.open(name)
    assert not store.exists(name)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "..", "a/.."])
def test_a_path_out_of_the_root_is_refused(tmp_path, path):
    """No operation on a climbing path opens, writes or deletes anything outside the root."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "x").write_bytes(b"1")
    store = LocalStore(root)

    for ask in (
        lambda: store.open(path),
        lambda: list(store.list(path)),
        lambda: list(store.walk(path)),
        lambda: store.create(path),
        lambda: store.put(path, b"2"),
        lambda: store.put_if_absent(path, b"2"),
        lambda: store.delete(path),
        lambda: store.rename(path, "here"),
        lambda: store.prune(path),
    ):
        with pytest.raises(NotFound, match="no path below"):
            ask()
    assert not store.exists(path)
    assert ["root", "x"] == sorted([path.name for path in (tmp_path).iterdir()])


@pytest.mark.parametrize("number", NOT_ALLOWED)
def test_a_file_that_cannot_be_read_is_unreadable(tmp_path, monkeypatch, number):
    """Opening, checking and listing raise one class with the path, which can be pickled."""
    (tmp_path / "x").write_bytes(b"1")

    def refuse(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    store = LocalStore(tmp_path)
    for name, ask in (
        ("open", lambda: store.open("x")),
        ("stat", lambda: store.exists("x")),
        ("scandir", lambda: list(store.list(""))),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            with pytest.raises(Unreadable, match=str(tmp_path)) as caught:
                ask()
        assert isinstance(caught.value, OSError)
        assert isinstance(caught.value, LanceError)
        assert str(caught.value) == str(pickle.loads(pickle.dumps(caught.value)))


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("many", [True, False])
def test_a_read_that_fails_names_the_file(tmp_path, monkeypatch, size, many):
    """A failing read names its file, also when several are made at once."""
    path = tmp_path / "x"
    path.write_bytes(bytes(2 << 20))
    source = LocalSource(str(path))

    def refuse(*args):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", refuse)
    monkeypatch.setattr(os, "preadv", refuse)
    with pytest.raises(Unreadable, match=str(path)):
        source.read_many([0], [size]) if many else source.read(0, size)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_an_exhausted_process_is_no_fault_of_the_file(number):
    """Running out of handles or memory stays an OSError of its number."""
    made = refusal("/some/x", OSError(number, os.strerror(number)))

    assert not isinstance(made, LanceError)
    assert isinstance(made, OSError)
    assert (number, "/some/x") == (made.errno, made.filename)


def test_nothing_is_removed_through_a_link(tmp_path):
    """A folder that is a link out of the root is neither read nor changed."""
    (tmp_path / "elsewhere" / "empty").mkdir(parents=True)
    (tmp_path / "elsewhere" / "x").write_bytes(b"1")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "data").symlink_to(tmp_path / "elsewhere")
    store = LocalStore(tmp_path / "root")

    assert not store.owns("data")
    with pytest.raises(NotFound, match="leads out"):
        store.open("data/x")
    assert not store.exists("data/x")
    assert [] == [*store.list("data"), *store.walk("data")]
    for ask in (
        lambda: store.delete("data/x"),
        lambda: store.put("data/x", b"2"),
        lambda: store.put_if_absent("data/y", b"2"),
        lambda: store.create("data/new/y"),
        lambda: store.rename("data/x", "here"),
    ):
        with pytest.raises(StoreFailed, match="leads out"):
            ask()
    store.prune("data")
    assert ["empty", "x"] == sorted([path.name for path in (tmp_path / "elsewhere").iterdir()])


def test_a_link_to_a_file_elsewhere_is_not_opened(tmp_path):
    """Links within the root are followed; a link out of it can only be replaced."""
    (tmp_path / "secret").write_bytes(b"1")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "own").write_bytes(b"12")
    (tmp_path / "root" / "inner").symlink_to("own")
    (tmp_path / "root" / "x").symlink_to(tmp_path / "secret")
    store = LocalStore(tmp_path / "root")

    assert 2 == store.open("inner").size
    with pytest.raises(NotFound, match="leads out"):
        store.open("x")
    assert not store.exists("x")
    store.put("x", b"123")
    assert 3 == store.open("x").size
    assert b"1" == (tmp_path / "secret").read_bytes()


@contextmanager
def umask(mask: int) -> Iterator[None]:
    """Set the umask until the block ends."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o077, 0o002])
@pytest.mark.parametrize("name", ["INVERTED", "delete", "tag", "branch", "blobs", "append to 0.1"])
def test_the_umask_decides_who_may_read(tmp_path, name, mask):
    """Every file and folder of a table has the mode that the umask leaves."""
    with umask(mask):
        prepare(pylanceref, name, str(tmp_path / "t"))
        OPERATIONS[name](pylanceref, str(tmp_path / "t"))
        options = {"manifest_store": f"sqlite://{tmp_path}/deep/m.db"}
        pylanceref.write_dataset(pa.table({"x": [1]}), tmp_path / "s", storage_options=options)

    modes = {(one.is_dir(), one.stat().st_mode & 0o777) for one in tmp_path.rglob("*")}

    assert {(True, 0o777 & ~mask), (False, 0o666 & ~mask)} == modes


def test_a_folder_that_cannot_be_flushed_is_no_error(tmp_path, monkeypatch):
    """Where a file system cannot flush folders, everything is flushed."""
    real, synced = os.fsync, []

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "sync", lambda: synced.append(1))

    make_folder(tmp_path / "a" / "b")

    assert synced
    assert (tmp_path / "a" / "b").is_dir()
