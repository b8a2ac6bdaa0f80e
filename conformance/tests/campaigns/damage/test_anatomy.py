"""Anatomy: regions, numbers, buffers and padding of undamaged files."""

import pyarrow as pa
import pytest
from lance_conformance.campaigns.damage.anatomy import PADDING, PAGES, Anatomy
from pylanceref.file import LanceFileWriter


@pytest.fixture(scope="module")
def anatomy(tmp_path_factory: pytest.TempPathFactory) -> Anatomy:
    """A 2.1 file with one column of six numbers."""
    path = tmp_path_factory.mktemp("anatomy") / "six.lance"
    table = pa.table({"c": pa.array([1, 2, 3, 4, 5, 60], pa.int32())})
    with LanceFileWriter(str(path), table.schema, version="2.1") as writer:
        writer.write_batch(table)
    return Anatomy(path.name, path.read_bytes())


def test_every_byte_has_a_region(anatomy):
    """The last forty bytes are the footer, two tables and the schema lie before it."""
    size = len(anatomy.data)

    assert size == len(anatomy.owners)
    assert {"footer"} == {anatomy.region(at) for at in range(size - 40, size)}
    assert "global buffer table" == anatomy.region(size - 41)
    assert {"column table", "column metadata", "schema buffer", PAGES, PADDING} <= {
        anatomy.region(at) for at in range(size)
    }


def test_bytes_of_several_regions_and_of_none_are_told(anatomy):
    """A cut damages no byte of its own."""
    size = len(anatomy.data)

    assert "footer" == anatomy.region_of([size - 1, size - 2])
    assert "several regions" == anatomy.region_of([size - 1, 0])
    assert "the file's length" == anatomy.region_of([])


def test_numbers_of_the_footer_and_of_the_tables(anatomy):
    """Three u64 and two u32 of the footer, two of each table's entry."""
    size = len(anatomy.data)
    footer = [(size - 40, 8), (size - 32, 8), (size - 24, 8), (size - 16, 4), (size - 12, 4)]

    assert footer == [word for word in anatomy.words if word[0] >= size - 40]
    assert [(size - 56, 8), (size - 48, 8)] == [
        word for word in anatomy.words if size - 56 <= word[0] < size - 40
    ]


def test_damage_of_one_leaf_has_its_name(anatomy):
    """Damage of several has none."""
    size = len(anatomy.data)

    assert "magic" == anatomy.leaf_of([size - 1, size - 4])
    assert "" == anatomy.leaf_of([size - 1, size - 5])
    assert "" == anatomy.leaf_of([])


def test_only_values_and_padding_change_unseen(anatomy):
    """A value byte does, the byte of a number that leads to others does not."""
    values = [at for at, owner in anatomy.owners.items() if owner.leaf.kind.endswith("[]")]
    padding = [at for at, owner in anatomy.owners.items() if owner.region == PADDING]

    assert values and padding
    assert anatomy.undetectable([values[0], padding[0]])
    assert not anatomy.undetectable([values[0], len(anatomy.data) - 20])
    assert not anatomy.undetectable([])


def test_page_buffers_hold_the_pages(anatomy):
    """Bytes of pages lie in buffers, and buffers hold pages and padding alone."""
    inside = {at for start, end in anatomy.buffers for at in range(start, end)}

    assert {at for at, owner in anatomy.owners.items() if owner.region == PAGES} <= inside
    assert {PAGES, PADDING} >= {anatomy.region(at) for at in inside}


def test_a_file_of_blobs_is_data():
    """It has no structure at all."""
    blobs = Anatomy("1.blob", b"abc")

    assert {"data"} == {blobs.region(at) for at in range(3)}
    assert blobs.undetectable([0, 1, 2])
    assert () == blobs.words
