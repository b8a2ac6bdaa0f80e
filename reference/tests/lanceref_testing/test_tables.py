"""Random tables."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3
from lanceref_testing.tables import random_sample, tables


@pytest.mark.parametrize("version", [V2_0, V2_1, V2_2, V2_3])
def test_a_seed_gives_the_same_table_again(version):
    """Samples are reproducible, with knobs, batches and labels."""
    for seed in range(20):
        first, again = random_sample(seed, version), random_sample(seed, version)

        assert first.table.schema.equals(again.table.schema, check_metadata=True)
        assert _bytes(first.table) == _bytes(again.table)
        assert (first.batch_rows, first.cache_bytes) == (again.batch_rows, again.cache_bytes)
        assert first.labels == again.labels


def _bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


@settings(deadline=None, max_examples=30)
@given(tables(V2_2, max_depth=2))
def test_tables_are_valid_arrow(sample):
    """Every sample is a valid table with labels for its types."""
    sample.table.validate(full=True)

    assert any(label.startswith("type ") for label in sample.labels)
    assert any(label.startswith("depth ") for label in sample.labels)


def test_knobs_are_field_metadata():
    """Some columns carry metadata that tells a writer how to store them."""
    fields = [field for seed in range(60) for field in random_sample(seed, V2_1).table.schema]
    keys = {key for field in fields for key in field.metadata or {}}

    assert {b"packed", b"lance-encoding:compression", b"lance-encoding:bss"} <= keys
