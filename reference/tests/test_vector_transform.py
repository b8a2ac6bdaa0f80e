"""An index made in steps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from pylanceref.file import LanceFileReader, LanceFileWriter
from pylanceref.indices import IndicesBuilder

VECTORS = np.random.default_rng(3).random((400, 8), np.float32)


@pytest.fixture
def builder(tmp_path):
    """Vectors in two fragments."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 8)
    rows = pa.table({"i": range(400), "v": vectors})
    return IndicesBuilder(pylanceref.write_dataset(rows, tmp_path, max_rows_per_file=200), "v")


@pytest.fixture
def models(builder):
    """Centroids and codewords of 4 bits."""
    ivf = builder.train_ivf(4, sample_rate=8, max_iters=3)
    return ivf, builder.train_pq(ivf, 4, sample_rate=8, max_iters=3, num_bits=4)


def test_steps_make_the_index_of_one_build(builder, models, tmp_path):
    """Each fragment is transformed alone; the rows found are those of a build by the models."""
    ivf, pq = models
    table, names = builder.dataset, []
    for number, fragment in enumerate(table.get_fragments()):
        builder.transform_vectors(ivf, pq, str(tmp_path / f"raw{number}"), [fragment])
        names += builder.shuffle_transformed_vectors(
            [f"raw{number}"], str(tmp_path), ivf, f"part{number}"
        )
    assert ["part0_0.lance", "part1_0.lance"] == names
    rows = LanceFileReader(str(tmp_path / names[0])).read_all().to_table()
    assert sorted(rows["__ivf_part_id"].to_pylist()) == rows["__ivf_part_id"].to_pylist()
    assert (200, pa.list_(pa.uint8(), 2)) == (len(rows), rows.schema.field("__pq_code").type)
    builder.load_shuffled_vectors(names, str(tmp_path), ivf, pq, "steps")
    assert 2 == table.index_statistics("steps")["num_indexed_fragments"]
    asked = {"column": "v", "q": VECTORS[5], "k": 10, "nprobes": 4}
    found = table.to_table(["i"], nearest=asked).to_pylist()
    table.drop_index("steps")
    table.create_index(
        "v",
        "IVF_PQ",
        num_partitions=4,
        num_sub_vectors=4,
        num_bits=4,
        ivf_centroids=ivf.centroids,
        pq_codebook=pq.codebook,
    )
    assert found == table.to_table(["i"], nearest=asked).to_pylist()
    table.validate()


def test_other_files_and_arguments_are_refused(builder, models, tmp_path):
    """Partitions that there are not, columns that are others, no fragments, no list."""
    ivf, pq = models
    folder = str(tmp_path)
    with pytest.raises(ValueError, match="non-empty"):
        builder.transform_vectors(ivf, pq, f"{folder}/raw", [])
    for call in (builder.shuffle_transformed_vectors, builder.load_shuffled_vectors):
        with pytest.raises(ValueError, match="list of strings"):
            call("raw", folder, ivf, pq)
    codes = pa.array([[1, 2]], pa.list_(pa.uint8(), 2))
    part = pa.array([9], pa.uint32())
    for name, columns, text in (
        ("far", {"_rowid": pa.array([1], pa.uint64()), "__ivf_part_id": part}, "partition 9"),
        ("odd", {"_rowid": pa.array([1], pa.uint64()), "x": part}, "columns"),
    ):
        table = pa.table({**columns, "__pq_code": codes})
        with LanceFileWriter(f"{folder}/{name}", table.schema) as writer:
            writer.write_batch(table)
        with pytest.raises(DataRefused, match=text):
            builder.shuffle_transformed_vectors([name], folder, ivf)
        with pytest.raises(DataRefused, match=text):
            builder.load_shuffled_vectors([name], folder, ivf, pq)
