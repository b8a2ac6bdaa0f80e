"""Derived requirements: what the bytes of a case require of a reader, in words of the vocabulary.

The words come from the spans by which `explain` describes the data files, and for a table the
manifest of the version that is read. A damaged case has the requirements of its parent; a `lint`
case, which is read, has those of its own bytes.
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

from lance_conformance.suite.vocabulary import CHOICES, LEGACY_ENCODINGS, SCHEMES, type_words

_SYSTEM_COLUMNS = {"_rowid": "row-id", "_rowaddr": "row-address"}

_STABLE_ROW_IDS = 2
"""Bit of the reader word of a manifest."""

_VERSIONS: Mapping[tuple[object, object], str] = {
    (0, 0): "0.1", (0, 1): "0.1", (0, 2): "0.1", (0, 3): "2.0", (2, 0): "2.0",
}  # fmt: skip
"""File versions by the numbers in the footer, where these are not major and minor."""


@dataclass(frozen=True, slots=True)
class FileWords:
    """Words of one file; of a manifest `files` are its data files and `number` is its version."""

    versions: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    encodings: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    reader_flags: int = 0
    number: int = 0


def derive(folder: Path, case_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of `requires` that follow from the bytes of a case.

    `case_input` is the `input` of its manifest, in `folder`. The file version is the highest of the
    files that are read, else that of the table, which may not exist yet.
    """
    args = case_input.get("args", {})
    features = {"row-id", "row-address"} & {_SYSTEM_COLUMNS.get(n) for n in args.get("with", ())}
    features |= {name for name in ("branch", "tag", "version") if name in args}
    if "path" in case_input:
        manifest, files = FileWords(), [_file_words(folder / case_input["path"])]
    else:
        root = folder / case_input["uri"]
        manifest = _manifest_words(root, args)
        named = {Path(name).name for name in manifest.files}
        paths = sorted(path for path in root.rglob("*") if path.name in named and path.is_file())
        files = [_file_words(path) for path in paths]
    versions = {version for words in files or [manifest] for version in words.versions}
    versions |= {
        step["args"]["version"] for step in case_input.get("steps", ()) if _creates_table(step)
    }
    written = [_arrow_file_words(folder / name) for name in _input_names(case_input)]
    sources, flags = [manifest, *files, *written], manifest.reader_flags
    words = {
        "file_version": max(versions, default=""),
        "types": _sorted_union(words.types for words in sources),
        "encodings": _sorted_union(words.encodings for words in sources),
        "features": sorted(features.union(*(words.features for words in sources))),
        "reader_flags": str(flags) if flags else "",
    }
    return {key: value for key, value in words.items() if value}


def _input_names(case_input: Mapping[str, Any]) -> list[str]:
    """Return the names of the Arrow files with rows that the steps write."""
    arguments = [step["args"] for step in case_input.get("steps", ())]
    arguments += [args["args"] for args in arguments if "args" in args]
    return sorted({args["input"] for args in arguments if "input" in args})


def _arrow_file_words(path: Path) -> FileWords:
    """Return the words of an Arrow file: the types of its columns."""
    with pa.OSFile(str(path)) as file:
        schema = schema_of(pa.ipc.open_file(file).schema)
    logical = [field.logical_type for field in schema.flat()]
    return FileWords(types=frozenset().union(*map(type_words, logical)))


def _creates_table(step: Mapping[str, Any]) -> bool:
    return (step["op"], step["args"].get("mode")) == ("write.dataset", "create")


def _sorted_union(sets: Iterable[frozenset[str]]) -> list[str]:
    return sorted(frozenset().union(*sets))


def _manifest_words(root: Path, args: Mapping[str, Any]) -> FileWords:
    """Return the words of the manifest that is read: the latest, or the requested version."""
    number = int(args.get("version", 0))
    if "tag" in args:
        tag = json.loads((root / "_refs" / "tags" / f"{args['tag']}.json").read_text("utf-8"))
        number = int(tag["version"])
        args = {"branch": tag.get("branch"), **args}
    branch_root = root / "tree" / args["branch"] if args.get("branch") else root
    manifests = [
        _file_words(path) for path in sorted((branch_root / "_versions").glob("*.manifest"))
    ]
    read = (one for one in manifests if number in (0, one.number))
    return max(read, key=lambda one: one.number, default=FileWords())


def _file_words(path: Path) -> FileWords:
    return _words_of_bytes(path.read_bytes(), path.name)


@lru_cache(maxsize=4096)
def _words_of_bytes(data: bytes, name: str) -> FileWords:
    """Return the words of a file by its bytes; its kind follows from `name`."""
    spans = list(_walk(explain_source(BytesSource(data, name)).root))
    if name.endswith(".manifest"):
        return _words_of_manifest(spans)
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
    return FileWords(
        versions=frozenset({version}),
        types=_type_words(leaves),
        encodings=frozenset(encodings),
        features=_blob_features(leaves),
    )


_FOOTER = ("major", "minor")


def _words_of_manifest(spans: list[Span]) -> FileWords:
    (manifest,) = (span for span in spans if span.value == "lance.table.Manifest")
    inside = list(_walk(manifest))
    leaves = [(span.name, span.value) for span in inside if span.is_leaf]
    groups = [span for span in inside if not span.is_leaf]
    own = {span.name: span.value for span in manifest.children if span.is_leaf}
    flags, number = own.get("reader_feature_flags", 0), own["version"]
    assert isinstance(flags, int)
    assert isinstance(number, int)
    features = set(_blob_features(leaves))
    for word, field in (
        ("base-paths", "base_paths"),
        ("deletion-files", "deletion_file"),
        ("overlays", "overlays"),
    ):
        if _messages_of(groups, field):
            features.add(word)
    counts = [len(_messages_of(one.children, "files")) for one in _messages_of(groups, "fragments")]
    if max(counts, default=0) > 1:
        features.add("several-data-files")
    if flags & _STABLE_ROW_IDS:
        features.add("stable-row-ids")
    formats = (leaf for one in _messages_of(groups, "data_format") for leaf in one.leaves())
    return FileWords(
        versions=frozenset(str(leaf.value) for leaf in formats if leaf.name == "version"),
        types=_type_words(leaves),
        features=frozenset(features),
        files=frozenset(str(value) for name, value in leaves if name == "path"),
        reader_flags=flags,
        number=number,
    )


def _messages_of(spans: Iterable[Span], field: str) -> list[Span]:
    """Return the spans that are messages in a field."""
    return [span for span in spans if span.name.startswith(f"{field}:")]


def _type_words(leaves: list[tuple[str, object]]) -> frozenset[str]:
    logical = (str(value) for name, value in leaves if name == "logical_type")
    return frozenset().union(*map(type_words, logical))


def _blob_features(leaves: list[tuple[str, object]]) -> frozenset[str]:
    named = {value for _, value in leaves if isinstance(value, str)}
    marks = {"lance-encoding:blob", "lance.blob.v2"}
    return frozenset({"blob"} if named & marks else ())


def _walk(span: Span) -> Iterator[Span]:
    yield span
    for child in span.children:
        yield from _walk(child)
