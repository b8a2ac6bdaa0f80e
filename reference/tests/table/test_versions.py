"""Versions of a table, opened."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, NotFound
from lanceref.storage import LocalStore
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.manifest import open_named, open_version

CTX = Context("t")


@pytest.fixture
def store(tmp_path):
    """A table of two versions."""
    for number in range(2):
        pylanceref.write_dataset(pa.table({"a": [number]}), tmp_path, mode="overwrite")
    return LocalStore(tmp_path)


def test_a_version_is_found_by_number(store):
    """The latest without one; a missing one is not found."""
    assert [1, 2, 2] == [open_version(store, number, CTX).version for number in (1, 2, None)]
    with pytest.raises(NotFound):
        open_version(store, 3, CTX)


def test_errors_name_the_manifest(store, tmp_path):
    """A broken one is reported under its own name, not that of the table."""
    name = find_version(store, CTX, 1)
    path = tmp_path / name.path
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(FormatError) as error:
        open_named(store, name, CTX)

    assert name.name == error.value.place.file
