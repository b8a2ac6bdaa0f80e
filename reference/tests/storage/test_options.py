"""Storage options: of a table and of its bases."""

import pytest
from lanceref.storage import store_options


def test_options_of_a_base_are_added_to_those_of_the_table():
    """A base without its own has those of the table; parameters for its path replace all."""
    options = store_options(
        {"a": "1", "b": "2", "base_3.b": "9", "base_x.c": "5"}, {"p": {"z": "7"}}
    )

    assert {"a": "1", "b": "2", "base_x.c": "5"} == options.own
    assert {"a": "1", "b": "9", "base_x.c": "5"} == options.of_base(3, "q").own
    assert options.own == options.of_base(4, "q").own
    assert {"z": "7"} == options.of_base(3, "p").own


@pytest.mark.parametrize(
    ("own", "bases", "lock"),
    [([], None, None), ({"a": 1}, None, None), ({}, {"p": {1: "a"}}, None), ({}, None, 5)],
)
def test_what_is_no_text_is_refused(own, bases, lock):
    """Neither keys nor values, nor a lock that cannot be called."""
    with pytest.raises(TypeError):
        store_options(own, bases, lock)
