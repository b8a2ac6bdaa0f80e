"""Damage: mutations, regions of a file, and undetectable changes."""

from pathlib import Path
from random import Random

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.campaigns.damage.tables.messages import edited, latest
from lanceref.core.spans import Span
from lanceref_testing.anatomy import PADDING, PAGES, Anatomy, is_undetectable
from lanceref_testing.mutations import mutations


def _anatomy(column: pa.Array, folder: Path) -> Anatomy:
    """Return the anatomy of a 2.1 file with one column."""
    lanceref.write_file(folder / "few.lance", pa.table({"c": column}), "2.1")
    return Anatomy("few.lance", (folder / "few.lance").read_bytes())


@pytest.fixture(scope="module")
def anatomy(tmp_path_factory: pytest.TempPathFactory) -> Anatomy:
    """A file of six numbers."""
    return _anatomy(pa.array([1, 2, 3, 4, 5, 60], pa.int32()), tmp_path_factory.mktemp("anatomy"))


def test_every_byte_has_a_region(anatomy):
    """The last forty bytes are the footer, two tables and the schema lie before it."""
    size = len(anatomy.data)

    assert size == len(anatomy.owners)
    assert {"footer"} == {anatomy.region(at) for at in range(size - 40, size)}
    assert "global buffer table" == anatomy.region(size - 41)
    assert {"column table", "column metadata", "schema buffer", PAGES, PADDING} <= {
        anatomy.region(at) for at in range(size)
    }


def test_only_values_and_padding_are_undetectable(anatomy):
    """A value byte is, a byte of an offset or size is not."""
    values = [at for at, owner in anatomy.owners.items() if owner.leaf.kind.endswith("[]")]
    padding = [at for at, owner in anatomy.owners.items() if owner.region == PADDING]

    assert values and padding
    assert anatomy.undetectable([values[0], padding[0]])
    assert not anatomy.undetectable([values[0], len(anatomy.data) - 20])
    assert not anatomy.undetectable([])


KINDS = {
    *("truncation", "byte flip", "huge numbers", "page-buffer head", "zeroed region"),
    *("swapped buffers", "wrong magic", "wrong version", "appended bytes"),
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Anatomy:
    """A file of lists."""
    lists = [list(range(n, n + n % 5)) if n % 11 else None for n in range(2000)]
    return _anatomy(pa.array(lists, pa.list_(pa.int32())), tmp_path_factory.mktemp("mutations"))


def test_every_kind_occurs(parts):
    """Several hundred, each with a name of its own, and each changes the file."""
    made = mutations(parts, Random(1))

    assert KINDS == {mutation.kind for mutation in made}
    assert len(made) == len({mutation.name for mutation in made}) > 250
    assert all(mutation.apply(parts.data) != parts.data for mutation in made)


def test_a_seed_determines_mutations(parts):
    """The same seed damages the same bytes, another seed other bytes."""
    assert mutations(parts, Random(1)) == mutations(parts, Random(1))
    assert mutations(parts, Random(1)) != mutations(parts, Random(2))


@pytest.mark.parametrize(
    "kind", ["int32[]", "bitmap", "levels", "u16[]", "offsets u64[]", "zipped value", "lz4 block"]
)
def test_value_bytes_are_undetectable(kind):
    """Stored values, levels and offsets have no checksum."""
    assert is_undetectable(Span(0, 4, "x", kind), False)


@pytest.mark.parametrize("kind", ["u64", "u32", "chunk word", "proto tag", "magic", "padding"])
def test_sizes_and_offsets_are_detectable(kind):
    """Sizes, offsets and counts are checked against something else."""
    assert not is_undetectable(Span(0, 4, "x", kind), False)


def test_only_schema_facts_are_undetectable_among_message_fields():
    """A field name is; a field id is not, nor a name outside the schema."""
    assert is_undetectable(Span(0, 4, "name", "proto field"), True)
    assert not is_undetectable(Span(0, 4, "name", "proto field"), False)
    assert not is_undetectable(Span(0, 4, "id", "proto field"), True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table of two versions with an index."""
    table = pylanceref.write_dataset(pa.table({"id": [1, 2, 3]}), str(tmp_path / "table"))
    table.create_scalar_index("id", "BTREE")
    return tmp_path / "table"


def test_a_change_is_in_the_latest_version(root):
    """The previous version is unchanged."""
    with edited(latest(root)) as message:
        message.table_metadata["a"] = "b"

    with edited(latest(root)) as message:
        assert "b" == message.table_metadata["a"]
    assert {"a": "b"} == pylanceref.dataset(str(root)).metadata
    assert {} == pylanceref.dataset(str(root), version=1).metadata
