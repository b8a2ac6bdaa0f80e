"""Derived requirements: what the bytes of a case ask of a reader, in the words of the vocabulary.

`explain` parses the data files, and of a table the manifest of the version that is read; the words
are those of its spans. A damaged case asks what the case asks that it was made from; one that is
read (`lint`) what its own bytes ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from lanceref.core.spans import Span
from lanceref.file.arrow_schema import schema_of
from lanceref.inspection import explain_source
from lanceref.storage.protocol import BytesSource

from lance_conformance.vocabulary import CHOICES, LEGACY_ENCODINGS, SCHEMES, type_words

_SYSTEM_COLUMNS = {"_rowid": "row-id", "_rowaddr": "row-address"}

_STABLE_ROW_IDS = 2
"""Bit of the reader word of a manifest."""

_VERSIONS: Mapping[tuple[object, object], str] = {
    (0, 0): "0.1", (0, 1): "0.1", (0, 2): "0.1", (0, 3): "2.0", (2, 0): "2.0",
}  # fmt: skip
"""File versions by the words of the footer, where these are not major and minor."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words of one file; `files` are the data files that a manifest names, `number` its version."""

    versions: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    encodings: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    reader_flags: int = 0
    number: int = 0


def derive(folder: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the input of a case asks for: the keys of `requires` that are in the bytes.

    `asked` is the `input` of its manifest, in `folder`. The version of the files is the highest of
    those that are read, else that of the table, which may be yet to be created.
    """
    args = asked.get("args", {})
    features = {"row-id", "row-address"} & {_SYSTEM_COLUMNS.get(n) for n in args.get("with", ())}
    features |= {name for name in ("branch", "tag", "version") if name in args}
    if "path" in asked:
        manifest, files = Words(), [_words(folder / asked["path"])]
    else:
        root = folder / asked["uri"]
        manifest = _manifest(root, args)
        named = {Path(name).name for name in manifest.files}
        places = sorted(path for path in root.rglob("*") if path.name in named and path.is_file())
        files = [_words(path) for path in places]
    versions = {version for words in files or [manifest] for version in words.versions}
    versions |= {step["args"]["version"] for step in asked.get("steps", ()) if _creates(step)}
    written = [_of_rows(folder / name) for name in _inputs(asked)]
    found, flags = [manifest, *files, *written], manifest.reader_flags
    words = {
        "file_version": max(versions, default=""),
        "types": _all(words.types for words in found),
        "encodings": _all(words.encodings for words in found),
        "features": sorted(features.union(*(words.features for words in found))),
        "reader_flags": str(flags) if flags else "",
    }
    return {key: value for key, value in words.items() if value}


def _inputs(asked: Mapping[str, Any]) -> list[str]:
    """Return the names of the Arrow files with rows that the steps write."""
    given = [step["args"] for step in asked.get("steps", ())]
    given += [args["args"] for args in given if "args" in args]
    return sorted({args["input"] for args in given if "input" in args})


def _of_rows(path: Path) -> Words:
    """Return the words of an Arrow file: the types of its columns."""
    with pa.OSFile(str(path)) as file:
        schema = schema_of(pa.ipc.open_file(file).schema)
    logical = [field.logical_type for field in schema.flat()]
    return Words(types=frozenset().union(*map(type_words, logical)))


def _creates(step: Mapping[str, Any]) -> bool:
    return (step["op"], step["args"].get("mode")) == ("write.dataset", "create")


def _all(sets: Iterable[frozenset[str]]) -> list[str]:
    return sorted(frozenset().union(*sets))


def _manifest(root: Path, args: Mapping[str, Any]) -> Words:
    """Return the words of the manifest that is read: the latest, or what is asked for."""
    number = int(args.get("version", 0))
    if "tag" in args:
        tag = json.loads((root / "_refs" / "tags" / f"{args['tag']}.json").read_text("utf-8"))
        number = int(tag["version"])
        args = {"branch": tag.get("branch"), **args}
    line = root / "tree" / args["branch"] if args.get("branch") else root
    every = [_words(path) for path in sorted((line / "_versions").glob("*.manifest"))]
    read = (one for one in every if number in (0, one.number))
    return max(read, key=lambda one: one.number, default=Words())


def _words(path: Path) -> Words:
    return _explained(path.read_bytes(), path.name)


@lru_cache(maxsize=4096)
def _explained(data: bytes, name: str) -> Words:
    """Return the words of a file by its bytes; `name` says what kind of file it is."""
    spans = list(_below(explain_source(BytesSource(data, name)).root))
    if name.endswith(".manifest"):
        return _of_manifest(spans)
    leaves = [(span.name, span.value) for span in spans if span.is_leaf]
    major, minor = (next(value for name, value in leaves if name == word) for word in _FOOTER)
    version = _VERSIONS.get((major, minor), f"{major}.{minor}")
    encodings = {
        CHOICES[choice]
        for span in spans
        for child in span.children
        if (choice := (str(span.value), child.name.partition(":")[0])) in CHOICES
    }
    encodings |= {SCHEMES[value] for name, value in leaves if name == "scheme"}
    if version == "0.1":
        encodings |= {LEGACY_ENCODINGS[value] for name, value in leaves if name == "encoding"}
    return Words(
        versions=frozenset({version}),
        types=_types(leaves),
        encodings=frozenset(encodings),
        features=_blobs(leaves),
    )


_FOOTER = ("major", "minor")


def _of_manifest(spans: list[Span]) -> Words:
    (manifest,) = (span for span in spans if span.value == "lance.table.Manifest")
    inside = list(_below(manifest))
    leaves = [(span.name, span.value) for span in inside if span.is_leaf]
    groups = [span for span in inside if not span.is_leaf]
    own = {span.name: span.value for span in manifest.children if span.is_leaf}
    flags, number = own.get("reader_feature_flags", 0), own["version"]
    assert isinstance(flags, int)
    assert isinstance(number, int)
    features = set(_blobs(leaves))
    for word, field in (
        ("base-paths", "base_paths"),
        ("deletion-files", "deletion_file"),
        ("overlays", "overlays"),
    ):
        if _named(groups, field):
            features.add(word)
    counts = [len(_named(one.children, "files")) for one in _named(groups, "fragments")]
    if max(counts, default=0) > 1:
        features.add("several-data-files")
    if flags & _STABLE_ROW_IDS:
        features.add("stable-row-ids")
    formats = (leaf for one in _named(groups, "data_format") for leaf in one.leaves())
    return Words(
        versions=frozenset(str(leaf.value) for leaf in formats if leaf.name == "version"),
        types=_types(leaves),
        features=frozenset(features),
        files=frozenset(str(value) for name, value in leaves if name == "path"),
        reader_flags=flags,
        number=number,
    )


def _named(spans: Iterable[Span], field: str) -> list[Span]:
    """Return the messages among spans that are the values of a field."""
    return [span for span in spans if span.name.startswith(f"{field}:")]


def _types(leaves: list[tuple[str, object]]) -> frozenset[str]:
    logical = (str(value) for name, value in leaves if name == "logical_type")
    return frozenset().union(*map(type_words, logical))


def _blobs(leaves: list[tuple[str, object]]) -> frozenset[str]:
    named = {value for _, value in leaves if isinstance(value, str)}
    marks = {"lance-encoding:blob", "lance.blob.v2"}
    return frozenset({"blob"} if named & marks else ())


def _below(span: Span) -> Iterator[Span]:
    yield span
    for child in span.children:
        yield from _below(child)
