"""Makers: what the oracle writes holds the table the recipe was given."""

import pyarrow as pa
import pytest
from lance_conformance.recipes.model import DATA
from lance_conformance.recipes.oracle_made import column, dataset, file, write
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

pytestmark = pytest.mark.oracle

VALUES = pa.array([0, 1, None, 2**31 - 1], pa.int32())


@pytest.mark.parametrize(
    ("version", "pair"), [("2.0", (0, 3)), ("2.1", (2, 1)), ("2.2", (2, 2)), ("2.3", (2, 3))]
)
def test_a_file_holds_its_table_in_its_version(version, pair):
    """The reader tells the words of the version; the table is the one given."""
    made = file(column(VALUES), version, batches=2)()
    reader = LanceFileReader(DATA, source=BytesSource(made.files[DATA], DATA))
    metadata = reader.metadata()

    assert made.table == reader.read_all().to_table()
    assert pair == (metadata.major_version, metadata.minor_version)


def test_knobs_become_field_metadata():
    """Underscores are hyphens there."""
    field = column(VALUES, compression_level="3").schema.field("c")

    assert {b"lance-encoding:compression-level": b"3"} == field.metadata
    assert column(VALUES).schema.field("c").metadata is None


def test_schema_metadata_and_global_buffers_are_stored():
    """Both are read back."""
    made = file(column(VALUES), "2.1", global_buffers=(b"hello",), schema_metadata={"who": "me"})()
    reader = LanceFileReader(DATA, source=BytesSource(made.files[DATA], DATA))

    assert b"hello" == bytes(reader.read_global_buffer(1))
    assert {b"who": b"me"} == made.table.schema.metadata


def test_a_dataset_keeps_only_the_files_chosen():
    """Names are relative to the table."""

    def steps(uri: str) -> pa.Table:
        write(column(VALUES), uri)
        return column(VALUES)

    made = dataset(steps, lambda name: name.startswith("data/"))()

    assert made.files
    assert all(name.startswith("data/") and name.endswith(".lance") for name in made.files)
