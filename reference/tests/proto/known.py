"""Which fields of a message the generated modules know, at any depth, and which nobody fills."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from lanceref import proto
from lanceref.core.wire import EMBEDDED

MODULES = [
    import_module(f"{proto.__name__}.{one.name}")
    for one in iter_modules(proto.__path__)
    if one.name.endswith("_pb2")
]
"""Imported, so that the descriptor pool has every type that an Any may name."""

_REASONS = {
    "no writer of 2.0 chooses it": (
        "ArrayEncoding.bitpacked ArrayEncoding.bitpacked_for_non_neg "
        "ArrayEncoding.fixed_size_binary"
    ),
    "the oracle neither writes nor reads it": (
        "ArrayEncoding.constant ColumnEncoding.zone_index Encoding.none Encoding.indirect"
    ),
    "buffers of a column are read, those of a file not; both never written": ("Buffer.buffer_type"),
    "buffers of a column are read, never written": "ColumnMetadata.buffer_sizes",
    "parents, lists and leaves alike say 0": "file.Field.type",
    "the position says it alone": "file.Field.unenforced_clustering_key",
    "decoders ignore it": (
        "encodings21.Flat.data encodings21.Variable.values InlineBitpacking.values"
    ),
    "read; the writer makes several segments instead": (
        "U64Segment.array EncodedU64Array.u64_array"
    ),
    "reserved": (
        "Manifest.fragment_tree Manifest.clustering Manifest.max_clustering_id "
        "DataFragment.clustering_id"
    ),
    "of former times": (
        "Manifest.version_aux_data VectorIndexStage.transform VectorIndexStage.diskann "
        "IVF.centroids PQ.codebook"
    ),
    "tags are files of their own": "Manifest.tag",
    "deprecated, groups hold them": "Rewrite.old_fragments Rewrite.new_fragments",
    "deprecated": "UpdateConfig.upsert_values UpdateConfig.delete_keys",
    "a Bloom filter even for one row": "KeyExistenceFilter.exact",
    "needs millions of rows; the file is an InlineContent": "FragmentReuseIndexDetails.external",
    "newer than the oracle": (
        "InlineContent.transitions JsonIndexDetails.target_data_type "
        "VectorIndexDetails.target_num_partitions"
    ),
    "read, never filled": "IndexMetadata.covering_fields",
    "the oracle's Python face cannot ask for a matrix": "RabitQuantization.rotation_type",
}
NOT_WRITTEN = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""Field, as `Message.field` -> why no row shows it."""


@dataclass
class Seen:
    """What came up: how many messages, which fields held a value, what was not known."""

    messages: int = 0
    fields: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def shows(self, name: str) -> bool:
        """Whether a field was seen, named as `Message.field`."""
        return any(seen.endswith(f".{name}") for seen in self.fields)


def examine(message: Message, at: str, seen: Seen) -> None:
    """Note the fields of the message and of the messages inside it."""
    seen.messages += 1
    descriptor = message.DESCRIPTOR
    for unknown in UnknownFieldSet(message):
        seen.faults.append(f"{at}: field {unknown.field_number} of {descriptor.full_name}")
    for known, value in message.ListFields():
        seen.fields.add(known.full_name)
        for element in _elements(known, value):
            if known.enum_type is not None and element not in known.enum_type.values_by_number:
                seen.faults.append(f"{at}: value {element} of {known.full_name}")
            elif isinstance(element, Message):
                examine(element, f"{at} > {known.name}", seen)
            elif known.full_name in EMBEDDED:
                inside = _parse(EMBEDDED[known.full_name], element)
                examine(inside, f"{at} > {known.name}", seen)
    if isinstance(message, AnyMessage):
        _examine_any(message, at, seen)


def _examine_any(message: AnyMessage, at: str, seen: Seen) -> None:
    name = message.type_url.rpartition("/")[2]
    try:
        inside = _parse(name, message.value)
    except KeyError:
        seen.faults.append(f"{at}: type {message.type_url!r}")
    else:
        examine(inside, f"{at} > {name}", seen)


def _elements(known: FieldDescriptor, value: object) -> Iterator[object]:
    if known.message_type is not None and known.message_type.GetOptions().map_entry:
        yield from value.values()
    elif known.is_repeated:
        yield from value
    else:
        yield value


def _parse(name: str, data: bytes) -> Message:
    descriptor = descriptor_pool.Default().FindMessageTypeByName(name)
    return message_factory.GetMessageClass(descriptor).FromString(data)


def field_names() -> Iterator[str]:
    """Yield the full name of every field of every message."""
    for module in MODULES:
        for descriptor in module.DESCRIPTOR.message_types_by_name.values():
            yield from _names_below(descriptor)


def _names_below(descriptor: Descriptor) -> Iterator[str]:
    yield from (known.full_name for known in descriptor.fields)
    for nested in descriptor.nested_types:
        yield from _names_below(nested)
