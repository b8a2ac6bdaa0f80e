"""Cases of JSON indices: what one path finds in documents, held by indices of other types."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from lanceref.proto.index_pb2 import JsonIndexDetails
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import MessageEdit
from lance_conformance.recipes.tables.faults_indices import lint
from lance_conformance.recipes.tables.indices import search
from lance_conformance.recipes.tables.indices_segments import LAST

DOCUMENTS = pa.array(
    ['{"a":3}', None, '{"a":1}', '{"a":5,"b":"x"}', '{"a":3}', '{"b":2}', '{"a":null}',
     '{"a":5}', '{"a":9}', '{"a":1}', '{"a":3}', '{"a":8}'],
    pa.json_(),
)  # fmt: skip


def _over(target: str, version: str = "2.0", path: str = "a") -> Indexed:
    """Return documents whose members `a` are held by an index of another type."""
    return Indexed(DOCUMENTS, "JSON", {"path": path, "target_index_type": target}, version)


_DETAILS = ("L.index.json.details",)

POSITIVES = (
    search("plain", "a whole number", "json_get_int(c, 'a') = 3", [0, 4, 10], _over("btree"),
           _DETAILS),
    search("range", "numbers of a range, one of their rows deleted", "json_get_int(c, 'a') >= 5",
           [3, 8, 11], _over("bitmap"), _DETAILS),
    search("nulls", "null, a member that is null, and none",
           "json_get_int(c, 'a') IS NULL", [1, 5, 6], _over("btree"), _DETAILS),
    search("zones", "numbers of zones", "json_get_int(c, 'a') < 2", [2, 9],
           _over("zonemap", "2.2"), _DETAILS),
    search("asked-type", "a float is asked for, whole numbers are held: the rows are scanned",
           "json_get_float(c, 'a') = 3.0", [0, 4, 10], _over("btree"),
           ("L.index.json.asked-type",)),
    search("member", "a member that is called as the path is spelled, which no document has",
           "json_get_int(c, '$.a') = 3", [], _over("btree", path="$.a"), ("L.index.json.member",),
           used=False),
    search("own-plain", "a whole number in an index of the reference",
           "json_get_int(c, 'a') = 3", [0, 4, 10], _over("btree"), by="reference"),
)  # fmt: skip


def _named(edit: Callable[[JsonIndexDetails], None]) -> MessageEdit:
    """Change the details of the index."""

    def apply(entry: IndexMetadata) -> None:
        details = JsonIndexDetails.FromString(entry.index_details.value)
        edit(details)
        entry.index_details.value = details.SerializeToString(deterministic=True)

    return index(apply, LAST)


def _inverted(details: JsonIndexDetails) -> None:
    details.target_details.type_url = "/lance.index.pb.InvertedIndexDetails"


NEGATIVES = (
    lint("json/plain", "details", "values held by an index of texts", "L.index.json.details",
         _named(_inverted)),
)  # fmt: skip
