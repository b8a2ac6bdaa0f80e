"""Random field metadata."""

from random import Random

import pyarrow as pa
import pytest
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3
from lanceref_testing.knobs import packed_struct, random_knobs


def _drawn(type_, version):
    return {
        item for seed in range(300) for item in random_knobs(Random(seed), type_, version).items()
    }


def test_2_0_takes_compression_of_strings_only():
    """In 2.0 the other keys do nothing, and numbers are never compressed."""
    assert {"lance-encoding:compression"} == {key for key, _ in _drawn(pa.string(), V2_0)}
    assert set() == _drawn(pa.int32(), V2_0)
    assert ("lance-encoding:compression", "fsst") not in _drawn(pa.large_string(), V2_0)


def test_sparse_pages_are_asked_for_in_2_3_only():
    """Before 2.3 the key is an error."""
    sparse = ("lance-encoding:structural-encoding", "sparse")

    assert sparse in _drawn(pa.int32(), V2_3)
    assert sparse not in _drawn(pa.int32(), V2_2)


@pytest.mark.parametrize("version", [V2_0, V2_1, V2_2, V2_3])
def test_packed_structs_hold_what_their_version_can(version):
    """Strings from 2.2 on, vectors not in 2.1."""
    types = {f.type for seed in range(100) for f in packed_struct(Random(seed), version)}

    assert (pa.string() in types) == (version >= V2_2)
    assert any(pa.types.is_fixed_size_list(t) for t in types) == (version != V2_1)
