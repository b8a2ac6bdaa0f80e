"""Storage options and URIs: which store they name, and what each option means."""

import builtins
import importlib
import os
import sys
import traceback
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import DataRefused, ExtraMissing, NotFound, StoreFailed
from lanceref.storage import is_local, store_options
from lanceref.storage.local_file import local_path
from lanceref.storage.manifests.opening import open_table
from lanceref.storage.objects import TABLE, client_of, split_options
from lanceref.storage.uri import Location, above, joined, parse_uri
from pylanceref import dataset


@pytest.mark.parametrize(("own", "lock"), [([], None), ({"a": 1}, None), ({1: "a"}, None), ({}, 5)])
def test_what_is_no_text_is_refused(own, lock):
    """Keys and values are texts, and a lock can be called."""
    with pytest.raises(TypeError):
        store_options(own, lock)


def test_a_uri_is_taken_apart():
    """The path is decoded and has no slash at its ends."""
    assert Location("s3+ddb", "b", "x y/t", "q=1") == parse_uri("s3+ddb://b/x%20y/t/?q=1")


def test_an_unknown_scheme_is_not_found():
    """The error lists the schemes that there are."""
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
    "uri",
    ["az://container/x", "abfss://container@account.dfs.core.windows.net/x", "gs://bucket/x"],
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
