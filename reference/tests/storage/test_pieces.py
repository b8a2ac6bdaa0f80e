"""Sources in memory, and copies between stores."""

import pytest
from lanceref.core.errors import NotFound
from lanceref.storage import LocalStore, copy_object


def test_an_object_is_renamed_and_copied(tmp_path):
    """A missing one cannot be; a copy that fails leaves nothing."""
    store = LocalStore(tmp_path)
    store.put("one", b"12")
    store.rename("one", "two")
    copy_object(store.open("two"), store, "deep/three")

    assert b"12" == bytes(store.open("deep/three").read(0, 9))
    with pytest.raises(NotFound):
        store.rename("one", "four")

    class Broken:
        size = 5

        def read(self, offset, size):
            raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        copy_object(Broken(), store, "five")
    assert not store.exists("five")
    assert ["deep", "two"] == sorted(one.name for one in tmp_path.iterdir())
