"""Texts for people: the exact lines, and those of pylance."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pylanceref.debug import format_fragment, format_manifest, format_schema, list_transactions

from .sql.written import write

SCHEMA = pa.schema(
    [
        pa.field("s", pa.struct([("a", pa.int32()), ("l", pa.list_(pa.float32()))])),
        pa.field("t", pa.string(), nullable=False, metadata={"k": 'a "word"'}),
        pa.field("p", pa.int64(), False, {"lance-schema:unenforced-primary-key": "true"}),
    ],
    metadata={"m": "n"},
)
ROW = {"s": {"a": 1, "l": [1.0]}, "t": "x", "p": 1}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A row, then another, then one less, then an index."""
    path = tmp_path_factory.mktemp("debug")
    dataset = write(pa.Table.from_pylist([ROW] * 2, schema=SCHEMA), path)
    dataset.insert(pa.Table.from_pylist([ROW], schema=SCHEMA))
    dataset.update_config({"key": "value"})
    return dataset


def test_a_field_line_by_line(tmp_path):
    """Each part below its name, a step further in."""
    text = format_schema(write(pa.table({"a": pa.array([1], pa.int8())}), tmp_path))

    assert text.splitlines()[:9] == [
        "Schema {",
        "    fields: [",
        "        Field {",
        '            name: "a",',
        "            id: 0,",
        "            parent_id: -1,",
        "            logical_type: LogicalType(",
        '                "int8",',
        "            ),",
    ]
    assert text.endswith("    ],\n    metadata: {},\n}")


def test_a_manifest_has_its_schema_first(dataset):
    """The fragments and the config are told too."""
    text = format_manifest(dataset)

    assert text.startswith("Manifest {\n    schema: Schema {\n")
    assert "    fragments: [\n        Fragment {\n            id: 0," in text
    assert '    config: {\n        "key": "value",\n    },\n' in text
    assert "schema_metadata" not in text


def test_a_file_is_shown_with_its_part_of_the_schema(dataset):
    """A struct of which it holds one field has that one."""
    fragment = dataset.get_fragments()[0].metadata
    fragment.files[0].fields = fragment.files[0].fields[:1]
    text = format_fragment(fragment, dataset)

    assert 'name: "s"' in text and 'name: "a"' in text
    assert 'name: "l"' not in text and 'name: "t"' not in text
    assert "major_version: 2,\n" in text


def test_transactions_newest_first(dataset):
    """Each with its operation by name; no more than asked for."""
    found = list_transactions(dataset)

    assert all(one.startswith("Transaction {\n    read_version: ") for one in found)
    named = [one.split("operation: ")[1].split(" ")[0] for one in found]
    assert ["UpdateConfig", "Append", "Overwrite"] == named
    assert found[:2] == list_transactions(dataset, max_transactions=2)
    assert 'key: "key",\n' in found[0]


@pytest.mark.oracle
def test_schemas_and_fragments_are_shown_as_by_pylance(dataset):
    """Letter by letter."""
    import lance
    import lance.debug as theirs

    other = lance.dataset(dataset.uri)
    for ours, own in zip(dataset.get_fragments(), other.get_fragments(), strict=True):
        assert theirs.format_fragment(own.metadata, other) == format_fragment(
            ours.metadata, dataset
        )
    assert theirs.format_schema(other) == format_schema(dataset)
