"""Messages: effects of a change of the `.proto` files on existing bytes and readers.

`buf` finds wire breaks. This module adds what it cannot know: type URLs of `Any`, changes of
presence, additions with the clause on how an old reader reacts, and whether the specification
mentions them.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from lance_conformance.gate.definitions import (
    CompileError,
    Definitions,
    Field,
    comments_of,
    compile_definitions,
    copy_definitions,
    run_buf,
)
from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree

UNKNOWN_FIELD = "L.wire.unknown-field"
"""Clause on unknown fields."""

UNKNOWN_ARM = {
    "Transaction.operation": "L.txn.conflict.unknown",
    "ArrayEncoding.array_encoding": "L.array.encoding.tag",
    "PageLayout.layout": "L.page.layout.present",
    "CompressiveEncoding.compression": "L.codec.encoding.present",
}
"""Clauses on unknown arms, by the last two names of the oneof."""

Maps = Mapping[str, tuple[str, str]]
"""Kinds of key and value by the name of a map's entry message."""

_BREAKING = '{"version":"v2","breaking":{"use":["WIRE"]}}'
_TYPE_CHANGE = re.compile(r'type from "([^"]+)" to "([^"]+)"')
_NONNORMATIVE = re.compile(r"nonnormative", re.IGNORECASE)


def check(base: Tree, head: Tree) -> list[Check]:
    """Return the checks "wire breaks", "additions" and "definitions against the specification"."""
    names = ("wire breaks", "additions", "definitions and clauses")
    if base.protos is None or head.protos is None:
        return [Check(name, skipped="a tree has no .proto files") for name in names]
    try:
        before, after = compile_definitions(base.protos), compile_definitions(head.protos)
        broken = list(_wire_breaks(base.protos, head.protos, before.maps, after.maps))
    except CompileError as error:
        return [Check(names[0], (Finding(Colour.RED, "protos", str(error)),))]
    broken += _type_urls(before, after)
    added = sorted(_additions(before, after), key=lambda finding: finding.place)
    return [
        Check(names[0], tuple(broken)),
        Check(names[1], (*added, *_presence(before, after))),
        _undocumented(names[2], [finding.place for finding in added], head),
    ]


def _wire_breaks(base: Path, head: Path, before: Maps, after: Maps) -> Iterator[Finding]:
    """Yield the findings of `buf`, except renamed entry messages of maps."""
    with tempfile.TemporaryDirectory() as scratch:
        old, new = (
            copy_definitions(base, Path(scratch, "base")),
            copy_definitions(head, Path(scratch, "head")),
        )
        options = ["--error-format", "json", "--config", _BREAKING]
        done = run_buf("breaking", new, "--against", old, *options)
    for line in done.stdout.splitlines():
        found_break = json.loads(line)
        types = _TYPE_CHANGE.search(found_break["message"])
        if types and types[1] in before and before[types[1]] == after.get(types[2]):
            continue
        place = f"{Path(found_break.get('path', 'protos')).name}:{found_break.get('start_line', 1)}"
        yield Finding(Colour.RED, place, f"{found_break['message']} ({found_break['type']})")


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


def _undocumented(name: str, added: list[str], head: Tree) -> Check:
    """Report additions that no chapter mentions and no comment marks as nonnormative."""
    if not head.chapters:
        return Check(name, skipped="the head has no specification")
    chapters = "\n".join(path.read_text("utf-8") for path in head.chapters)
    marked = [
        line
        for line in comments_of(head.protos or head.root).splitlines()
        if _NONNORMATIVE.search(line)
    ]
    words = set(re.findall(r"\w+", "\n".join([chapters, *marked])))
    silent = [place for place in added if place.rpartition(".")[2] not in words]
    text = "no chapter names it and no comment marks it nonnormative"
    return Check(name, tuple(Finding(Colour.RED, place, text) for place in silent))
