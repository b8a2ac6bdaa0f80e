"""The 0.1 part of the differential campaign."""

import pyarrow as pa
import pytest
from lance_conformance.campaigns import legacy
from lance_conformance.campaigns.legacy import legacy_differences
from lanceref.core.file_versions import V0_1
from lanceref_testing import Sample

pytestmark = pytest.mark.oracle


def _sample(array: pa.Array) -> Sample:
    return Sample(pa.table({"c": array}), V0_1, 10, None, frozenset())


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, None, 3]),
        pa.array([], pa.int8()),
        pa.array([[1], [2]], pa.list_(pa.field("element", pa.int8(), False))),
    ],
)
def test_what_the_oracle_wrote_differs_in_nothing(array, tmp_path):
    """Nulls that are lost are no difference, nor is what the oracle cannot read."""
    assert (None, []) == legacy_differences(_sample(array), tmp_path / "t", 1)


def test_what_the_oracle_refuses_is_told(tmp_path):
    """A dictionary of booleans has no encoding."""
    array = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([True]))
    refused, _ = legacy_differences(_sample(array), tmp_path / "t", 1)
    assert "do not support data type Boolean" in refused


def test_other_rows_are_told(tmp_path, monkeypatch):
    """Where the oracle reads 2, the file has 3."""
    monkeypatch.setattr(legacy, "_read_back", lambda path: pa.table({"c": [1, 2]}))
    _, found = legacy_differences(_sample(pa.array([1, 3])), tmp_path / "t", 1)
    assert any(told.startswith("dataset scan: ") for told in found)


def test_a_file_that_differs_is_told_with_the_byte(tmp_path, monkeypatch):
    """Another signature is another file."""
    monkeypatch.setattr(legacy.table_pb2.Manifest, "WriterVersion", _other_signature())
    _, found = legacy_differences(_sample(pa.array([1, 3])), tmp_path / "t", 1)
    assert 1 == len(found)
    assert found[0].startswith("the file differs at byte ")


def _other_signature():
    kind = legacy.table_pb2.Manifest.WriterVersion
    return lambda **_: kind(library="lance", version="0.0.0")
