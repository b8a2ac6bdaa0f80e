"""Data files that somebody else wrote."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import AppendRefused, NotFound
from lanceref.operations.new_rows import external_file
from pylanceref.file import LanceFileWriter
from pylanceref.fragment import DataFile, LanceFragment
from pylanceref.operation import LanceOperation

ROWS = pa.table({"a": [1, 2], "s": [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]})


@pytest.fixture
def made(tmp_path):
    """A table, and beside its file others: whole, of one column, of a strange one."""
    made = pylanceref.write_dataset(ROWS, tmp_path)
    for name, rows in (
        ("whole", ROWS),
        ("part", ROWS.select(["a"])),
        ("odd", pa.table({"zz": [1]})),
    ):
        with LanceFileWriter(str(tmp_path / "data" / f"{name}.lance")) as writer:
            writer.write_batch(rows)
    return made


def test_a_file_is_described_by_the_fields_it_holds(made):
    """Ids by names, columns by their order."""
    found = external_file(made._snapshot, "part.lance")
    assert (2, [0], [0]) == (
        found.num_rows,
        list(found.entry.fields),
        list(found.entry.column_indices),
    )
    held = made.get_fragments()[0].data_files()[0]
    assert held == DataFile.create(made, held.path)


def test_a_whole_file_becomes_a_fragment(made):
    """Its rows are there after a commit."""
    fragment = LanceFragment.create_from_file("whole.lance", made, 3)
    assert (3, 2) == (fragment.id, fragment.physical_rows)
    after = pylanceref.LanceDataset.commit(made.uri, LanceOperation.Append([fragment]), 1)
    assert pa.concat_tables([ROWS, ROWS]).equals(after.to_table().combine_chunks())


def test_other_files_are_refused(made):
    """No such file, no such field, or not every field."""
    with pytest.raises(NotFound, match="none"):
        external_file(made._snapshot, "none.lance")
    with pytest.raises(AppendRefused, match="zz"):
        DataFile.create(made, "odd.lance")
    with pytest.raises(AppendRefused, match="missing=\\[s, x, y\\]"):
        external_file(made._snapshot, "part.lance", whole=True)


@pytest.mark.oracle
def test_the_oracle_describes_alike(made):
    """The same values."""
    import lance

    theirs = lance.dataset(made.uri)
    for name in ("whole.lance", "part.lance"):
        wanted = lance.fragment.DataFile.create(theirs, name)
        assert repr(wanted) == repr(DataFile.create(made, name))
