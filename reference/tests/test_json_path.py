"""JSON paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import QueryFailed
from lanceref.json.json_path import member_path, members_of, parse_path, select

DOCUMENT = {"k": [10, {"a": 1}, [7, 8], {"a": 2}], "o": {"a": {"b": 3}, "0": 9}, "1": 5}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", [DOCUMENT]),
        ("$", [DOCUMENT]),
        ("$.1", [5]),
        ("k[0]", [10]),
        (".k[0]", [10]),
        ("$ . k [ 0 ] ", [10]),
        ('$["k"][1]["a"]', [1]),
        ('$."k"[last]', [{"a": 2}]),
        ("$:k[last-1]", [[7, 8]]),
        ("$.k[last - 1]", [[7, 8]]),
        ("$.k[0,2]", [10, [7, 8]]),
        ("$.k[1 to 2, 0]", [{"a": 1}, [7, 8], 10]),
        ("$.k[2 to last]", [[7, 8], {"a": 2}]),
        ("$.k[5 to 1]", []),
        ("$.k[-1]", []),
        ("$.k[9]", []),
        ("$.k[*].a", [1, 2]),
        ("$.o[*].a", [{"b": 3}]),
        ("$.o.*", [{"b": 3}, 9]),
        ("$.k.*", []),
        ("$.k.a", []),
        ("$.o[0]", []),
        ("$.o.**", [DOCUMENT["o"], {"b": 3}, 3, 9]),
    ],
)
def test_paths_find_values(path, found):
    """A step finds nothing where it does not fit; `[*]` of no array is that itself."""
    assert found == select(DOCUMENT, parse_path(path))


@pytest.mark.parametrize(
    "path", ["$..k", "$.", "$k", "$.k[0", "$.k.", "$['k']", "@.k", "$.k[?(@)]"]
)
def test_other_texts_are_no_paths(path):
    """The error names the path."""
    with pytest.raises(QueryFailed, match="Invalid JSONPath"):
        parse_path(path)


@given(st.text(st.sampled_from('$.k:[]"0*, tolas-'), max_size=12))
def test_any_text_is_a_path_or_refused(text):
    """What is found is a list."""
    try:
        steps = parse_path(text)
    except QueryFailed:
        return
    assert isinstance(select(DOCUMENT, steps), list)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("a", ("a",)),
        ("$.a.b", ("a", "b")),
        ('$["a b"]:c', ("a b", "c")),
        ("$", None),
        ("", None),
        ("a[0]", None),
        ("a.*", None),
        ("$.a.0", None),
        (r'$."a\"b"', None),
        ("..a", None),
    ],
)
def test_members_that_a_path_leads_through(path, names):
    """A number may be that of an element, and what is no path leads nowhere."""
    assert members_of(path) == names


def test_members_are_no_column():
    """No column has such a name."""
    assert member_path("s.j", ("a", "b")) == "s.j\0a\0b"
