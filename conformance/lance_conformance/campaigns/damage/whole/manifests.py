"""Hostile manifests: each function changes the latest manifest of a table, and tells how."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from random import Random

from lanceref.proto import file_pb2

from lance_conformance.campaigns.damage.whole.fields import (
    NAMES,
    OUTSIDE,
    change_some,
    edited,
    latest,
    size_of,
    unknown_fields,
)

ANY = b"/google.protobuf.Any"

MOST_FRAGMENTS = 100_000
MOST_FIELDS = 10_000
MOST_UNKNOWN = 100_000
MOST_INDICES = 3000


def many_fragments(root: Path, rng: Random) -> str:
    """Add fragments: without files, copies under other ids, or copies under the same one."""
    kind = rng.choice(("empty", "copies", "same id"))
    count = size_of(rng, 100, MOST_FRAGMENTS if kind == "empty" else MOST_FRAGMENTS // 20)
    with edited(latest(root)) as message:
        if kind == "empty":
            del message.fragments[:]
        first = message.max_fragment_id + 1
        for number in range(count):
            one = message.fragments.add()
            if kind != "empty":
                one.CopyFrom(message.fragments[0])
            one.id = 0 if kind == "same id" else first + number
        message.max_fragment_id = first + count
    return f"{count} {kind}"


def unknown(root: Path, rng: Random) -> str:
    """Append fields that nobody knows, to one of the messages."""
    count = size_of(rng, 10, MOST_UNKNOWN)
    with edited(latest(root)) as message:
        held = [name for name in ("transaction", "index") if message.HasField(f"{name}_section")]
    where = rng.choice(("manifest", *held)).replace("index", "index section")
    with edited(latest(root), where) as message:
        message.MergeFromString(unknown_fields(rng, count))
    return f"{count} in {where}"


def nested_any(root: Path, rng: Random) -> str:
    """Put an `Any` into an `Any`, again and again, into what describes an index."""
    depth = size_of(rng, 2, 3000)
    value = b""
    for _ in range(depth):
        value = _sized(1, ANY) + _sized(2, value)
    with edited(latest(root), "index section") as section:
        index = section.indices[0] if rng.random() < 0.5 else section.indices.add()
        index.name = index.name or "x_idx"
        index.uuid.uuid = index.uuid.uuid or bytes(16)
        index.fields[:] = list(index.fields) or [0]
        index.index_details.type_url = ANY.decode()
        index.index_details.value = value
    return f"{depth} deep"


def _sized(number: int, data: bytes) -> bytes:
    size, out = len(data), bytearray([number << 3 | 2])
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    return bytes(out) + bytes([size]) + data


def strange_schema(root: Path, rng: Random) -> str:
    """Nest fields deeply, in a circle, or add very many of them."""
    kind = rng.choice(("structs", "lists", "circle", "wide", "same id", "same name"))
    count = size_of(rng, 2, 50 if kind == "circle" else MOST_FIELDS)
    types = {"structs": "struct", "lists": "list", "circle": "struct"}
    with edited(latest(root)) as message:
        fields = message.fields
        first = 1 + max(field.id for field in fields)
        deep = kind in types
        for number in range(count):
            one = fields.add(id=first + number, name=f"f{number}", nullable=True)
            one.parent_id = first + number - 1 if deep and number else -1
            one.logical_type = types.get(kind, "int64")
            one.type = file_pb2.Field.PARENT if deep else file_pb2.Field.LEAF
            one.name = "id" if kind == "same name" else one.name
            one.id = first if kind == "same id" else one.id
        fields[-1].logical_type = "int64"
        if kind == "circle":
            fields[-count].parent_id = fields[-1].id
        message.max_allocated_field_id = first + count
    return f"{count} {kind}"


def changed_transaction(root: Path, rng: Random) -> str:
    """Change up to three fields of the transaction, in the manifest and in its own file."""
    with edited(latest(root)) as manifest:
        named = root / "_transactions" / manifest.transaction_file
    with edited(latest(root), "transaction") as transaction:
        told = change_some(transaction, rng)
        if rng.random() < 0.5:
            named.write_bytes(transaction.SerializeToString())
            return f"{told}; in both"
    return told


def wandering_paths(root: Path, rng: Random) -> str:
    """Let a name of the manifest lead to a file of the victim, or to nowhere."""
    victim = root.parent / "outside" / "victim"
    files = [path.relative_to(root.parent) for path in sorted(victim.rglob("*")) if path.is_file()]
    within = rng.choice([path for path in files if path.parent.name == "data"])
    name = rng.choice((f"../../{within}", str(root.parent / within), f"../{within}", *NAMES))
    with edited(latest(root)) as message:
        fragment = rng.choice(message.fragments)
        kind = rng.choice(("data file", "data file", "transaction", "branch", "tag", "index file"))
        if kind == "data file" and fragment.files:
            rng.choice(fragment.files).path = name
        elif kind == "transaction":
            message.transaction_file = name
        elif kind == "branch":
            message.branch = rng.choice((f"../{OUTSIDE}", name))
        elif kind == "tag":
            message.tag = name
    if kind == "index file" and message.HasField("index_section"):
        with edited(latest(root), "index section") as section:
            section.indices[0].files.add(path=name, size_bytes=rng.choice((0, 100)))
    return f"{kind} {name!r:.60}"


def many_indices(root: Path, rng: Random) -> str:
    """Add entries of indices: copies, of fields that there are not, of no uuid."""
    count = size_of(rng, 2, MOST_INDICES)
    kind = rng.choice(("copies", "strange fields", "short uuids"))
    with edited(latest(root), "index section") as section:
        model = deepcopy(section.indices[0])
        if kind == "strange fields":
            model.fields[:] = [rng.choice((-1, 77, 2**31 - 1))] * rng.choice((0, 1, 1000))
        if kind == "short uuids":
            model.uuid.uuid = bytes(rng.choice((0, 15, 17)))
        for number in range(count):
            one = section.indices.add()
            one.CopyFrom(model)
            one.name = model.name if kind == "copies" else f"i{number}"
    return f"{count} {kind}"


def strange_bases(root: Path, rng: Random) -> str:
    """Add base paths that lead to devices, in circles or nowhere, and let files lie there."""
    places = ("/dev", "/proc/self", ".", "..", "", "\0", "x" * 5000, str(root), f"{root}/data/..")
    count = size_of(rng, 1, 5000)
    with edited(latest(root)) as message:
        for number in range(count):
            one = message.base_paths.add(id=rng.choice((number, 1)), path=rng.choice(places))
            one.is_dataset_root = rng.random() < 0.5
        for fragment in message.fragments:
            for one in fragment.files:
                one.base_id = rng.choice((0, 1, count, 2**32 - 1))
        message.reader_feature_flags |= 16
        message.writer_feature_flags |= 16
    return f"{count}"


def strange_settings(root: Path, rng: Random) -> str:
    """Set what writers obey: when to clean up, and other entries of the config."""
    keys = ("interval", "older_than", "retain_versions", "x")
    values = (*NAMES, "0", "1", "-1", "1e9d", "9" * 30, "1s", "NaN", "true", "1d 1d", "P1D")
    with edited(latest(root)) as message:
        config = message.config
        for key in keys:
            config[f"lance.auto_cleanup.{key}"] = rng.choice(values)
        for number in range(size_of(rng, 1, 20_000)):
            config[f"k{number}"] = "v"
        return str(dict(list(config.items())[:4]))[:120]
