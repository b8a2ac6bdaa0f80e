"""Storage options and URIs: which store they name; tables in object stores, locks and bases."""

import builtins
import importlib
import os
import sys
import traceback
from contextlib import contextmanager
from datetime import timedelta

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import DataRefused, ExtraMissing, NotFound, StoreFailed, Unconditional
from lanceref.storage import is_local, store_options
from lanceref.storage.local_file import local_path
from lanceref.storage.manifests.opening import open_table
from lanceref.storage.objects import TABLE, client_of, split_options
from lanceref.storage.uri import Location, above, contains, joined, parse_uri
from pylanceref import DatasetBasePath, dataset
from pylanceref.file import LanceFileReader, LanceFileSession, LanceFileWriter


@pytest.mark.parametrize(("own", "lock"), [([], None), ({"a": 1}, None), ({1: "a"}, None), ({}, 5)])
def test_what_is_no_text_is_refused(own, lock):
    """Keys and values are texts, and a lock can be called."""
    with pytest.raises(TypeError):
        store_options(own, lock)


def test_a_uri_is_taken_apart():
    """A URI has a scheme, which is known, and a path."""
    assert Location("s3+ddb", "b", "x y/t", "q=1") == parse_uri("s3+ddb://b/x%20y/t/?q=1")
    below = [contains("s3://b/t?q=1", uri) for uri in ("s3://b/t/x?r=2", "s3://b/tx", "s3://b")]
    assert [True, False, False] == below
    with pytest.raises(NotFound, match=r"(?s)'gopher'.*s3\+ddb"):
        parse_uri("gopher://x/y")


def test_local_places_have_paths():
    """Paths and file URIs are local; other schemes have no path."""
    assert "/a b/c" == local_path("file:///a%20b/c") == local_path("file-object-store:///a%20b/c")
    assert f"{os.getcwd()}/x" == local_path("x")  # noqa: PTH109
    assert is_local("/x?y") and not is_local("s3://b")
    with pytest.raises(NotFound):
        local_path("s3://b/c")


@given(
    st.sampled_from(["/a/b", "s3://b/c", "s3+ddb://b/c?ddbTableName=T", "/a?b"]),
    st.from_regex(r"[a-z?]{1,3}(/[a-z]{1,3})?", fullmatch=True),
)
def test_above_undoes_joined(root, below):
    """A query follows the whole path when paths are joined or cut."""
    if "://" in root:
        below = below.replace("?", "_")
    longer = joined(root, below)

    assert root == above(longer, below)
    assert root.partition("?")[2] == longer.partition("?")[2] or "://" not in root
    assert above(longer, "other/" + below) is None


def test_options_are_split_by_what_they_are_for():
    """Options of store, client and retries are separated in any case and prefix."""
    given = {
        "AWS_Region": "r",
        "access_key_id": "k",
        "endpoint_url_s3": "e",
        "allow_http": "true",
        "request_timeout": "5s",
        "connect_timeout": "1s",
        "client_max_retries": "3",
        "client_retry_timeout": "60",
        "dynamodb_endpoint": "d",
        "nonsense": "1",
    }
    config, client, retry = split_options(given, *TABLE["s3"][1:])

    assert {"region": "r", "access_key_id": "k", "aws_endpoint_url_s3": "e"} == config
    assert {"allow_http": "true", "timeout": "5s", "connect_timeout": "1s"} == client
    assert {"max_retries": 3, "retry_timeout": timedelta(seconds=60)} == retry


def test_the_environment_says_what_options_do_not(monkeypatch):
    """The environment fills in client options, and an option overrides it."""
    monkeypatch.setenv("AWS_ALLOW_HTTP", "maybe")
    location = parse_uri("s3://bucket/x")
    with pytest.raises(DataRefused, match="maybe"):
        client_of(location, store_options({"aws_region": "us-east-1"}))
    for key in ("allow_http", "aws_allow_http"):
        client_of(location, store_options({"aws_region": "us-east-1", key: "true"}))


@pytest.mark.parametrize("key", ["allow_http", "timeout"])
def test_an_option_that_means_nothing_is_refused(key):
    """A client option with an impossible value is refused by value."""
    options = store_options({"aws_region": "us-east-1", key: "maybe"})

    with pytest.raises(DataRefused, match="maybe"):
        client_of(parse_uri("s3://bucket/x"), options)


@pytest.mark.parametrize("scheme", sorted(TABLE))
def test_every_key_is_one_that_the_client_knows(scheme):
    """Every option that is passed on is known to the client library."""
    _, prefix, keys = TABLE[scheme]
    for key in keys:
        try:
            client_of(parse_uri(f"{scheme}://bucket/x"), store_options({prefix + key: "1"}))
        except DataRefused as error:
            assert "not valid for store" not in str(error), key


@pytest.mark.parametrize(
    "uri", ["az://container/x", "abfss://container@account.dfs.core.windows.net/x", "gs://bucket/x"]
)
def test_other_clouds_have_a_client(uri):
    """Azure and Google URIs get a client, one for the same options."""
    options = store_options(
        {"account_key": "aGVsbG8=", "google_skip_signature": "true"}
        | ({"account_name": "account"} if uri.startswith("az") else {})
    )
    client = client_of(parse_uri(uri), options)

    assert client is client_of(parse_uri(uri), options)
    if not uri.startswith("gs"):
        assert 'account_name="account"' in repr(client)


@pytest.mark.parametrize(
    ("package", "module"),
    [("obstore", "lanceref.storage.objects"), ("boto", "lanceref.storage.manifests.dynamodb")],
)
def test_without_the_package_the_extra_is_named(monkeypatch, package, module):
    """Without the client library the error names the extra to install."""
    real = builtins.__import__

    def refusing(name, *arguments):
        if name.startswith(package):
            raise ImportError(name)
        return real(name, *arguments)

    importlib.import_module(module)
    monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ExtraMissing, match=r"lance-conformance\[objectstore\]"):
        importlib.import_module(module)


def test_no_error_shows_the_password_of_an_endpoint():
    """Neither an error nor its traceback shows the password of an endpoint."""
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


@pytest.mark.parametrize("query", ["", "?ddbTableName=", "?table=T", "?ddbTableName=T&x=1"])
def test_another_query_is_refused(server, query):
    """A URI of DynamoDB names one table and nothing else."""
    with pytest.raises(DataRefused, match=r"s3\+ddb"):
        open_table(f"s3+ddb://bucket/t{query}", store_options(server.options))


def test_only_one_may_decide(server, tmp_path):
    """A lock or a second manifest store beside DynamoDB is refused, as is an unknown one."""
    uri, other = server.uri("s3+ddb"), {"manifest_store": "sqlite:///x"}
    with pytest.raises(DataRefused, match="mutually exclusive"):
        open_table(uri, store_options(server.options, lambda version: None))
    with pytest.raises(DataRefused, match="mutually exclusive"):
        open_table(uri, store_options(server.options | other))
    with pytest.raises(DataRefused, match="sqlite://"):
        open_table(tmp_path, store_options({"manifest_store": "etcd://x"}))


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
    """Without conditional puts any commit needs a lock, which an opened table keeps."""
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
    nothing = pylanceref.LanceOperation.Delete([], [], "false")
    apart = pylanceref.LanceDataset.commit(table, nothing, read_version=3, detached=True)

    assert [1, 2, 3, apart.version] == lock.held
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
        ROWS, tmp_path / "t", initial_bases=[base], target_bases=["cloud"], storage_options=of_base
    )
    pair[1].write_dataset(
        ROWS, tmp_path / "t", mode="append", target_bases=["cloud"], storage_options=of_base
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
