"""Real tables: every data set that the vega_datasets package ships, written by the oracle."""

import pyarrow as pa
import pyarrow.compute
import pylanceref
import pytest

local_data = pytest.importorskip("vega_datasets").local_data
NAMES = local_data.list_datasets()


def _table(name: str) -> pa.Table:
    frame = getattr(local_data, name.replace("-", "_"))()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.append_column("row", pa.array(range(len(table)), pa.int64()))


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("name", NAMES)
def test_a_real_table_reads_back_equal(name, version, tmp_path):
    """Written in three fragments, some rows deleted, a column added: equal by scan and by take."""
    import lance

    table = _table(name)
    uri = str(tmp_path / "table.lance")
    dataset = lance.write_dataset(
        table, uri, data_storage_version=version, max_rows_per_file=-(-len(table) // 3)
    )
    dataset.delete("row % 5 = 3")
    dataset.add_columns({"twice": "row * 2"})
    kept = table.filter(pa.array([row % 5 != 3 for row in range(len(table))]))
    wanted = kept.append_column("twice", pa.compute.multiply(kept["row"], 2))
    ours = pylanceref.dataset(uri)

    assert wanted.schema.remove_metadata() == ours.schema.remove_metadata()
    assert wanted.equals(ours.to_table())
    assert len(wanted) == ours.count_rows()
    picks = [len(wanted) - 1, 0, len(wanted) // 2, len(wanted) // 2 - 1]
    assert wanted.take(picks).equals(ours.take(picks))
    columns = ["twice", table.column_names[0]]
    assert wanted.select(columns).equals(ours.scanner(columns=columns).to_table())
