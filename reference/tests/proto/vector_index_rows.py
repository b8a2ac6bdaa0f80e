"""Inventory of vector indices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .row import Row

if TYPE_CHECKING:
    import lance

DIMENSION = 16
RNG = np.random.default_rng(5)
LEAF = ("IVF.lengths", "VectorIndexDetails.runtime_hints")


def _vectors(rows: int, dtype: str = "float32", multi: bool = False) -> pa.Table:
    if dtype == "uint8":
        values = pa.array(RNG.integers(0, 256, rows * DIMENSION).astype(dtype))
    else:
        values = pa.array(RNG.standard_normal(rows * DIMENSION).astype(dtype))
    column = pa.FixedSizeListArray.from_arrays(values, DIMENSION)
    if multi:
        column = pa.ListArray.from_arrays(pa.array(range(0, rows + 1, 2), pa.int32()), column)
    return pa.table({"v": column})


def _dataset(folder: Path, data: pa.Table, **options: Any) -> lance.LanceDataset:
    import lance

    options = {"max_rows_per_file": -(-len(data) // 2), **options}
    return lance.write_dataset(data, folder / "t.lance", **options)


def _index(kind: str, *shows: str, rows: int = 300, dtype: str = "float32", **options: Any) -> Row:
    """Make a row of a dataset with one index."""

    def make(folder: Path) -> None:
        written = {key: options[key] for key in ("data_storage_version",) if key in options}
        building = {key: value for key, value in options.items() if key not in written}
        multi = building.pop("multi", False)
        dataset = _dataset(folder, _vectors(rows, dtype, multi), **written)
        dataset.create_index("v", kind, **{"num_partitions": 2, **building})

    return Row(make, *(shows or LEAF))


def _build_then_append(folder: Path) -> None:
    import lance

    dataset = _dataset(folder, _vectors(300))
    dataset.create_index("v", "IVF_FLAT", num_partitions=2)
    lance.write_dataset(_vectors(20), dataset.uri, mode="append")
    lance.dataset(dataset.uri).optimize.optimize_indices(num_indices_to_merge=0)


def _build_then_compact(folder: Path) -> None:
    dataset = _dataset(folder, pa.table({"i": range(300)}).append_column("v", _vectors(300)["v"]))
    dataset.create_index("v", "IVF_HNSW_SQ", num_partitions=2)
    dataset.delete("i < 5")
    dataset.optimize.compact_files(materialize_deletions_threshold=0.0)


def _merge_segments(kind: str, **trained: Any) -> Row:
    def make(folder: Path) -> None:
        dataset = _dataset(folder, _vectors(600))
        centroids = RNG.standard_normal((2, DIMENSION)).astype("float32")
        parts = [
            dataset.create_index_uncommitted(
                "v", kind, name="v_idx", fragment_ids=[fragment], num_partitions=2,
                ivf_centroids=centroids, **trained,
            )
            for fragment in (0, 1)
        ]  # fmt: skip
        merged = dataset.merge_existing_index_segments(parts)
        dataset.commit_existing_index_segments("v_idx", "v", [merged])

    return Row(make, "IVF.centroids_tensor", "VectorIndexDetails.runtime_hints")


CODEBOOK = RNG.standard_normal((4, 256, DIMENSION // 4)).astype("float32")
FAR_CENTROIDS = np.stack([np.zeros(DIMENSION), np.full(DIMENSION, 1e6)]).astype("float32")

ROWS = {
    "IVF_FLAT": _index("IVF_FLAT", "VectorIndexDetails.flat", "IVF.centroids_tensor", "IVF.loss"),
    "IVF_PQ": _index(
        "IVF_PQ", "ProductQuantization.num_sub_vectors", "Tensor.shape",
        "VectorIndexDetails.metric_type", num_sub_vectors=4, metric="cosine",
    ),
    "IVF_SQ": _index("IVF_SQ", "ScalarQuantization.num_bits"),
    "IVF_RQ": _index("IVF_RQ", "RabitQuantization.num_bits"),
    "IVF_HNSW_FLAT": _index("IVF_HNSW_FLAT", "VectorIndexDetails.hnsw_index_config"),
    "IVF_HNSW_PQ": _index("IVF_HNSW_PQ", "HnswParameters.max_connections", num_sub_vectors=4),
    "IVF_HNSW_SQ": _index("IVF_HNSW_SQ", "HnswParameters.construction_ef"),
    "4-bit PQ": _index("IVF_PQ", "ProductQuantization.num_bits", num_sub_vectors=4, num_bits=4),
    "row-major codes": _index("IVF_PQ", num_sub_vectors=4, skip_transpose=True),
    "RQ of one bit": _index("IVF_RQ", "RabitQuantization.num_bits", num_bits=1),
    "hamming": _index("IVF_FLAT", "Tensor.data_type", dtype="uint8", metric="hamming"),
    "16-bit floats": _index("IVF_PQ", "Tensor.data_type", dtype="float16", num_sub_vectors=4),
    "64-bit floats": _index("IVF_FLAT", "Tensor.data_type", dtype="float64"),
    "several vectors a row": _index("IVF_FLAT", multi=True, metric="cosine"),
    "given centroids and codebook": _index(
        "IVF_PQ", "Tensor.data", num_partitions=1, num_sub_vectors=4,
        ivf_centroids=FAR_CENTROIDS[:1], pq_codebook=CODEBOOK,
    ),
    "HNSW parameters": _index(
        "IVF_HNSW_SQ", "HnswParameters.max_level", m=8, ef_construction=40, max_level=4
    ),
    "partition size": _index(
        "IVF_FLAT", "VectorIndexDetails.target_partition_size",
        num_partitions=None, target_partition_size=100,
    ),
    "empty partition": _index("IVF_HNSW_FLAT", ivf_centroids=FAR_CENTROIDS),
    "delta segment": Row(_build_then_append, *LEAF),
    "merged segments": _merge_segments("IVF_FLAT"),
    "merged segments of PQ": _merge_segments("IVF_PQ", num_sub_vectors=4, pq_codebook=CODEBOOK),
    "remapped by compaction": Row(_build_then_compact, "RewrittenIndex.new_index_details"),
    **{
        f"index files of {version}": _index("IVF_FLAT", data_storage_version=version)
        for version in ("legacy", "2.0", "2.1", "2.3")
    },
    "before the 2.x container": _index(
        "IVF_PQ", "VectorIndex.stages", "PQ.codebook_tensor", "IVF.offsets",
        num_sub_vectors=4, index_file_version="LEGACY",
    ),
    "definition only": _index("IVF_FLAT", "VectorIndexDetails.flat", train=False),
}  # fmt: skip

NOT_WRITTEN = {
    "RabitQuantization.rotation_type": "the oracle's Python face cannot ask for a matrix",
    "VectorIndexDetails.target_num_partitions": "newer than the oracle",
    "VectorIndexStage.transform": "of former times",
    "VectorIndexStage.diskann": "of former times",
    "IVF.centroids": "of former times",
    "PQ.codebook": "of former times",
}
