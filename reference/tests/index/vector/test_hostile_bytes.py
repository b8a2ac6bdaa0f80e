"""Vector indices with bytes that were changed."""

from __future__ import annotations

import random
from pathlib import Path

import pylanceref
import pytest
from lanceref.core.errors import LanceError

from .indexed import points, write

VALUES = points(300)
TYPES = {
    "IVF_FLAT": {},
    "IVF_SQ": {},
    "IVF_RQ": {"num_bits": 3},
    "IVF_PQ": {"num_sub_vectors": 4, "max_iters": 2},
    "IVF_HNSW_SQ": {"m": 4, "ef_construction": 8},
}


@pytest.fixture(scope="module", params=sorted(TYPES))
def built(request, tmp_path_factory) -> Path:
    """An index of a type."""
    root = tmp_path_factory.mktemp("hostile")
    dataset = write(VALUES, root)
    parameters = TYPES[request.param]
    dataset.create_index("v", request.param, num_partitions=2, **parameters)
    return root / "t"


def outcome(root: Path) -> int | LanceError:
    """Return how many rows are found, or the error."""
    try:
        found = pylanceref.dataset(root).to_table(
            nearest={"column": "v", "q": VALUES[0], "k": 9, "nprobes": 2}
        )
    except LanceError as error:
        return error
    return found.num_rows


@pytest.mark.parametrize("name", ["index.idx", "auxiliary.idx"])
def test_changed_bytes_are_an_error_or_do_not_matter(built, name):
    """Nothing but a LanceError escapes, and no answer is short."""
    (path,) = built.glob(f"_indices/*/{name}")
    true, source = path.read_bytes(), random.Random(name)
    errors = 0
    try:
        for _ in range(60):
            changed = bytearray(true)
            for _ in range(source.choice([1, 1, 4])):
                place = source.randrange(max(0, len(true) - 1500), len(true))
                if source.random() < 0.3:
                    place = source.randrange(len(true))
                changed[place] = source.choice([0, 1, 255, changed[place] ^ 1 << place % 8])
            path.write_bytes(changed)
            found = outcome(built)
            errors += isinstance(found, LanceError)
            assert isinstance(found, LanceError) or found == 9
    finally:
        path.write_bytes(true)
    assert 9 == outcome(built)
    assert errors > 5


@pytest.mark.parametrize("name", ["index.idx", "auxiliary.idx"])
def test_files_that_end_early_are_an_error(built, name):
    """As are files that are missing."""
    (path,) = built.glob(f"_indices/*/{name}")
    true = path.read_bytes()
    try:
        for size in (0, 1, 39, len(true) // 2, len(true) - 1):
            path.write_bytes(true[:size])
            assert isinstance(outcome(built), LanceError)
        path.unlink()
        assert isinstance(outcome(built), LanceError)
    finally:
        path.write_bytes(true)
