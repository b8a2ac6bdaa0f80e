"""Vector indices, checked: every byte of the files, every partition, every graph."""

from __future__ import annotations

from lanceref.file.check import check_file
from lanceref.index.segment import Segment
from lanceref.index.vector.graph_check import check_graphs
from lanceref.index.vector.single_file_index import SingleFileIndex, open_index
from lanceref.index.vector.vector_file import AUXILIARY, HEAD


def check(segment: Segment) -> None:
    """Report what is wrong with a segment. Raises FormatError."""
    index = open_index(segment)
    if not isinstance(index, SingleFileIndex):
        for name in (HEAD, AUXILIARY):
            file = segment.file(name)
            check_file(file.source, file.ctx)
    for number in range(len(index.head.model.centroids)):
        index.partition(number)
    if index.head.type.graphs:
        check_graphs(index)
