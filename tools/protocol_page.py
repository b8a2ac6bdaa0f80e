"""Protocol page: `conformance/PROTOCOL.md`, made of the JSON Schemas and of cases.

Each operation has its fields, types and an example: the request of a case, with the answer that the
reference gives to it. Both are validated against the schema.

    python tools/protocol_page.py            write the page
    python tools/protocol_page.py --check    fail when the page differs
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from findings import Finding, conclude
from lance_conformance import schemas
from lance_conformance.adapters.reference import in_process
from lance_conformance.protocol import messages
from lance_conformance.protocol.input_copy import copy_input
from lance_conformance.suite import vocabulary
from lance_conformance.suite.case_storage import case_folder
from sources import ROOT

PAGE = "conformance/PROTOCOL.md"
"""The page."""

TEXTS = ROOT / "conformance/lance_conformance/schemas"
"""Folder of the handwritten parts."""

EXAMPLES = {
    "file.inspect": "file/2.1/miniblock/plain",
    "file.read": "file/2.1/miniblock/plain",
    "dataset.read": "table/any/versions/tag",
    "dataset.take": "table/any/manifest/plain",
    "dataset.versions": "table/any/versions/list",
    "dataset.describe": "table/any/manifest/plain",
    "index.search": "index/any/btree/plain",
    "index.dump": "index/any/btree/content",
    "write.dataset": "table/any/writing/create-2-1",
    "commit.apply": "txn/any/columns/merge",
    "mutate": "table/any/writing/update",
    "validate": "file/2.1/container/neg-cmo-start",
}
"""The case whose request is the example of an operation."""

MORE: dict[str, dict[str, Any]] = {
    "dataset.take": {"offsets": ["0", "2"]},
    "validate": {"deep": True},
}
"""Fields of examples that their cases do not name."""

VERBS = {
    "delete": ('{"predicate": "a = 1"}', "removes the rows for which it is true"),
    "update": ('{"where": "a = 1", "updates": {"b": "b + 1"}}', "gives columns new values, in SQL"),
    "merge_insert": (
        '{"input": PATH, "on": ["a"], "when_matched": "update_all", "when_not_matched": '
        '"insert_all"}',
        "updates the rows whose keys are in a file, and inserts the others",
    ),
    "compact": (
        '{"materialize_deletions_threshold": 0.0}',
        "joins small fragments; drops deleted rows of fragments with a larger share of them",
    ),
    "add_columns": ('{"expressions": {"c": "a + 1"}}', "adds columns, computed in SQL"),
    "drop_columns": ('{"columns": ["a"]}', "drops columns"),
    "create_index": ('{"column": "a", "index_type": "BTREE"}', "makes an index"),
    "cleanup": (
        '{"error_if_tagged_old_versions": false}',
        "removes all versions but the latest and those with tags",
    ),
}
"""What each verb of `mutate` takes."""

GREETING: tuple[dict[str, Any], dict[str, Any]] = (
    {
        "id": 0,
        "op": "hello",
        "protocol": 1,
        "suite": "0.1.0",
        "scratch": "…",
        "limits": {"seconds": 5.0, "memory_mb": 2048},
    },
    {
        "id": 0,
        "ok": {
            "protocol": 1,
            "implementation": {"name": "mine", "version": "1", "language": "go"},
            "capabilities": {"file.read": {"versions": ["2.1", "2.2"], "projection": ["top"]}},
            "encodings": {"exclude": ["zstd"]},
            "flags": {"reader_known": "3"},
        },
    },
)
"""The example of a greeting."""

WORDS = {
    "versions": "file versions; absent: all",
    "projection": "a list of `top`, columns can be chosen, and `nested`, fields of structs too",
    "ranges": "true: ranges of rows are supported",
    "rows": "true: single rows are supported",
    "filter": "true: filters are supported",
    "limit": "true: `limit` and `offset` are supported",
    "types": "types of indices, by the words below; absent: all",
    "nearest": "true: vector searches are supported",
    "text": "true: full-text queries are supported",
    "scan": "false: rows cannot be looked at without an index",
    "modes": "modes of writing",
    "operations": "messages of operations; absent: all",
    "verbs": "verbs of `mutate`; absent: all",
}
"""Meaning of the members of a claim in `hello`."""

_OUT = {"file.read", "dataset.read", "dataset.take", "index.search", "index.dump"}


def kind(schema: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        words = {"u64s": "u64 as text", "hex": "hex text", "id": "integer or text"}
        return str(words.get(name, name))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " / ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}" if "items" in schema else "list"
    named = str(schema.get("type", "any"))
    return {"string": "text", "boolean": "true / false"}.get(named, named)


def fields(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[str]:
    """Yield the rows of a table of fields."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[-1]]
    shown = {name: one for name, one in schema.get("properties", {}).items() if name != "op"}
    if not shown:
        yield "no fields"
        return
    yield from ("| field | type | meaning |", "|---|---|---|")
    for name, one in shown.items():
        need = "" if name in schema.get("required", ()) else " (optional)"
        meaning = str(one.get("description", "")).replace("|", "\\|")
        if one.get("type") == "array" and isinstance(one.get("items"), dict):
            inner = one["items"].get("properties", {})
            meaning += f" (`{'`, `'.join(inner)}`)" if inner else ""
        elif one.get("properties"):
            meaning += f" (`{'`, `'.join(one['properties'])}`)"
        yield f"| `{name}` | {kind(one)}{need} | {meaning.strip()} |"


