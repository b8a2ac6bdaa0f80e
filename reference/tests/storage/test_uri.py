"""URI: taken apart and put together again."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import NotFound
from lanceref.storage import above, is_local, joined, local_path, name_of_uri
from lanceref.storage.uri import Location, parse_uri


def test_a_uri_is_taken_apart():
    """Its path is decoded and has no slash at its ends."""
    assert Location("s3+ddb", "b", "x y/t", "q=1") == parse_uri("s3+ddb://b/x%20y/t/?q=1")


def test_an_unknown_scheme_is_not_found():
    """The message says which there are."""
    with pytest.raises(NotFound, match=r"(?s)'gopher'.*s3\+ddb"):
        parse_uri("gopher://x/y")


def test_local_places_have_paths():
    """With and without a scheme; another scheme has none."""
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
    """A query follows the whole path."""
    if "://" in root:
        below = below.replace("?", "_")
    longer = joined(root, below)

    assert root == above(longer, below)
    assert root.partition("?")[2] == longer.partition("?")[2] or "://" not in root
    assert above(longer, "other/" + below) is None


def test_the_name_of_a_uri_is_its_last_part():
    """Without its query."""
    assert "t" == name_of_uri("s3+ddb://b/x/t?ddbTableName=T") == name_of_uri("/x/t")
