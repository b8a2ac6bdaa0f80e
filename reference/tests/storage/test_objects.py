"""Object stores: the same answers from S3 and from memory, as from a folder."""

from __future__ import annotations

import builtins
import importlib
import sys
import traceback
from uuid import uuid4

import pytest
from lanceref.core.errors import ExtraMissing, NotFound, StoreFailed, Unconditional
from lanceref.storage import Store, open_store, store_options
from pylanceref import dataset

from tests.object_server import ObjectServer


@pytest.fixture(params=["s3", "shared-memory"])
def store(request, server: ObjectServer) -> Store:
    """An empty store."""
    return open_store(server.uri(request.param), store_options(server.options))


def test_ranges_are_read_and_counted(store):
    """A range past the end is short; several come in their order; each is a request."""
    store.put("a/b", b"12345")
    source = store.open("a/b")
    before = store.stats.read_iops

    assert 5 == source.size
    assert b"2345" == bytes(source.read(1, 100))
    assert b"" == bytes(source.read(5, 1))
    assert [b"12", b"", b"34", b""] == [
        bytes(part) for part in source.read_many([0, 5, 2, 9], [2, 3, 2, 1])
    ]
    assert (before + 3, 8) == (store.stats.read_iops, store.stats.read_bytes)


def test_what_is_missing_is_not_found(store):
    """To open or rename it is refused, to delete it is not."""
    with pytest.raises(NotFound, match="nope"):
        store.open("nope")
    with pytest.raises(NotFound, match="nope"):
        store.rename("nope", "other")
    store.delete("nope")

    assert not store.exists("nope")
    assert [] == list(store.list("nope"))
    assert [] == list(store.walk("nope"))


def test_only_the_first_put_if_absent_counts(store):
    """The second says so and changes nothing."""
    assert store.put_if_absent("v/1", b"first")
    assert not store.put_if_absent("v/1", b"second")
    assert b"first" == bytes(store.open("v/1").read(0, 9))


def test_objects_are_listed_renamed_and_deleted(store):
    """Directly below a prefix by name, at any depth with path and size."""
    store.put("a/two", b"22")
    store.put("a/one", b"1")
    store.put("a/b/three", b"333")
    store.put("ab/four", b"4444")

    assert ["one", "two"] == list(store.list("a"))
    assert [("a/b/three", 3), ("a/one", 1), ("a/two", 2)] == [
        (entry.path, entry.size) for entry in store.walk("a")
    ]
    assert 4 == len(list(store.walk("")))
    store.rename("a/one", "a/five")
    store.delete("a/two")
    store.prune("a")
    assert ["five"] == list(store.list("a"))


def test_a_large_object_is_written_in_parts(store):
    """It stands once it is closed, and not at all when it is aborted."""
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
    assert not store.exists("aborted")


def test_another_root_is_reached_the_same_way(store):
    """A path below is one of the same objects."""
    store.put("below/one", b"1")

    assert ["one"] == list(store.at(f"{store.root}/below").list(""))
    assert store.options == store.at(f"{store.root}/below").options


def test_a_bucket_that_is_not_there_is_a_failure(server):
    """It is an OSError for who writes and a ValueError for who opens, as the oracle has it."""
    store = open_store("s3://no-such-bucket/x", store_options(server.options))

    for error in (StoreFailed, OSError, ValueError):
        with pytest.raises(error, match="NoSuchBucket"):
            list(store.list(""))
    with pytest.raises((StoreFailed, NotFound)):
        store.put("x", b"")


def test_a_store_without_conditions_says_so(server):
    """It cannot put an object if there is none, and does not pretend to."""
    options = store_options({**server.options, "aws_conditional_put": "disabled"})
    store = open_store(server.uri(), options)

    with pytest.raises(Unconditional):
        store.put_if_absent("x", b"1")
    assert not store.exists("x")


def test_a_listing_of_an_express_bucket_is_in_no_order():
    """So writers leave a hint at the latest version there, and nowhere else."""
    options = store_options({"aws_region": "us-east-1", "aws_skip_signature": "true"})

    assert not open_store("s3://b--use1-az4--x-s3/t", options).lists_in_order
    assert open_store("s3://b/t", options).lists_in_order


def test_memory_is_private_and_shared_memory_is_not():
    """`memory://` is another store each time; `shared-memory://` one for each name."""
    name = uuid4().hex
    for scheme, found in (("memory", []), ("shared-memory", ["x"])):
        uri = f"{scheme}://{name}/t"
        open_store(uri).put("x", b"1")
        assert found == list(open_store(uri).list(""))


def test_names_with_odd_characters_are_kept(server, store):
    """A space, a percent sign, a plus and letters beyond ASCII name the same object everywhere."""
    name = "a b%41+é.x"
    store.put(name, b"1")

    assert [name] == list(store.list(""))
    assert b"1" == bytes(store.open(name).read(0, 1))
    if store.root.startswith("s3"):
        assert [name] == server.keys(store.root)


def test_without_the_package_the_extra_is_named(monkeypatch):
    """The error says what to install."""
    real = builtins.__import__

    def refusing(name, *arguments):
        if name.startswith("obstore"):
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.delitem(sys.modules, "lanceref.storage.objects")
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ExtraMissing, match=r"lance-conformance\[objectstore\]"):
        importlib.import_module("lanceref.storage.objects")


def test_no_error_shows_the_password_of_an_endpoint():
    """Neither the error nor its cause, as a traceback prints them."""
    options = {
        "aws_access_key_id": "key",
        "aws_secret_access_key": "hidden-key",
        "aws_endpoint": "http://user:hidden@127.0.0.1:9",
        "allow_http": "true",
        "aws_region": "us-east-1",
        "client_max_retries": "0",
    }
    with pytest.raises(StoreFailed) as caught:
        dataset("s3://bucket/t", storage_options=options)

    shown = "".join(traceback.format_exception(caught.value))

    assert "127.0.0.1:9" in shown
    assert "hidden" not in shown
