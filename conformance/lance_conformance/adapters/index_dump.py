"""The operation `index.dump` of the reference, which returns the content of an index.

Sets of rows are returned as one row for each member: the value and the row key. Zones are returned
as stored. Rows are sorted, so that equal indices give equal tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref.index.entries import Entries
from lanceref.index.full_text.inverted import Inverted
from lanceref.index.indices import Index
from lanceref.index.row_set import NO_KEYS
from lanceref.index.scalar import bloomfilter, zonemap
from lanceref.index.scalar.bitmap import Bitmap, LabelList
from lanceref.index.scalar.btree import BTree
from lanceref.index.scalar.ngram import Ngram
from lanceref.index.segment import Segment

from lance_conformance.adapters.server import Message, Unsupported, write_table

KEY_COLUMN = "row"
"""Name of the column of row keys."""


def dump(request: Message) -> Message:
    """Answer `index.dump`."""
    version = int(request["version"]) if "version" in request else None
    opened = pylanceref.dataset(request["uri"], version=version)
    index = _index_by_name(opened, request["index"])
    if index.kind.name not in _CONTENTS:
        raise Unsupported(index.kind.name)
    content = _CONTENTS[index.kind.name]
    table = pa.concat_tables([content(segment) for segment in index.segments])
    return write_table(request["out"], table)


def _index_by_name(opened: pylanceref.LanceDataset, name: str) -> Index:
    return next(one for one in opened._snapshot.indices.known if one.name == name)


def _sorted_entries(entries: Entries) -> pa.Table:
    """Return values and keys, by key where values are equal."""
    table = pa.table({"value": entries.values, KEY_COLUMN: entries.keys})
    order = np.lexsort((entries.keys, _first_occurrence(pa.array(entries.values))))
    return table.take(pa.array(order))


def _first_occurrence(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the dictionary code of each value [n], by which equal values sort together."""
    codes = values.dictionary_encode(null_encoding="encode").indices
    return np.asarray(codes, np.int64)


def _btree_entries(segment: Segment) -> pa.Table:
    return _sorted_entries(BTree(segment).entries())


def _bitmap_entries(segment: Segment) -> pa.Table:
    return _sorted_entries(Bitmap(segment).entries())


def _label_entries(segment: Segment) -> pa.Table:
    """Return the items, then the rows whose list is null, with `list` false."""
    entries = LabelList(segment).entries()
    items, nulls = _sorted_entries(entries), NO_KEYS if entries.nulls is None else entries.nulls
    none = pa.table(
        {"value": pa.nulls(len(nulls), items.schema.field("value").type), KEY_COLUMN: nulls}
    )
    listed = [pa.array([is_item] * len(part)) for is_item, part in ((True, items), (False, none))]
    return pa.concat_tables(
        part.append_column("list", own) for part, own in zip((items, none), listed, strict=True)
    )


def _ngram_entries(segment: Segment) -> pa.Table:
    entries = Ngram(segment).entries()
    return pa.table({"token": entries.values, KEY_COLUMN: entries.keys})


def _zones(path: str, *names: str) -> Callable[[Segment], pa.Table]:
    def content(segment: Segment) -> pa.Table:
        file = segment.file(path)
        return pa.table({name: file.read(name) for name in names})

    return content


def _inverted_entries(segment: Segment) -> pa.Table:
    schema = pa.schema(
        [("token", pa.utf8()), (KEY_COLUMN, pa.uint64()), ("frequency", pa.uint32())]
    )
    return pa.concat_tables([schema.empty_table(), *_postings(Inverted(segment), schema)])


def _postings(index: Inverted, schema: pa.Schema) -> Iterator[pa.Table]:
    for partition in index.partitions:
        for token, number in partition.items():
            found = partition.postings(number)
            columns = [[token] * len(found.documents), partition.keys[found.documents]]
            yield pa.table([*columns, found.frequencies], schema=schema)


_CONTENTS: dict[str, Callable[[Segment], pa.Table]] = {
    "BTREE": _btree_entries,
    "BITMAP": _bitmap_entries,
    "LABEL_LIST": _label_entries,
    "NGRAM": _ngram_entries,
    "ZONEMAP": _zones(zonemap.FILE, "min", "max", "null_count", "nan_count", *zonemap.PLACE),
    "BLOOMFILTER": _zones(bloomfilter.FILE, *zonemap.PLACE, "has_null", "bloom_filter_data"),
    "INVERTED": _inverted_entries,
}
"""Content of a segment by the name of its type."""

TYPES = list(_CONTENTS)
