"""Messages: what a change of the `.proto` files does to bytes that exist and to readers that do.

Wire breaks are found by `buf`. Ours is what it cannot know: the type URLs of `Any`, presence that
comes or goes, what was added and which clause says what an old reader does with it, and whether
the specification speaks of it at all.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from lance_conformance.gate.checks import Check, Colour, Finding
from lance_conformance.gate.definitions import (
    Definitions,
    Field,
    NotCompiled,
    buf,
    compiled,
    prose,
    source,
)
from lance_conformance.gate.trees import Tree

UNKNOWN_FIELD = "L.wire.unknown-field"
"""What readers do with a field they do not know."""

UNKNOWN_ARM = {
    "Transaction.operation": "L.txn.conflict.unknown",
    "ArrayEncoding.array_encoding": "L.array.encoding.tag",
    "PageLayout.layout": "L.page.layout.present",
    "CompressiveEncoding.compression": "L.codec.encoding.present",
}
"""What they do with an arm they do not know, by the last two names of the oneof."""

Maps = Mapping[str, tuple[str, str]]
"""Kinds of key and value by the name of a map's made-up message."""

_BREAKING = '{"version":"v2","breaking":{"use":["WIRE"]}}'
_RETYPED = re.compile(r'type from "([^"]+)" to "([^"]+)"')
_MARK = re.compile(r"nonnormative", re.IGNORECASE)


def check(base: Tree, head: Tree) -> list[Check]:
    """Return the checks "wire breaks", "additions" and "definitions against the specification"."""
    names = ("wire breaks", "additions", "definitions and clauses")
    if base.protos is None or head.protos is None:
        return [Check(name, skipped="a tree has no .proto files") for name in names]
    try:
        before, after = compiled(base.protos), compiled(head.protos)
        broken = list(_wire_breaks(base.protos, head.protos, before.maps, after.maps))
    except NotCompiled as error:
        return [Check(names[0], (Finding(Colour.RED, "protos", str(error)),))]
    broken += _type_urls(before, after)
    added = sorted(_additions(before, after), key=lambda finding: finding.place)
    return [
        Check(names[0], tuple(broken)),
        Check(names[1], (*added, *_presence(before, after))),
        _spoken_of(names[2], [finding.place for finding in added], head),
    ]


def _wire_breaks(base: Path, head: Path, before: Maps, after: Maps) -> Iterator[Finding]:
    """Yield what `buf` finds, but for maps whose made-up messages changed only their names."""
    with tempfile.TemporaryDirectory() as scratch:
        old, new = source(base, Path(scratch, "base")), source(head, Path(scratch, "head"))
        options = ["--error-format", "json", "--config", _BREAKING]
        done = buf("breaking", new, "--against", old, *options)
    for line in done.stdout.splitlines():
        told = json.loads(line)
        types = _RETYPED.search(told["message"])
        if types and types[1] in before and before[types[1]] == after.get(types[2]):
            continue
        place = f"{Path(told.get('path', 'protos')).name}:{told.get('start_line', 1)}"
        yield Finding(Colour.RED, place, f"{told['message']} ({told['type']})")


def _type_urls(before: Definitions, after: Definitions) -> Iterator[Finding]:
    for name in sorted(before.roots() - after.messages.keys()):
        short = name.rpartition(".")[2]
        moved = [other for other in after.messages if other.rpartition(".")[2] == short]
        now = f"{moved[0]} has its name now" if moved else "it is gone"
        text = f"no field refers to it, so bytes hold it whole or by its type URL, and {now}"
        yield Finding(Colour.RED, name, text)


def _additions(before: Definitions, after: Definitions) -> Iterator[Finding]:
    for name, fields in after.messages.items():
        if name not in before.messages:
            yield Finding(Colour.YELLOW, name, "new message", UNKNOWN_FIELD)
            continue
        numbers = {field.number for field in before.messages[name].values()}
        for field_name, field in fields.items():
            if field.number not in numbers:
                yield _added(f"{name}.{field_name}", name, field)
    for name, values in after.enums.items():
        for value in values.keys() - before.enums.get(name, values).keys():
            text = f"new value {values[value]}: readers of before see a number without a name"
            yield Finding(Colour.YELLOW, f"{name}.{value}", text)


def _added(place: str, message: str, field: Field) -> Finding:
    if not field.oneof:
        text = f"new field {field.number}: readers of before pass over it"
        return Finding(Colour.YELLOW, place, text, UNKNOWN_FIELD)
    oneof = f"{message.rpartition('.')[2]}.{field.oneof}"
    text = f"new arm {field.number} of {oneof}: readers of before see none of its arms"
    return Finding(Colour.YELLOW, place, text, UNKNOWN_ARM.get(oneof, UNKNOWN_FIELD))


def _presence(before: Definitions, after: Definitions) -> Iterator[Finding]:
    for name in sorted(before.messages.keys() & after.messages.keys()):
        old = {field.number: field for field in before.messages[name].values()}
        for field_name, field in after.messages[name].items():
            was = old.get(field.number)
            if was and not (was.repeated or field.repeated) and was.presence != field.presence:
                now = "can be told from 0 now" if field.presence else "cannot be told from 0 now"
                text = f"absence {now}: what an absent field means changes, the bytes do not"
                yield Finding(Colour.YELLOW, f"{name}.{field_name}", text)


def _spoken_of(name: str, added: list[str], head: Tree) -> Check:
    """Report what was added and is neither named by a chapter nor marked where it is defined."""
    if not head.chapters:
        return Check(name, skipped="the head has no specification")
    told = "\n".join(path.read_text("utf-8") for path in head.chapters)
    marked = [line for line in prose(head.protos or head.root).splitlines() if _MARK.search(line)]
    words = set(re.findall(r"\w+", "\n".join([told, *marked])))
    silent = [place for place in added if place.rpartition(".")[2] not in words]
    text = "no chapter names it and no comment marks it nonnormative"
    return Check(name, tuple(Finding(Colour.RED, place, text) for place in silent))
