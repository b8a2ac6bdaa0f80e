"""Refusals of the local file system: no `OSError` without a path, no special file that is read."""

import errno
import os
import pickle
import socket
from pathlib import Path

import pytest
from lanceref.core.errors import LanceError, NotFound, StoreFailed, Unreadable
from lanceref.storage import LocalSource, LocalStore, open_source
from lanceref.storage.local_file import refusal

NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EIO, errno.EOVERFLOW, errno.ESTALE)


def fifo(path):
    """A pipe that nobody writes to."""
    os.mkfifo(path)


def listening(path):
    """A socket; its path may be longer than a socket's name."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def loop(path):
    """A link to itself."""
    path.symlink_to(path.name)


KINDS = {
    "fifo": fifo,
    "socket": listening,
    "loop": loop,
    "folder": lambda path: path.mkdir(),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_not_found(tmp_path, kind):
    """Opening it ends at once, by path and below a store, and the error names the path."""
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
    """A null byte, a lone surrogate, too long a name, a path through a file, the folder itself."""
    (tmp_path / "file").write_bytes(b"1")
    store = LocalStore(tmp_path)

    with pytest.raises(NotFound):
        store.open(name)
    assert not store.exists(name)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "..", "a/.."])
def test_a_path_out_of_the_root_is_refused(tmp_path, path):
    """Whatever is asked for, nothing outside the root is opened, written or deleted."""
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
    """Opening, looking and listing raise one class, OSError and LanceError, with the path."""
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


def test_a_folder_that_cannot_be_read_stops_a_walk(tmp_path, monkeypatch):
    """It is not taken for an empty one; a missing one is."""
    store = LocalStore(tmp_path)
    assert [] == list(store.walk("none"))

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(Unreadable, match=str(tmp_path)):
        list(store.walk(""))


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("many", [True, False])
def test_a_read_that_fails_names_the_file(tmp_path, monkeypatch, size, many):
    """Also when many are made at once."""
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
    """The error stays an OSError of its number, and names the path."""
    made = refusal("/some/x", OSError(number, os.strerror(number)))

    assert not isinstance(made, LanceError)
    assert isinstance(made, OSError)
    assert (number, "/some/x") == (made.errno, made.filename)


def test_nothing_is_removed_through_a_link(tmp_path):
    """A folder that a link places elsewhere is not read, and keeps its files and folders."""
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


def test_a_root_that_is_a_link_owns_its_files(tmp_path):
    """A whole table that a link leads to is a table."""
    (tmp_path / "real" / "data").mkdir(parents=True)
    (tmp_path / "real" / "data" / "x").write_bytes(b"1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    store = LocalStore(tmp_path / "link")

    assert store.owns("data")
    store.delete("data/x")
    assert [] == [path.name for path in (tmp_path / "real" / "data").iterdir()]


def test_a_link_to_a_file_elsewhere_is_not_opened(tmp_path):
    """A link to another file of the root is; one that leads out can be removed, or replaced."""
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


def test_a_place_where_no_file_can_be_made_is_named(tmp_path):
    """A file in place of a folder and a loop of links are the path's fault, a LanceError."""
    (tmp_path / "data").write_bytes(b"1")
    (tmp_path / "loop").symlink_to("loop")
    store = LocalStore(tmp_path)

    for path in ("data/x", "loop/x"):
        for ask in (lambda at=path: store.put(at, b"1"), lambda at=path: store.create(at)):
            with pytest.raises(StoreFailed, match=str(tmp_path)):
                ask()
