"""Every store: folders, buckets, memory and manifest stores keep one contract."""

import pytest
from lanceref import storage
from lanceref.core.cursor import IOStats
from lanceref.core.errors import NotFound, StoreFailed, Unconditional
from lanceref.files import open_source
from lanceref.storage.manifests.opening import open_table
from lanceref.storage.protocol import Draft, bytes_read_counter, copy_object, iops_counter
from lanceref_testing.object_server import ObjectServer


@pytest.fixture(params=["local", "local+sqlite", "s3", "s3+ddb", "shared-memory"])
def store(request, tmp_path, server: ObjectServer) -> storage.Store:
    """An empty store of each kind."""
    if request.param.startswith("local"):
        more = {"manifest_store": f"sqlite://{tmp_path}/m.db"} if "+" in request.param else {}
        return open_table(tmp_path / "t", storage.store_options(more))
    opened = open_table if request.param == "s3+ddb" else storage.open_store
    return opened(server.uri(request.param), storage.store_options(server.options))


def _read(store: storage.Store, path: str) -> bytes:
    source = store.open(path)
    return bytes(source.read(0, source.size))


def test_ranges_are_read_and_counted(store):
    """A range past the end is short, several come in their order, and each is counted."""
    store.put("a/b", b"12345")
    source = store.open("a/b")
    before = (source.stats.read_iops, source.stats.read_bytes)

    assert 5 == source.size
    assert b"2345" == bytes(source.read(1, 100))
    assert b"" == bytes(source.read(5, 1)) == bytes(source.read(200, 1))
    assert [b"12", b"", b"34", b""] == [
        bytes(part) for part in source.read_many([0, 5, 2, 9], [2, 3, 2, 1])
    ]
    assert source.stats.read_iops > before[0]
    assert 8 == source.stats.read_bytes - before[1]
    source.close()


def test_a_missing_object_is_not_found(store):
    """Opening and renaming it are refused; deleting, listing and walking are not."""
    for ask in (lambda: store.open("nope"), lambda: store.rename("nope", "other")):
        with pytest.raises(NotFound, match="nope"):
            ask()
    store.delete("nope")

    assert not store.exists("nope")
    assert [] == list(store.list("nope")) == list(store.walk("nope"))


@pytest.mark.parametrize("path", ["v/1", "_versions/18446744073709551614.manifest"])
def test_only_the_first_put_if_absent_succeeds(store, path):
    """The second returns False, changes nothing and leaves no other object."""
    folder, _, name = path.partition("/")

    assert store.put_if_absent(path, b"first")
    assert not store.put_if_absent(path, b"second")
    assert b"first" == _read(store, path)
    assert [name] == list(store.list(folder))


def test_objects_are_listed_walked_renamed_and_deleted(store):
    """Listing gives names directly below a prefix, walking paths and sizes at any depth."""
    for path, data in (("a/two", b"2"), ("a/one", b"1"), ("a/b/three", b"333"), ("ab/four", b"4")):
        store.put(path, data)
    store.put("a/two", b"22")

    listed = list(store.list("a"))
    assert ["one", "two"] == [name for name in listed if name != "b"]
    assert [("a/b/three", 3), ("a/one", 1), ("a/two", 2)] == sorted(
        (entry.path, entry.size) for entry in store.walk("a")
    )
    assert 4 == len(list(store.walk("")))
    store.rename("a/one", "a/five")
    store.delete("a/two")
    store.delete("a/b/three")
    store.prune("a")
    assert ["five"] == list(store.list("a"))
    assert b"1" == _read(store, "a/five")


def test_a_large_object_appears_once_it_is_closed(store):
    """An object is invisible while it is written, and an aborted one never appears."""
    part = bytes(range(256)) * (3 << 12)  # 3 MiB
    sink, aborted = store.create("large"), store.create("aborted")
    for _ in range(5):
        sink.write(memoryview(part).cast("b"))
        aborted.write(part)

    assert not store.exists("large")
    sink.close()
    sink.close()
    sink.abort()
    aborted.abort()
    assert 5 * len(part) == sink.position == store.open("large").size
    assert part[-5:] == bytes(store.open("large").read(5 * len(part) - 5, 9))
    assert ["large"] == list(store.list(""))


