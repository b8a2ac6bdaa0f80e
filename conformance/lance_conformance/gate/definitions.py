"""Definitions: the messages of a folder of `.proto` files, flattened for comparison.

`buf` compiles them; every message, field and enumeration value is identified by its full name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
)

BUF_MISSING_TEXT = (
    "the program buf is not installed; install it with: pip install 'lance-conformance[gate]'"
)


class BufMissing(Exception):
    """The compiler of `.proto` files is not installed."""


class CompileError(Exception):
    """A folder of definitions does not compile; the message is that of the compiler."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field; `oneof` is empty outside one, `presence` is whether absent and 0 differ."""

    number: int
    kind: str
    repeated: bool
    oneof: str
    presence: bool


@dataclass(slots=True)
class Definitions:
    """Messages with their fields and enumerations with their values, by full name.

    `maps` has the kinds of key and value of each map field, by the name of its entry message.
    """

    messages: dict[str, dict[str, Field]] = field(default_factory=dict)
    maps: dict[str, tuple[str, str]] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)

    def roots(self) -> set[str]:
        """Return the messages that no field refers to: roots of files, and targets of type URLs."""
        used = {f.kind for fields in self.messages.values() for f in fields.values()}
        inner = {name for name in self.messages if name.rpartition(".")[0] in self.messages}
        return self.messages.keys() - used - inner


def compile_definitions(folder: Path) -> Definitions:
    """Return the definitions of a folder of `.proto` files. Raises CompileError."""
    with tempfile.TemporaryDirectory() as scratch:
        image = Path(scratch, "image.binpb")
        done = run_buf("build", copy_definitions(folder, Path(scratch, "in")), "-o", str(image))
        if done.returncode != 0:
            raise CompileError(done.stderr.strip())
        files = FileDescriptorSet.FromString(image.read_bytes())
    found = Definitions()
    for file in files.file:
        if not file.name.startswith("google/"):
            for message in file.message_type:
                _add_message(found, file.package, message)
            for enum in file.enum_type:
                _add_enum(found, file.package, enum)
    return found


def copy_definitions(folder: Path, target: Path) -> str:
    """Copy the `.proto` files of a folder to `target` and return its path.

    Settings files are not copied: the gate itself defines what a breaking change is.
    """
    target.mkdir()
    for path in sorted(folder.glob("*.proto")):
        shutil.copy(path, target)
    return str(target)


def run_buf(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `buf`. Raises BufMissing where it is not installed."""
    return subprocess.run([buf_path(), *arguments], capture_output=True, text=True, check=False)


def buf_path() -> str:
    """Return the path of `buf`, on PATH or in this environment. Raises BufMissing."""
    found = shutil.which("buf") or shutil.which("buf", path=str(Path(sys.executable).parent))
    if found is None:
        raise BufMissing(BUF_MISSING_TEXT)
    return found


def comments_of(folder: Path) -> str:
    """Return the comments of a folder of `.proto` files."""
    texts = (path.read_text("utf-8") for path in sorted(folder.glob("*.proto")))
    return "\n".join(line for text in texts for line in re.findall(r"//(.*)", text))


def _add_message(found: Definitions, scope: str, message: DescriptorProto) -> None:
    name = f"{scope}.{message.name}"
    if message.options.map_entry:
        key, value = (_field(field, []).kind for field in message.field)
        found.maps[name] = key, value
        return
    oneofs = [oneof.name for oneof in message.oneof_decl]
    found.messages[name] = {field.name: _field(field, oneofs) for field in message.field}
    for inner in message.nested_type:
        _add_message(found, name, inner)
    for enum in message.enum_type:
        _add_enum(found, name, enum)


def _field(field: FieldDescriptorProto, oneofs: list[str]) -> Field:
    kind = field.type_name.lstrip(".") or FieldDescriptorProto.Type.Name(field.type).lower()
    inside = field.HasField("oneof_index") and not field.proto3_optional
    message = field.type == FieldDescriptorProto.TYPE_MESSAGE
    return Field(
        number=field.number,
        kind=kind,
        repeated=field.label == FieldDescriptorProto.LABEL_REPEATED,
        oneof=oneofs[field.oneof_index] if inside else "",
        presence=inside or message or field.proto3_optional,
    )


def _add_enum(found: Definitions, scope: str, enum: EnumDescriptorProto) -> None:
    found.enums[f"{scope}.{enum.name}"] = {value.name: value.number for value in enum.value}
