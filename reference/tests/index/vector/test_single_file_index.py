"""Single file indices."""

import pylanceref
from lanceref.index.vector.single_file import SingleFileIndex

from .agreement import built, clustered
from .indexed import opened


def test_which_form_is_opened(tmp_path):
    """The end of the file says whether it is an early one."""
    values, _ = clustered("f4", rows=300)
    for name, version in (("a", "V3"), ("b", "LEGACY")):
        said = {"num_sub_vectors": 4, "index_file_version": version}
        path = built(tmp_path / name, values, pylanceref, "IVF_PQ", **said)
        index = opened(pylanceref.dataset(path))
        assert isinstance(index, SingleFileIndex) is (version == "LEGACY")
        assert sum(len(index.keys(number)) for number in range(len(index.head.texts))) == 300
        storage = index.statistics()["sub_index"]
        assert (storage["dimension"], storage["num_sub_vectors"]) == (16, 4)
