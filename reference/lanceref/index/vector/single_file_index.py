"""Single file index: an opened segment of the file that early releases wrote."""

from __future__ import annotations

from functools import cached_property

from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment
from lanceref.index.vector.ivf import partitions_of
from lanceref.index.vector.single_file import is_single_file, open_single_file
from lanceref.index.vector.storage import Columns
from lanceref.index.vector.vector_file import HEAD, TYPES, Auxiliary, Head
from lanceref.index.vector.vector_index import VectorIndex

SHOWN = {"nbits", "num_sub_vectors", "dimension", "index_type", "metric_type"}
"""What users are told of the storage."""


class SingleFileIndex(VectorIndex):
    """An opened segment; what is asked for is read from its one file."""

    def __init__(self, segment: Segment) -> None:
        file = open_single_file(segment.source(HEAD), segment.within(HEAD))
        texts = [""] * len(file.model.centroids)
        head = Head(file.place, TYPES["IVF_PQ"], file.model, file.message, texts)
        super().__init__(segment, head)
        self.file = file

    @cached_property
    def auxiliary(self) -> Auxiliary:
        """How vectors are stored, and how many there are in each partition."""
        return Auxiliary(partitions_of(self.file.lengths), self.file.quantizer)

    def keys(self, number: int) -> Keys:
        """Return the row ids of a partition. Raises FormatError."""
        keys, _ = self.file.partition(number)
        return keys

    def rows(self, number: int) -> Columns:
        """Return the codes of a partition, row by row. Raises FormatError."""
        _, rows = self.file.partition(number)
        return rows

    def statistics(self) -> dict[str, object]:
        """Return the same as of others, and that this is an old one."""
        found = super().statistics()
        storage = found["sub_index"]
        assert isinstance(storage, dict)
        shown = {name: value for name, value in storage.items() if name in SHOWN}
        return {**found, "sub_index": shown, "index_file_version": "Legacy"}


def open_index(segment: Segment) -> VectorIndex:
    """Open a segment of either form. Raises FormatError, UnknownIndex."""
    if is_single_file(segment.source(HEAD)):
        return SingleFileIndex(segment)
    return VectorIndex(segment)
