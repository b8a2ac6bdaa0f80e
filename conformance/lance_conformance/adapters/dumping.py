"""The operation that shows what an index holds, of the reference.

Sets of rows come as a row for each member: what it is a set of, and the row key. Zones come as they
are stored. Rows are sorted, so that equal indices are equal tables.
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

from lance_conformance.adapters.skeleton import Message, NotClaimed, write_table

KEY = "row"
"""Name of the column of row keys."""


def dump(request: Message) -> Message:
    """Answer `index.dump`."""
    version = int(request["version"]) if "version" in request else None
    opened = pylanceref.dataset(request["uri"], version=version)
    index = _named(opened, request["index"])
    if index.kind.name not in _CONTENTS:
        raise NotClaimed(index.kind.name)
    content = _CONTENTS[index.kind.name]
    table = pa.concat_tables([content(segment) for segment in index.segments])
    return write_table(request["out"], table)


def _named(opened: pylanceref.LanceDataset, name: str) -> Index:
    return next(one for one in opened._snapshot.indices.known if one.name == name)


def _members(entries: Entries) -> pa.Table:
    """Return values and keys, by key where values are equal."""
    table = pa.table({"value": entries.values, KEY: entries.keys})
    order = np.lexsort((entries.keys, _ranks(pa.array(entries.values))))
    return table.take(pa.array(order))


def _ranks(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return of each value the place where it first occurs; equal values stand together."""
    codes = values.dictionary_encode(null_encoding="encode").indices
    return np.asarray(codes, np.int64)


def _values(segment: Segment) -> pa.Table:
    return _members(BTree(segment).entries())


def _sets(segment: Segment) -> pa.Table:
    return _members(Bitmap(segment).entries())


def _labels(segment: Segment) -> pa.Table:
    """Return the items, then the rows whose list is null with `list` false."""
    held = LabelList(segment).entries()
    items, nulls = _members(held), NO_KEYS if held.nulls is None else held.nulls
    none = pa.table({"value": pa.nulls(len(nulls), items.schema.field("value").type), KEY: nulls})
    listed = [pa.array([is_item] * len(part)) for is_item, part in ((True, items), (False, none))]
    return pa.concat_tables(
        part.append_column("list", own) for part, own in zip((items, none), listed, strict=True)
    )


def _tokens(segment: Segment) -> pa.Table:
    held = Ngram(segment).entries()
    return pa.table({"token": held.values, KEY: held.keys})


def _zones(path: str, *names: str) -> Callable[[Segment], pa.Table]:
    def content(segment: Segment) -> pa.Table:
        file = segment.file(path)
        return pa.table({name: file.read(name) for name in names})

    return content


def _words(segment: Segment) -> pa.Table:
    schema = pa.schema([("token", pa.utf8()), (KEY, pa.uint64()), ("frequency", pa.uint32())])
    return pa.concat_tables([schema.empty_table(), *_postings(Inverted(segment), schema)])


def _postings(index: Inverted, schema: pa.Schema) -> Iterator[pa.Table]:
    for partition in index.partitions:
        for token, number in partition.items():
            found = partition.postings(number)
            columns = [[token] * len(found.documents), partition.keys[found.documents]]
            yield pa.table([*columns, found.frequencies], schema=schema)


_CONTENTS: dict[str, Callable[[Segment], pa.Table]] = {
    "BTREE": _values,
    "BITMAP": _sets,
    "LABEL_LIST": _labels,
    "NGRAM": _tokens,
    "ZONEMAP": _zones(zonemap.FILE, "min", "max", "null_count", "nan_count", *zonemap.PLACE),
    "BLOOMFILTER": _zones(bloomfilter.FILE, *zonemap.PLACE, "has_null", "bloom_filter_data"),
    "INVERTED": _words,
}
"""What a segment holds, by the name of its type."""

TYPES = list(_CONTENTS)
