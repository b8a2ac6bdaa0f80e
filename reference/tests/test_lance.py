"""Names of pylance's compiled module."""

from __future__ import annotations

import pyarrow as pa
import pylanceref.lance
import pytest

from .sql.written import write


@pytest.mark.parametrize("name", pylanceref.lance.__all__)
def test_every_name_is_there(name):
    """What it lists."""
    assert getattr(pylanceref.lance, name) is not None


def test_a_new_table_needs_no_migration(tmp_path):
    """Unless its fragments say less than they should."""
    dataset = write(pa.table({"i": [1, 2]}), tmp_path)

    assert not pylanceref.lance.manifest_needs_migration(dataset)
    dataset._snapshot.manifest.message.fragments[0].physical_rows = 0
    assert pylanceref.lance.manifest_needs_migration(dataset)
    dataset._snapshot.manifest.message.fragments[0].physical_rows = 2
    dataset._snapshot.manifest.message.fragments[0].deletion_file.read_version = 1
    assert pylanceref.lance.manifest_needs_migration(dataset)


@pytest.mark.oracle
@pytest.mark.parametrize("name", pylanceref.lance.__all__)
def test_pylance_has_every_name(name):
    """In the same place."""
    import lance.lance

    assert hasattr(lance.lance, name)
