"""What every version has in common."""

import pytest
from lanceref.core.errors import AppendRefused
from lanceref.transactions.manifest_builder import WRITER

from tests.table import manifests
from tests.transactions import versions


def test_a_file_whose_columns_are_all_replaced_goes():
    """L.table.datafile.all-replaced: only a file that holds something is listed."""
    fragment = manifests.fragment(
        0, versions.files(-2, -2, path="old.lance"), versions.files(0, 1, path="new.lance")
    )
    made = versions.after(versions.table(1), update={"updated_fragments": [fragment]})

    assert ["new.lance"] == [file.path for file in made.message.fragments[0].files]


def test_fragments_stand_in_the_order_of_their_ids():
    """A reserved id may be lower than one that was given out later."""
    reserved = manifests.fragment(1, versions.files(0))
    made = versions.after(versions.table(4), delete={"deleted_fragment_ids": [1]})
    made = versions.after(made, append={"fragments": [reserved]})

    assert [0, 1, 2, 3] == versions.ids(made)


def test_flags_stay_that_the_fragments_do_not_tell():
    """Mixed versions and managed blobs, even after a restore."""
    flags = {"reader_feature_flags": 256 | 16384, "writer_feature_flags": 256 | 16384}
    made = versions.after(versions.table(**flags), reserve_fragments={"num_fragments": 1})

    assert 256 | 16384 == made.message.reader_feature_flags


def test_files_of_0_1_do_not_mix_with_others():
    """AppendRefused, and nothing is made."""
    old = versions.files(0)
    old.update(file_major_version=0, file_minor_version=2)
    with pytest.raises(AppendRefused):
        versions.after(versions.table(), append={"fragments": [manifests.fragment(0, old)]})


def test_a_table_that_mixes_files_already_is_left_alone():
    """A commit to it is refused, with the advice to go back to an older version."""
    old = versions.files(0)
    old.update(file_major_version=0, file_minor_version=2)
    fragments = [manifests.fragment(0, old), manifests.fragment(1, versions.files(0))]
    early = {"file_format": "lance", "version": "0.1"}
    written = {"library": "lance", "version": "0.16.0"}
    mixed = versions.table(fragments=fragments, data_format=early, writer_version=written)

    with pytest.raises(AppendRefused, match=r"a mixture .*Detected both 0\.1 and 2"):
        versions.after(mixed, reserve_fragments={"num_fragments": 1})


def test_the_stated_version_is_not_mistrusted():
    """D.table.writer-library: before 0.8.15, early readers open all indices on every commit."""
    made = versions.after(versions.table(1), delete={"deleted_fragment_ids": [0]})
    stated = made.message.writer_version

    assert "lanceref" == stated.library == WRITER.library
    assert (0, 8, 15) <= tuple(map(int, stated.version.split(".")))
