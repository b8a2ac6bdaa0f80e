"""Options: text of any case becomes what a load or save asks for."""

import pickle

import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from lanceref_spark.options import parse, reader_module

pytestmark = pytest.mark.spark


def test_options_are_parsed():
    """Numbers, flags and lists are read; what is not given has its default."""
    options = parse(
        {
            "path": "t.lance",
            "Version": "7",
            "columns": "a, b",
            "WITH_ROW_ID": "true",
            "storage.region": "us-east-1",
            "max_rows_per_file": "10",
        }
    )
    assert (options.uri, options.version, options.columns) == ("t.lance", 7, ("a", "b"))
    assert options.with_row_id and not options.with_row_address
    assert options.storage_options == {"region": "us-east-1"}
    assert options.files == {"max_rows_per_file": 10}
    assert (options.batch_size, options.filter, options.reader) == (8192, None, "reference")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "the path"),
        ({"path": "t", "verison": "1"}, "no such option: verison"),
        ({"path": "t", "version": "-1"}, "option version"),
        ({"path": "t", "batch_size": "0"}, "option batch_size"),
        ({"path": "t", "with_row_id": "yes"}, "one of false, true"),
        ({"path": "t", "ns": "round"}, "one of refuse, truncate"),
        ({"path": "t", "version": "1", "tag": "x"}, "exclude each other"),
    ],
)
def test_wrong_options_are_refused(given, text):
    """The refusal names the option."""
    with pytest.raises(QueryRefused, match=text):
        parse(given)


def test_keys_of_object_stores_are_named_and_not_said(monkeypatch):
    """A key is refused, and not repeated; one of the environment is in no pickle or text."""
    with pytest.raises(QueryRefused, match="env:NAME") as refused:
        parse({"path": "t", "storage.AWS_Secret_Access_Key": "hush"})
    assert "hush" not in str(refused.value)
    options = parse({"path": "t", "storage.aws_secret_access_key": "env:THE_KEY"})
    with pytest.raises(QueryRefused, match="THE_KEY"):
        assert options.storage_options
    monkeypatch.setenv("THE_KEY", "hush")
    assert options.storage_options == {"aws_secret_access_key": "hush"}
    assert b"hush" not in pickle.dumps(options)
    assert "hush" not in repr(options)


def test_the_reader_is_this_implementation():
    """Another name than that of an entry point is refused."""
    assert reader_module("reference") is pylanceref
    with pytest.raises(QueryRefused, match="no such reader"):
        reader_module("nobody")


@pytest.mark.oracle
def test_the_oracle_is_a_reader():
    """The entry point of the suite gives the oracle's module."""
    import lance

    assert reader_module("pylance") is lance
