"""The manifest that follows from a transaction."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import AppendRefused
from lanceref.core.file_versions import V0_1, V2_1, V2_2
from lanceref.file.arrow_schema import schema_of
from lanceref.transactions.apply import encode_next
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.transaction import new_append, new_overwrite

from tests.table import manifests
from tests.transactions.versions import NOWHERE

SCHEMA = schema_of(pa.schema({"a": pa.int64()}, metadata={"k": "v"}))


def _files(*counts, **words):
    fragments = []
    for count in counts:
        one = manifests.minimal(fragments=[manifests.fragment(0, manifests.data_file(**words))])
        one.fragments[0].physical_rows = count
        fragments.append(one.fragments[0])
    return fragments


def _created(*counts, stable=False, version=V2_2):
    staged = Staged(new_overwrite(0, _files(*counts), SCHEMA), SCHEMA, version, stable)
    return manifests.parse(encode_next(None, staged, NOWHERE))


def _appended(before, *counts, **words):
    staged = Staged(new_append(before.version, _files(*counts, **words)), SCHEMA, V2_2)
    return manifests.parse(encode_next(before, staged, NOWHERE))


def test_a_table_begins_at_version_1():
    """Fragments from 0 on, the schema with its metadata, no flags."""
    made = _created(3, 4)

    assert 1 == made.version
    assert [0, 1] == [fragment.id for fragment in made.fragments]
    assert 1 == made.message.max_fragment_id
    assert ("2.2", 0) == (made.storage_version, made.message.reader_feature_flags)
    assert SCHEMA == made.schema
    assert made.message.transaction_file == f"0-{made.transaction.uuid}.txn"


def test_a_table_without_rows_has_no_fragment_mark():
    """The mark begins with the first fragment."""
    made = _created()

    assert not made.message.HasField("max_fragment_id")
    assert 0 == _appended(made, 5).fragments[0].id


def test_an_append_keeps_and_adds():
    """Ids go on from the highest ever used, what was there stays as it was."""
    before = _created(3)
    after = _appended(_appended(before), 4, 5)

    assert 3 == after.version
    before.message.fragments[0].files[0].file_size_bytes = 1000
    assert before.message.fragments[0] == after.message.fragments[0]
    assert [0, 1, 2] == [fragment.id for fragment in after.fragments]


def test_an_overwrite_replaces_but_never_reuses_ids():
    """Config stays; schema, metadata and indices are those of the overwrite."""
    before = _created(3, 4)
    before.message.config["c"] = "d"
    other = schema_of(pa.schema({"b": pa.string()}))
    staged = Staged(new_overwrite(1, _files(9, file_minor_version=1), other), other, V2_1)

    after = manifests.parse(encode_next(before, staged, NOWHERE))

    assert [2] == [fragment.id for fragment in after.fragments]
    assert other == after.schema
    assert ("2.1", {"c": "d"}, 8) == (
        after.storage_version,
        dict(after.message.config),
        after.message.writer_feature_flags,
    )


@given(st.lists(st.lists(st.integers(1, 9), max_size=3), min_size=1, max_size=4))
def test_row_ids_are_given_out_once(appends):
    """In a stable table every row has the next id, and the version that brought it."""
    made = _created(2, stable=True)
    for counts in appends:
        made = _appended(made, *counts)

    rows = 2 + sum(sum(counts) for counts in appends)
    assert rows == made.message.next_row_id == sum(f.physical_rows for f in made.fragments)
    assert 2 == made.message.reader_feature_flags == made.message.writer_feature_flags
    assert all(f.message.inline_row_ids for f in made.fragments)


def test_files_of_another_version_raise_the_flag():
    """2.1 in a table of 2.2 sets 256 for good; the table's own version stays."""
    mixed = _appended(_created(1), 1, file_minor_version=1)
    after = _appended(mixed, 1)

    assert (256, 256) == (after.message.reader_feature_flags, after.message.writer_feature_flags)
    assert "2.2" == after.storage_version


@pytest.mark.parametrize(("version", "words"), [(V0_1, (2, 2)), (V2_2, (0, 2))])
def test_old_and_new_files_do_not_mix(version, words):
    """0.1 stands alone."""
    before = _created(version=version)
    major, minor = words

    with pytest.raises(AppendRefused, match="cannot be mixed"):
        _appended(before, 1, file_major_version=major, file_minor_version=minor)


@pytest.mark.parametrize(("flags", "version"), [(0, V0_1), (4, V2_2)])
def test_a_manifest_without_a_name_says_its_version_by_a_flag(flags, version):
    """Very old tables; the flag is one for writers."""
    message = manifests.minimal(data_format=None, writer_feature_flags=flags)

    assert version == storage_version_of(message)
