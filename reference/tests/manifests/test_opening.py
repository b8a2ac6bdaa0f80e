"""Opening a table: which manifest store its URI and options name."""

from __future__ import annotations

import pytest
from lanceref.core.errors import DataRefused
from lanceref.storage import LocalStore, store_options
from lanceref.storage.manifests.opening import ManifestedStore, open_table


def test_without_one_the_store_itself_decides(tmp_path):
    """A folder is a folder."""
    assert isinstance(open_table(tmp_path), LocalStore)


def test_an_option_names_an_sqlite_file(tmp_path):
    """For a table anywhere."""
    options = {"manifest_store": f"sqlite://{tmp_path}/m.db"}
    table = open_table(tmp_path / "t", store_options(options))

    assert isinstance(table, ManifestedStore)
    assert table.put_if_absent("_versions/1.manifest", b"x")
    assert (tmp_path / "m.db").is_file()


def test_a_uri_names_a_dynamodb_table(server):
    """Its query belongs to the root."""
    uri = server.uri("s3+ddb")

    assert uri == open_table(uri, store_options(server.options)).root


@pytest.mark.parametrize("query", ["", "?ddbTableName=", "?table=T", "?ddbTableName=T&x=1"])
def test_another_query_is_refused(server, query):
    """There must be the name of a table, and nothing else."""
    with pytest.raises(DataRefused, match=r"s3\+ddb"):
        open_table(f"s3+ddb://bucket/t{query}", store_options(server.options))


def test_only_one_may_decide(server, tmp_path):
    """Neither a lock nor another manifest store beside DynamoDB; an unknown one is refused."""
    uri, other = server.uri("s3+ddb"), {"manifest_store": "sqlite:///x"}
    with pytest.raises(DataRefused, match="mutually exclusive"):
        open_table(uri, store_options(server.options, None, lambda version: None))
    with pytest.raises(DataRefused, match="mutually exclusive"):
        open_table(uri, store_options(server.options | other))
    with pytest.raises(DataRefused, match="sqlite://"):
        open_table(tmp_path, store_options({"manifest_store": "etcd://x"}))