def test_names_with_special_characters_are_kept(server, store):
    """A space, a percent sign, a plus and letters beyond ASCII name the same object."""
    name = "a b%41+é.x"
    store.put(name, b"1")

    assert [name] == list(store.list(""))
    assert b"1" == _read(store, name)
    if store.root.startswith("s3://"):
        assert [name] == server.keys(store.root)


def test_a_store_of_a_path_below_reaches_the_same_objects(store):
    """It has the same options and lists what was put below."""
    store.put("below/one", b"1")
    root, query, name = store.root.partition("?")

    assert ["one"] == list(store.at(f"{root}/below{query}{name}").list(""))
    assert store.options == store.at(f"{root}/below{query}{name}").options


class _Broken:
    """A source whose reads fail."""

    size = 5

    def read(self, offset, size):
        raise OSError("broken")


def test_a_copy_is_whole_or_not_there(store):
    """Bytes are copied to any path; a copy whose source fails leaves nothing."""
    store.put("one", b"12")
    copy_object(store.open("one"), store, "deep/three")

    assert b"12" == _read(store, "deep/three")
    with pytest.raises(OSError, match="broken"):
        copy_object(_Broken(), store, "five")
    assert ["deep/three", "one"] == sorted(entry.path for entry in store.walk(""))


def test_files_of_a_draft_are_deleted_after_an_error(store):
    """Files that were handed over stay, and a file that is already gone is no error."""
    for name in "abc":
        store.put(name, b"1")
    draft = Draft([(store, "a")])
    kept = draft.hand_over()
    draft.add((store, "b"))
    with draft:
        pass
    assert ["a", "b", "c"] == list(store.list(""))
    draft.add((store, "gone"))
    with pytest.raises(KeyError), draft:
        raise KeyError

    assert [(store, "a")] == kept
    assert ["a", "c"] == list(store.list(""))


def test_one_object_is_written_and_read_by_its_uri(server, tmp_path):
    """A single file can lie in a bucket, in a folder, or below a file URI."""
    options = storage.store_options(server.options)
    for uri in (server.uri(), tmp_path / "x", f"file://{tmp_path}/y"):
        sink = storage.create_sink(uri, options)
        sink.write(b"123")
        sink.close()
        assert b"23" == bytes(open_source(uri, options).read(1, 9))


def test_memory_is_private_and_shared_memory_is_not(tmp_path):
    """`memory://` is a new store each time; `shared-memory://` is one for each name."""
    for scheme, found in (("memory", []), ("shared-memory", ["x"])):
        uri = f"{scheme}://{tmp_path.name}/t"
        storage.open_store(uri).put("x", b"1")
        assert found == list(storage.open_store(uri).list(""))


def test_a_missing_bucket_is_a_failure_of_the_store(server):
    """It is an OSError for writers and a ValueError for readers, as with the oracle."""
    store = storage.open_store("s3://no-such-bucket/x", storage.store_options(server.options))

    for error in (StoreFailed, OSError, ValueError):
        with pytest.raises(error, match="NoSuchBucket"):
            list(store.list(""))
    with pytest.raises((StoreFailed, NotFound)):
        store.put("x", b"")


def test_a_store_without_conditional_puts_refuses_them(server):
    """Where a bucket cannot put an object if there is none, nothing is put."""
    options = storage.store_options({**server.options, "aws_conditional_put": "disabled"})
    store = storage.open_store(server.uri(), options)

    with pytest.raises(Unconditional):
        store.put_if_absent("x", b"1")
    assert not store.exists("x")


def test_a_store_is_wrapped_only_inside_the_block(tmp_path):
    """The first wrapper is innermost; after the block there is none."""
    with (
        storage.wrapped_stores(lambda store: [store]),
        storage.wrapped_stores(lambda store: (store,)),
    ):
        ((inner,),) = storage.open_store(tmp_path)

    assert isinstance(inner, storage.LocalStore)
    assert isinstance(storage.open_store(tmp_path), storage.LocalStore)


def test_counters_restart_and_the_process_counts_all():
    """A counter returns what was counted since it was last asked; the process total only grows."""
    requests, size = iops_counter(), bytes_read_counter()
    one, other = IOStats(), IOStats()
    one.count_reads(2, 10)
    other.count_reads(1, 5)

    assert IOStats(2, 10) == one.incremental()
    assert IOStats() == one.incremental()
    assert (3, 15) == (iops_counter() - requests, bytes_read_counter() - size)
