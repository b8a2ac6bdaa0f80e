"""Statistics of a dataset."""

import pyarrow as pa
import pylanceref
import pytest

ROWS = pa.table(
    {
        "a": pa.array(range(3000)),
        "s": pa.array([{"x": n, "y": f"text {n}"} for n in range(3000)]),
        "l": pa.array([[n, n + 1] for n in range(3000)]),
    }
)


def _made(module, root, version="2.1"):
    made = module.write_dataset(ROWS, root, max_rows_per_file=1000, data_storage_version=version)
    made.delete("a < 10")
    return module.dataset(root)


def test_rows_and_fragments_are_counted(tmp_path):
    """A fragment of fewer rows than asked is small."""
    stats = _made(pylanceref, str(tmp_path)).stats
    counts = {"num_deleted_rows": 10, "num_fragments": 3, "num_small_files": 3}
    assert counts == stats.dataset_stats()
    assert {**counts, "num_small_files": 0} == stats.dataset_stats(max_rows_per_group=1000)


def test_bytes_belong_to_fields(tmp_path):
    """Those below a field are counted for themselves; a 0.1 table has none."""
    made = _made(pylanceref, str(tmp_path / "2"))
    sizes = {one.id: one.bytes_on_disk for one in made.stats.data_stats().fields}
    assert [field.id for field in made._snapshot.manifest.schema.flat()] == sorted(sizes)
    assert 0 == sizes[1]
    assert min(sizes[0], sizes[2], sizes[3]) > 0
    old = pylanceref.write_dataset(
        ROWS.select(["a"]), str(tmp_path / "0"), data_storage_version="legacy"
    )
    assert [0] == [one.bytes_on_disk for one in old.stats.data_stats().fields]


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_the_oracle_counts_the_same(tmp_path, version):
    """On what it wrote itself."""
    import lance

    theirs = _made(lance, str(tmp_path), version)
    ours = pylanceref.dataset(str(tmp_path))
    assert theirs.stats.dataset_stats() == ours.stats.dataset_stats()
    wanted = {one.id: one.bytes_on_disk for one in theirs.stats.data_stats().fields}
    assert wanted == {one.id: one.bytes_on_disk for one in ours.stats.data_stats().fields}
