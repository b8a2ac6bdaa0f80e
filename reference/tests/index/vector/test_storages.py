"""Types of storage."""

from __future__ import annotations

from lanceref.index.vector.vector_file import STORAGES


def test_every_type_has_its_name():
    """By which it is found."""
    assert STORAGES
    assert all(name == one.name for name, one in STORAGES.items())
