"""Clients: storage options go where they belong."""

from __future__ import annotations

from datetime import timedelta

import pytest
from lanceref.core.errors import DataRefused
from lanceref.storage import store_options
from lanceref.storage.objects import TABLE, client_of, split_options
from lanceref.storage.uri import parse_uri


def test_options_are_split_by_what_they_are_for():
    """The store's keep their meaning with and without prefix, in any case; others are dropped."""
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


def test_retries_that_are_no_numbers_are_left_alone():
    """As the oracle does."""
    assert {} == split_options({"client_max_retries": "many"}, *TABLE["s3"][1:])[2]


def test_the_environment_says_what_options_do_not(monkeypatch):
    """Of the HTTP client, under the prefix of the store; an option has the last word."""
    monkeypatch.setenv("AWS_ALLOW_HTTP", "maybe")
    location = parse_uri("s3://bucket/x")
    with pytest.raises(DataRefused, match="maybe"):
        client_of(location, store_options({"aws_region": "us-east-1"}))
    for key in ("allow_http", "aws_allow_http"):
        client_of(location, store_options({"aws_region": "us-east-1", key: "true"}))


@pytest.mark.parametrize("key", ["allow_http", "timeout"])
def test_an_option_that_means_nothing_is_refused(key):
    """The error names the bucket and the value."""
    options = store_options({"aws_region": "us-east-1", key: "maybe"})

    with pytest.raises(DataRefused, match="maybe"):
        client_of(parse_uri("s3://bucket/x"), options)


@pytest.mark.parametrize("scheme", sorted(TABLE))
def test_every_key_is_one_that_the_client_knows(scheme):
    """No option of ours is unknown to the library, whatever it thinks of its value."""
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
    """The account of a URI of Azure is taken from it; one client serves the same options."""
    options = store_options(
        {"account_key": "aGVsbG8=", "google_skip_signature": "true"}
        | ({"account_name": "account"} if uri.startswith("az") else {})
    )
    client = client_of(parse_uri(uri), options)

    assert client is client_of(parse_uri(uri), options)
    if not uri.startswith("gs"):
        assert 'account_name="account"' in repr(client)
