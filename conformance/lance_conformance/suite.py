"""The suite as a whole: canonical manifests, hashes, and `SUITE.json` that fixes them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lance_conformance import __version__, protocol, schemas, stored, subset
from lance_conformance.cases import MANIFEST, manifests_hash
from lance_conformance.hexmap import HEXMAP, hexmap
from lance_conformance.recipes.model import DATA

SUITE = subset.NAME
SCHEMA_VERSIONS = {"case": 1, "report": 1, "protocol": protocol.VERSION}


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema of a case manifest."""
    return schemas.load("case")


FIXED_OF_ANY = ("suite", "schemas")
FIXED = (*FIXED_OF_ANY, "counts", "tree_sha256", "manifests_sha256")
"""Members of `SUITE.json` that say what the files are; of a subset only the first."""

TABLES_AS_JSON = ("expect.json", "input.json")
"""Tables that `copy --expect json` lays beside their Arrow files."""


def canonical(manifest: Mapping[str, Any]) -> str:
    """Return the stored text of a manifest: keys in the order of the schema, a line a member."""
    ordered = _ordered(manifest, case_schema())
    members = (f"  {_json(key)}: {_json(value)}" for key, value in ordered.items())
    return "{\n" + ",\n".join(members) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _ordered(value: Any, schema: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        schema = case_schema()["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if isinstance(value, list):
        return [_ordered(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    keys = [*(key for key in known if key in value), *sorted(value.keys() - known.keys())]
    return {key: _ordered(value[key], known.get(key, {})) for key in keys}


def case_files(home: Path) -> dict[str, bytes]:
    """Return the files of a case that its hash covers, by name: all, with the map of its bytes."""
    files = {name: data for name, data in stored.read_case(home).items() if not _is_beside(name)}
    if DATA in files:
        files.setdefault(f"{DATA}{HEXMAP}", hexmap(files[DATA]).encode())
    return files


def tree_hash(root: Path) -> str:
    """Return a hash over the relative paths and contents of all files of the cases below `root`."""
    return _hash(
        {
            f"{path.parent.relative_to(root).as_posix()}/{name}".removeprefix("./"): digest
            for path in root.rglob(MANIFEST)
            for name, digest in _digests(path.parent).items()
        }
    )


def _digests(home: Path) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in case_files(home).items()}


def _hash(digests: Mapping[str, str]) -> str:
    lines = (f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def describe(root: Path) -> dict[str, Any]:
    """Return what `SUITE.json` must say; the notes on flags are taken over from it."""
    path = root / SUITE
    notes = json.loads(path.read_text("utf-8"))["notes"] if path.exists() else {}
    texts = {path: path.read_bytes() for path in sorted(root.rglob(MANIFEST))}
    manifests = [json.loads(text) for text in texts.values()]
    cases = {manifest["id"]: _digests(root / manifest["id"]) for manifest in manifests}
    kinds = Counter(manifest["kind"] for manifest in manifests)
    return {
        "suite": __version__,
        "schemas": SCHEMA_VERSIONS,
        "counts": {"cases": len(manifests), "kinds": dict(sorted(kinds.items()))},
        "cases": {name: _hash(digests) for name, digests in cases.items()},
        "tree_sha256": _hash(
            {
                f"{case}/{name}": one
                for case, digests in cases.items()
                for name, one in digests.items()
            }
        ),
        "manifests_sha256": manifests_hash(root, texts),
        "notes": notes,
    }


def write(root: Path) -> None:
    """Write `SUITE.json`."""
    text = json.dumps(describe(root), indent=2, ensure_ascii=False) + "\n"
    (root / SUITE).write_text(text, encoding="utf-8")


def verify(root: Path) -> list[str]:
    """Return where `SUITE.json` and the files disagree."""
    path = root / SUITE
    if not path.exists():
        return [f"no {SUITE}"]
    stored, actual = json.loads(path.read_text("utf-8")), describe(root)
    whole = subset.whole(root)
    chosen = stored[subset.KEY]["ids"] if whole else stored.get("cases", {}).keys()
    fixed = FIXED_OF_ANY if whole else FIXED
    found = [
        f"{key}: {SUITE} does not say what the files are"
        for key in fixed
        if stored.get(key) != actual[key]
    ]
    was = {name: stored["cases"][name] for name in chosen}
    now = actual["cases"]
    found += [f"{name}: published, and gone" for name in sorted(was.keys() - now.keys())]
    found += [f"{name}: not in {SUITE}" for name in sorted(now.keys() - was.keys())]
    same = was.keys() & now.keys()
    found += [f"{name}: published, and changed" for name in sorted(same) if was[name] != now[name]]
    flags = {flag for p in root.rglob(MANIFEST) for flag in _flags(p)}
    found += [f"flag {flag} has no note" for flag in sorted(flags - actual["notes"].keys())]
    return found


def _flags(path: Path) -> list[str]:
    flags: list[str] = json.loads(path.read_text("utf-8")).get("flags", [])
    return flags


def _is_beside(name: str) -> bool:
    """Whether a file is no part of a case: a page, or a table that `copy` lays beside it."""
    return name.endswith(".md") or name.rpartition("/")[2] in TABLES_AS_JSON
