"""Excused: what no file that is to be read can show, each with its reason.

A member that is excused and occurs all the same makes its entry stale: a test finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from lance_conformance.coverage.messages import Fact


@dataclass(frozen=True, slots=True)
class Excuse:
    """Members of axes (both as patterns) that cannot occur, and why."""

    axis: str
    member: str
    reason: str

    def holds(self, fact: Fact) -> bool:
        """Whether the excuse is about this member of this axis."""
        return fnmatchcase(fact[0], self.axis) and fnmatchcase(fact[1], self.member)


_DEFERRED = "the oracle writes encodings beside their page; readers refuse any other place"
_COMPRESSED = "only the arm `general` compresses: readers refuse a compressed buffer elsewhere"
_ZONES = "no reader of 2.0 accepts zone maps inside a column"
_TREE = "no writer makes a tree of fragments; readers refuse one"
_COMPUTED = "items of a dictionary take bytes: readers refuse computed ones"
_RUNS = "readers refuse runs of wider values, and longer counts"
_STAGES = "readers refuse a vector index of a single file unless its stages are ivf and pq"
_ONLY_ZERO = "readers refuse all values but 0, which is stored by leaving it out"
_ELEMENTS = "vectors are floats or bytes: readers refuse centroids and codewords of other types"
_NEWER = "of releases after 14.0.2: no reader or writer here knows what it means"
_MAP = "the map of rows is a file whose form no release that can be had writes"
_ZERO = "the unset value of an enumeration, which readers refuse"

EXCUSES: tuple[Excuse, ...] = (
    Excuse("fields of file2.proto", "DeferredEncoding.*", _DEFERRED),
    Excuse("fields of file2.proto", "Encoding.indirect", _DEFERRED),
    Excuse("fields of file2.proto", "Encoding.none", _DEFERRED),
    Excuse("fields of encodings_v2_0.proto", "Constant.value", "readers of 2.0 refuse the arm"),
    Excuse("fields of encodings_v2_0.proto", "ArrayEncoding.constant", "refused, as above"),
    Excuse("fields of encodings_v2_0.proto", "ZoneIndex.*", _ZONES),
    Excuse("fields of encodings_v2_0.proto", "ColumnEncoding.zone_index", _ZONES),
    Excuse("*Buffer.BufferType*", "file", "readers find no buffers of the file as a whole"),
    Excuse("buffers in 2.0", "file", "the same"),
    Excuse("fields of encodings_v2_1.proto", "Flat.data", _COMPRESSED),
    Excuse("fields of encodings_v2_1.proto", "Variable.values", _COMPRESSED),
    Excuse("fields of encodings_v2_1.proto", "InlineBitpacking.values", _COMPRESSED),
    Excuse("codec of dictionary*", "fsst", "no block holds codes"),
    Excuse("codec of dictionary*", "constant", _COMPUTED),
    Excuse("codec of dictionary*", "range", _COMPUTED),
    Excuse("codec of dictionary*", "delta", _COMPUTED),
    Excuse("run value bits", "128", _RUNS),
    Excuse("run value bits", "256", _RUNS),
    Excuse("run length bits", "64", _RUNS),
    Excuse("constant bytes", "[12]", "constants are sequences, of 32 or 64 bits"),
    Excuse("layers of sparse structure", "0", "every path has a layer for its leaf"),
    Excuse("fields of index.proto", "VectorIndexStage.flat", _STAGES),
    Excuse("fields of index.proto", "VectorIndexStage.transform", _STAGES),
    Excuse("fields of index.proto", "VectorIndexStage.diskann", _STAGES),
    Excuse("fields of index.proto", "Transform.*", _STAGES),
    Excuse("values of TransformType*", "OPQ", _STAGES),
    Excuse("fields of index.proto", "DiskAnn.*", _STAGES),
    Excuse("fields of index.proto", "Index.index_type", _ONLY_ZERO),
    Excuse("fields of index.proto", "MinHashLshIndexDetails.signature_version", _ONLY_ZERO),
    Excuse("values of Tensor.DataType*", "UINT16", _ELEMENTS),
    Excuse("values of Tensor.DataType*", "UINT32", _ELEMENTS),
    Excuse("values of Tensor.DataType*", "UINT64", _ELEMENTS),
    Excuse("fields of index_details.proto", "InvertedIndexDetails.json_tokenizer_mode", _NEWER),
    Excuse(
        "fields of index_details.proto", "InvertedIndexDetails.disable_cross_array_unnest", _NEWER
    ),
    Excuse("fields of index_details.proto", "*StablePartition.*", _MAP),
    Excuse("fields of index_details.proto", "*Transition.stable_partition", _MAP),
    Excuse("fields of table.proto", "FragmentTreeMetadata.*", _TREE),
    Excuse("fields of table.proto", "Manifest.fragment_tree", _TREE),
    Excuse("values of RepDefLayer*", "REPDEF_UNSPECIFIED", _ZERO),
    Excuse("values of CompressionScheme*", "*_UNSPECIFIED", _ZERO),
    Excuse("values of SparseValiditySet.Meaning*", "UNSPECIFIED", _ZERO),
)
"""Every excuse."""


def excuse(fact: Fact) -> Excuse | None:
    """Return why a member of an axis cannot occur, or None when it can."""
    return next((one for one in EXCUSES if one.holds(fact)), None)
