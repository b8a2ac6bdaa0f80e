"""Vector index files of either form, checked: a single file, or a data file.

Clauses: L.index.vector.single.partitions
"""

from __future__ import annotations

from lanceref.core.context import Context
from lanceref.file_0_1.check import check_data_file
from lanceref.index.vector.single_file import is_single_file, open_single_file
from lanceref.storage import Source


def check_vector_file(source: Source, ctx: Context) -> None:
    """Parse and check a file of a vector index by its end, all partitions of a single file."""
    if not is_single_file(source):
        check_data_file(source, ctx)
        return
    with ctx.piece():
        file = open_single_file(source, ctx)
        for number in range(len(file.model.centroids)):
            with ctx.group(f"partition {number}", "L.index.vector.single.partitions"):
                file.partition(number)