def capabilities(hello: dict[str, Any]) -> Iterator[str]:
    """Yield the tables of the claims of each operation in `hello`."""
    properties = hello["properties"]["capabilities"]["properties"]
    yield from ("| capability | words |", "|---|---|")
    for op, one in properties.items():
        yield f"| `{op}` | {', '.join(f'`{word}`' for word in one.get('properties', ()))} |"
    yield from ("", "| word | meaning |", "|---|---|")
    for word, meaning in WORDS.items():
        yield f"| `{word}` | {meaning} |"


def example(op: str, root: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the request of a case for an operation, and the answer of the reference."""
    folder = case_folder(root / "fixtures" / EXAMPLES[op])
    case_input = json.loads((folder / "case.json").read_text("utf-8"))["input"]
    with tempfile.TemporaryDirectory() as scratch:
        place = "path" if "path" in case_input else "uri"
        input_path = copy_input(folder / case_input[place], Path(scratch))
        step = next((one for one in case_input.get("steps", ()) if one["op"] == op), None)
        request: dict[str, Any] = {place: str(input_path), **MORE.get(op, {})}
        request |= step["args"] if step else case_input.get("args", {})
        if "input" in request:
            request["input"] = str(folder / request["input"])
        if op in _OUT:
            request["out"] = f"{scratch}/out.arrow"
        answer = in_process(op, request)
        places = {str(folder): "…", scratch: "…"}
        return _shown({"op": op, **request}, places), _shown(answer, places)


def _shown(message: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    text = json.dumps({"id": 1, **message}, ensure_ascii=False)
    for place, word in places.items():
        text = text.replace(place, word)
    shown: dict[str, Any] = json.loads(text)
    return shown


def render(root: Path) -> tuple[str, list[Finding]]:
    """Return the page, and what of its examples breaks the schema."""
    definitions = schemas.load("protocol")["$defs"]
    findings = list[Finding]()
    lines = [(TEXTS / "protocol-introduction.md").read_text("utf-8").rstrip(), ""]
    lines += [*fields(definitions["response"], definitions), ""]
    for name in ("stage", "kind"):
        lines += [f"`{name}` of a refusal: {kind(definitions[name])}.", ""]
    lines += ["## Operations", ""]
    ops = [name.removesuffix(".request") for name in definitions if name.endswith(".request")]
    for op in ops:
        lines += [f"### {op}", "", definitions[f"{op}.request"]["description"], ""]
        lines += [*fields(definitions[f"{op}.request"], definitions), ""]
        if f"{op}.ok" in definitions:
            lines += ["Body of `ok`:", "", *fields(definitions[f"{op}.ok"], definitions), ""]
        if op == "hello":
            lines += [*capabilities(definitions["hello.ok"]), ""]
        if op == "mutate":
            lines += ["| verb | example of args | does |", "|---|---|---|"]
            lines += [f"| `{verb}` | `{args}` | {does} |" for verb, (args, does) in VERBS.items()]
            lines += [""]
        if op in EXAMPLES or op == "hello":
            request, answer = example(op, root) if op in EXAMPLES else GREETING
            wrong = schemas.problems("protocol", request, f"{op}.request")
            wrong += messages.response_problems(op, answer)
            findings += [Finding(PAGE, 0, f"example of {op}: {problem}") for problem in wrong]
            arrows = (("→", request), ("←", answer))
            lines += ["```", *(f"{a} {json.dumps(m, ensure_ascii=False)}" for a, m in arrows)]
            lines += ["```", ""]
    lines += ["## Queries", ""]
    for name in ("filter", "nearest", "text"):
        lines += [f"### {name}", "", definitions[name].get("description", ""), ""]
        lines += [*fields(definitions[name], definitions), ""]
    lines += [(TEXTS / "protocol-cases.md").read_text("utf-8").rstrip(), ""]
    lines += [
        f"* types: {_words(vocabulary.TYPES)}",
        f"* encodings: {_words(vocabulary.ENCODINGS)}",
    ]
    lines += [f"* `{word}`: {meaning}" for word, meaning in vocabulary.FEATURES.items()]
    lines += [f"* indices: {_words(vocabulary.INDICES)}"]
    return "\n".join(lines) + "\n", findings


def _words(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    options = parser.parse_args()
    text, findings = render(ROOT)
    path = ROOT / PAGE
    if options.check and (not path.exists() or path.read_text("utf-8") != text):
        findings.append(Finding(PAGE, 0, "is not up to date: run tools/protocol_page.py"))
    if not options.check:
        path.write_text(text, "utf-8")
    return conclude("protocol page", findings)


if __name__ == "__main__":
    raise SystemExit(main())
