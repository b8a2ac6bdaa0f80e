"""Restore."""

import pytest
from lanceref.core.errors import NotFound

from tests.table import manifests
from tests.transactions import versions


class _Older(versions.SizedPast):
    """A table with one older version."""

    def manifest(self, version):
        return versions.table(1, config={"k": "1"}, writer_feature_flags=8, next_row_id=3)


def test_the_content_of_an_older_version_comes_back():
    """Fragments and config of then; ids that were given out since are not given out again."""
    before = versions.table(4, next_row_id=40, version=5)
    made = versions.after(before, past=_Older(), restore={"version": 1})

    assert (6, [0], {"k": "1"}) == (made.version, versions.ids(made), dict(made.message.config))
    assert (3, 40) == (made.message.max_fragment_id, made.message.next_row_id)


def test_a_version_that_is_not_there_cannot_come_back():
    """NotFound."""
    with pytest.raises(NotFound):
        versions.after(manifests.parse(manifests.minimal()), restore={"version": 9})
