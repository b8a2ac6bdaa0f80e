"""The suite: canonical manifests, hashes, and `SUITE.json` that records them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lance_conformance import __version__, schemas
from lance_conformance.protocol import messages
from lance_conformance.suite import case_storage, subset
from lance_conformance.suite.case_storage import DATA_FILE
from lance_conformance.suite.cases import MANIFEST, manifests_hash
from lance_conformance.suite.hexmap import HEXMAP_SUFFIX, build_hexmap

SUITE = subset.SUITE_FILE
SCHEMA_VERSIONS = {"case": 1, "report": 1, "protocol": messages.VERSION}


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema of a case manifest."""
    return schemas.load("case")


FIXED_MEMBERS_OF_SUBSETS = ("suite", "schemas")
FIXED_MEMBERS = (*FIXED_MEMBERS_OF_SUBSETS, "counts", "tree_sha256", "manifests_sha256")
"""Members of `SUITE.json` that are compared with the files; of a subset only the first."""

TABLES_AS_JSON = ("expect.json", "input.json")
"""Tables that `copy --expect json` writes next to their Arrow files."""


def canonical_text(manifest: Mapping[str, Any]) -> str:
    """Return the canonical text of a manifest: keys in schema order, one line per member."""
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
    """Return the files of a case that its hash covers by name, including the hexmap."""
    files = {
        name: data for name, data in case_storage.read_case(home).items() if not _is_companion(name)
    }
    if DATA_FILE in files:
        files.setdefault(f"{DATA_FILE}{HEXMAP_SUFFIX}", build_hexmap(files[DATA_FILE]).encode())
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


def suite_document(root: Path) -> dict[str, Any]:
    """Return the expected content of `SUITE.json`; notes on flags are copied from it."""
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


def write_suite(root: Path) -> None:
    """Write `SUITE.json`."""
    text = json.dumps(suite_document(root), indent=2, ensure_ascii=False) + "\n"
    (root / SUITE).write_text(text, encoding="utf-8")


def suite_problems(root: Path) -> list[str]:
    """Return the differences between `SUITE.json` and the files."""
    path = root / SUITE
    if not path.exists():
        return [f"no {SUITE}"]
    stored, actual = json.loads(path.read_text("utf-8")), suite_document(root)
    whole = subset.full_suite(root)
    chosen = stored[subset.SUBSET_KEY]["ids"] if whole else stored.get("cases", {}).keys()
    fixed = FIXED_MEMBERS_OF_SUBSETS if whole else FIXED_MEMBERS
    found = [
        f"{key}: {SUITE} does not match the files"
        for key in fixed
        if stored.get(key) != actual[key]
    ]
    was = {name: stored["cases"][name] for name in chosen}
    now = actual["cases"]
    found += [f"{name}: published, and removed" for name in sorted(was.keys() - now.keys())]
    found += [f"{name}: not in {SUITE}" for name in sorted(now.keys() - was.keys())]
    same = was.keys() & now.keys()
    found += [f"{name}: published, and changed" for name in sorted(same) if was[name] != now[name]]
    flags = {flag for p in root.rglob(MANIFEST) for flag in _flags(p)}
    found += [f"flag {flag} has no note" for flag in sorted(flags - actual["notes"].keys())]
    return found


def _flags(path: Path) -> list[str]:
    flags: list[str] = json.loads(path.read_text("utf-8")).get("flags", [])
    return flags


def _is_companion(name: str) -> bool:
    """Whether a file is not part of a case: a page, or a table added by `copy`."""
    return name.endswith(".md") or name.rpartition("/")[2] in TABLES_AS_JSON
