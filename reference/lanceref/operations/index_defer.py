"""Deferred remap: a compaction that leaves indices as they are and says where rows went.

Clauses: L.index.reuse.rows, L.index.reuse.fragments, L.index.reuse.external, L.index.reuse.order
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from lanceref.index.fragment_reuse import NAME, content_of
from lanceref.index.row_set import encode_treemap
from lanceref.index.segment import FOLDER
from lanceref.operations.index_remap import Group, live_addresses
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails as Details
from lanceref.search.snapshot import Snapshot
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.index_entries import covered, set_covered

INLINE_BYTES = 204_800
"""Longest message that stands in the entry itself."""

EXTERNAL = "details.binpb"


def reuse_entry(
    snapshot: Snapshot, groups: Sequence[Group], version: int, draft: Draft
) -> table_pb2.IndexMetadata | None:
    """Return the entry that says where the rows of groups went; None when no index covers them."""
    old = BitMap([rows.fragment.id for before, _ in groups for rows in before])
    known = snapshot.indices.segments
    if not any(segment.covers & old for segment in known if segment.entry.name != NAME):
        return None
    content, fragments = Details.InlineContent(), BitMap()
    for segment in known:
        if segment.entry.name == NAME:
            content.CopyFrom(content_of(segment, snapshot.ctx))
            fragments = covered(segment.entry) or BitMap()
    content.versions.append(_version(groups, version))
    entry = table_pb2.IndexMetadata(
        name=NAME, dataset_version=version, index_version=0, created_at=time.time_ns() // 1_000_000
    )
    name = uuid.uuid4()
    entry.uuid.uuid = name.bytes
    set_covered(entry, fragments | BitMap([one.id for _, after in groups for one in after]))
    entry.index_details.type_url = f"/{Details.DESCRIPTOR.full_name}"
    details, data = Details(), content.SerializeToString()
    if len(data) <= INLINE_BYTES:
        details.inline.CopyFrom(content)
    else:
        path = f"{FOLDER}/{name}/{EXTERNAL}"
        snapshot.store.put(path, data)
        draft.add((snapshot.store, path))
        details.external.path, details.external.size = EXTERNAL, len(data)
    entry.index_details.value = details.SerializeToString()
    return entry


def _version(groups: Sequence[Group], number: int) -> Details.Version:
    version = Details.Version(dataset_version=number)
    for old, new in groups:
        group = version.groups.add()
        group.changed_row_addrs = encode_treemap(np.sort(live_addresses(old)), runs=True)
        for rows in old:
            group.old_fragments.add(
                id=rows.fragment.id,
                physical_rows=rows.columns.stated_rows,
                num_deleted_rows=rows.fragment.num_deleted,
            )
        for one in new:
            group.new_fragments.add(id=one.id, physical_rows=one.physical_rows)
    return version
