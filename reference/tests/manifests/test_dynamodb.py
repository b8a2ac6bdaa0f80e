"""DynamoDB manifest store: its items, and tables that cannot hold them."""

from __future__ import annotations

import builtins
import importlib
import sys

import pytest
from lanceref.core.errors import ExtraMissing, FormatError, StoreFailed
from lanceref.storage.manifests.dynamodb import DynamoManifests
from lanceref.storage.manifests.manifest_names import Record, name_of

from tests.object_server import TABLE, prefix_of

FIRST = Record(1, name_of(1, "V2").path, 7)


def test_an_item_has_the_attributes_of_the_layout(server):
    """The path holds the key; numbers are numbers."""
    uri = server.uri("s3+ddb")
    key = prefix_of(uri)
    DynamoManifests(TABLE, server.options).put_if_absent(key, FIRST)

    assert [
        {
            "base_uri": {"S": key},
            "version": {"N": "1"},
            "path": {"S": f"{key}/_versions/18446744073709551614.manifest"},
            "size": {"N": "7"},
            "committer": {"S": "lanceref"},
        }
    ] == server.items(uri)


def test_a_detached_version_is_not_the_latest(server):
    """Its number is greater than any other, and it is in no line of versions."""
    uri = server.uri("s3+ddb")
    manifests = DynamoManifests(TABLE, server.options)
    manifests.put_if_absent(prefix_of(uri), FIRST)
    detached = name_of(2**63 + 5, "detached")
    manifests.put_if_absent(prefix_of(uri), Record(detached.version, detached.path, 3))

    assert FIRST == manifests.latest(prefix_of(uri))


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("size", {"S": "7"}), ("size", {"N": "1.5"}), ("path", {"N": "5"}), ("path", None)],
)
def test_attributes_of_another_type_are_refused(server, attribute, value):
    """The error says what stands there."""
    uri = server.uri("s3+ddb")
    manifests = DynamoManifests(TABLE, server.options)
    manifests.put_if_absent(prefix_of(uri), FIRST)
    server.change(uri, 1, **{attribute: value})

    with pytest.raises(FormatError, match=attribute) as refused:
        manifests.latest(prefix_of(uri))
    assert "L.txn.store.record" == refused.value.clause


def test_an_e_tag_of_an_old_release_means_nothing(server):
    """Nor does any other attribute; a size may be missing."""
    uri = server.uri("s3+ddb")
    manifests = DynamoManifests(TABLE, server.options)
    manifests.put_if_absent(prefix_of(uri), FIRST)
    server.change(uri, 1, e_tag={"S": "x"}, size=None)

    assert Record(1, FIRST.path, None) == manifests.latest(prefix_of(uri))


def test_a_table_must_be_keyed_by_both(server):
    """Other keys are refused, and so is a table that is not there."""
    server.make_table("others", "uri", "version")

    with pytest.raises(StoreFailed, match="keyed by"):
        DynamoManifests("others", server.options)
    with pytest.raises(StoreFailed, match="no-such-table"):
        DynamoManifests("no-such-table", server.options)


def test_a_server_that_is_not_there_is_a_failure(server):
    """Not an error of the library."""
    options = {**server.options, "dynamodb_endpoint": "http://127.0.0.1:9"}

    with pytest.raises(StoreFailed, match=r"127\.0\.0\.1:9"):
        DynamoManifests(TABLE, {**options, "client_max_retries": "1"})


def test_without_the_package_the_extra_is_named(monkeypatch):
    """The error says what to install."""
    real = builtins.__import__

    def refusing(name, *arguments):
        if name.startswith("boto"):
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.delitem(sys.modules, "lanceref.storage.manifests.dynamodb")
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ExtraMissing, match=r"lance-conformance\[objectstore\]"):
        importlib.import_module("lanceref.storage.manifests.dynamodb")
