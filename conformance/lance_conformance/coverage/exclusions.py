"""Exclusions: members of axes that cannot occur in a valid file, each with its reason.

An entry whose member does occur is stale, which a test reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from lance_conformance.coverage.messages import Fact


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Members of axes (both as patterns) that cannot occur, with the reason."""

    axis: str
    member: str
    reason: str

    def matches(self, fact: Fact) -> bool:
        """Whether the exclusion applies to a member of an axis."""
        return fnmatchcase(fact[0], self.axis) and fnmatchcase(fact[1], self.member)


_DEFERRED = "the oracle writes encodings in their page; readers refuse any other place"
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

EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion("fields of file2.proto", "DeferredEncoding.*", _DEFERRED),
    Exclusion("fields of file2.proto", "Encoding.indirect", _DEFERRED),
    Exclusion("fields of file2.proto", "Encoding.none", _DEFERRED),
    Exclusion("fields of encodings_v2_0.proto", "Constant.value", "readers of 2.0 refuse the arm"),
    Exclusion("fields of encodings_v2_0.proto", "ArrayEncoding.constant", "refused, as above"),
    Exclusion("fields of encodings_v2_0.proto", "ZoneIndex.*", _ZONES),
    Exclusion("fields of encodings_v2_0.proto", "ColumnEncoding.zone_index", _ZONES),
    Exclusion("*Buffer.BufferType*", "file", "readers find no buffers of the file as a whole"),
    Exclusion("buffers in 2.0", "file", "the same"),
    Exclusion("fields of encodings_v2_1.proto", "Flat.data", _COMPRESSED),
    Exclusion("fields of encodings_v2_1.proto", "Variable.values", _COMPRESSED),
    Exclusion("fields of encodings_v2_1.proto", "InlineBitpacking.values", _COMPRESSED),
    Exclusion("codec of dictionary*", "fsst", "no block holds codes"),
    Exclusion("codec of dictionary*", "constant", _COMPUTED),
    Exclusion("codec of dictionary*", "range", _COMPUTED),
    Exclusion("codec of dictionary*", "delta", _COMPUTED),
    Exclusion("run value bits", "128", _RUNS),
    Exclusion("run value bits", "256", _RUNS),
    Exclusion("run length bits", "64", _RUNS),
    Exclusion("constant bytes", "[12]", "constants are sequences, of 32 or 64 bits"),
    Exclusion("layers of sparse structure", "0", "every path has a layer for its leaf"),
    Exclusion("fields of index.proto", "VectorIndexStage.flat", _STAGES),
    Exclusion("fields of index.proto", "VectorIndexStage.transform", _STAGES),
    Exclusion("fields of index.proto", "VectorIndexStage.diskann", _STAGES),
    Exclusion("fields of index.proto", "Transform.*", _STAGES),
    Exclusion("values of TransformType*", "OPQ", _STAGES),
    Exclusion("fields of index.proto", "DiskAnn.*", _STAGES),
    Exclusion("fields of index.proto", "Index.index_type", _ONLY_ZERO),
    Exclusion("fields of index.proto", "MinHashLshIndexDetails.signature_version", _ONLY_ZERO),
    Exclusion("values of Tensor.DataType*", "UINT16", _ELEMENTS),
    Exclusion("values of Tensor.DataType*", "UINT32", _ELEMENTS),
    Exclusion("values of Tensor.DataType*", "UINT64", _ELEMENTS),
    Exclusion("fields of index_details.proto", "InvertedIndexDetails.json_tokenizer_mode", _NEWER),
    Exclusion(
        "fields of index_details.proto", "InvertedIndexDetails.disable_cross_array_unnest", _NEWER
    ),
    Exclusion("fields of index_details.proto", "*StablePartition.*", _MAP),
    Exclusion("fields of index_details.proto", "*Transition.stable_partition", _MAP),
    Exclusion("fields of table.proto", "FragmentTreeMetadata.*", _TREE),
    Exclusion("fields of table.proto", "Manifest.fragment_tree", _TREE),
    Exclusion("values of RepDefLayer*", "REPDEF_UNSPECIFIED", _ZERO),
    Exclusion("values of CompressionScheme*", "*_UNSPECIFIED", _ZERO),
    Exclusion("values of SparseValiditySet.Meaning*", "UNSPECIFIED", _ZERO),
)
"""Every exclusion."""


def find_exclusion(fact: Fact) -> Exclusion | None:
    """Return the exclusion of a member of an axis, or None when it can occur."""
    return next((one for one in EXCLUSIONS if one.matches(fact)), None)
