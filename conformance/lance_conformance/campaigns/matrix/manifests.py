"""Manifests: what two writers that did the same wrote down, compared without what is by chance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf.message import Message
from pylanceref.dataset import dataset

CHANCE = frozenset(
    {
        "path", "uuid", "timestamp", "created_at", "transaction_file", "version_aux_data",
        "index_section", "transaction_section", "file_size_bytes", "writer_version",
        "deletion_file.id", "files.size_bytes",
    }
)  # fmt: skip
"""Fields that differ from one commit to the next, or name places in a file."""


def manifest_differences(expected: Path, found: Path) -> list[str]:
    """Return where the latest manifests of two tables tell different things."""
    ours, theirs = (dict(_told(_message(path))) for path in (expected, found))
    return [
        f"{name}: expected {ours.get(name)}, found {theirs.get(name)}"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]


def _message(path: Path) -> Message:
    message: Message = dataset(path)._snapshot.manifest.message
    return message


def _told(message: Message, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield every field of a message that is no chance, by its path."""
    for field, value in message.ListFields():
        name = f"{at}{field.name}"
        if field.name == "file_size_bytes":
            yield name, "there"
        if field.name in CHANCE or name.split(".", 1)[-1] in CHANCE:
            continue
        values = value if field.is_repeated else [value]
        if field.message_type is None:
            yield name, str(value)
        elif field.message_type.GetOptions().map_entry:
            yield name, str(sorted((key, str(value[key])) for key in value))
        else:
            for number, item in enumerate(values):
                place = f"{name}[{number}]" if field.is_repeated else name
                yield place, "there"
                yield from _told(item, f"{place}.")
