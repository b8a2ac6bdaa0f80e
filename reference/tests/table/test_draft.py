"""Files of a version that is not committed yet."""

import pytest
from lanceref.storage import LocalStore
from lanceref.storage.protocol import Draft


@pytest.fixture
def store(tmp_path):
    """Two files."""
    made = LocalStore(tmp_path)
    for name in "ab":
        made.put(name, b"1")
    return made


def _fail(draft):
    with pytest.raises(KeyError), draft:
        raise KeyError


def test_files_go_after_an_error(store):
    """Of any class; those that were handed over stay, and one that is gone is no matter."""
    draft = Draft([(store, "a")])
    kept = draft.hand_over()
    draft.add((store, "b"), (store, "c"))
    _fail(draft)

    assert [(store, "a")] == kept
    assert ["a"] == list(store.list(""))


def test_files_stay_without_one(store):
    """The end of a block says nothing about a later one."""
    draft = Draft([(store, "a")])
    with draft:
        pass
    assert ["a", "b"] == list(store.list(""))
    _fail(draft)
    assert ["b"] == list(store.list(""))
