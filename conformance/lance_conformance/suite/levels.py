"""Levels: parts of the suite that an implementation reaches in sequence.

A level is a set of rules on the manifest of a case, never a list of ids. Levels are in the order in
which an implementer needs them, which for a reader of 2.1 is that of the rungs of
`spec/05-first-reader.md`. A case belongs to exactly one level: the last of its area with a rule
that matches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lance_conformance.outcomes import Outcome
from lance_conformance.specification.register import Clause, has_must
from lance_conformance.suite.profiles import NEGATIVE_KINDS, UNSTABLE_VERSIONS, profile

_STRINGS = frozenset({"string", "large_string", "binary", "large_binary", "json"})
_NESTED = frozenset({"list", "large_list", "fixed_size_list", "struct", "map"})
_BITPACKED = frozenset(
    {"bitpacked", "bitpacked_for_non_neg", "inline_bitpacking", "out_of_line_bitpacking"}
)
_FIRST_READER_FLAGS = 1 | 2
"""Flags of the chapter for a first reader: deletion files, stable row ids."""

_COMPRESSED = frozenset(
    {"byte_stream_split", "delta", "dictionary", "fsst", "general", "indexed", "lz4"}
    | {"packed_struct", "range", "rle", "variable_packed_struct", "zstd"}
)

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on a case: one of the kinds and topics, and one of the words; empty matches any.

    The topic is the third part of the id. Every clause of the case starts with `clauses`.
    `beyond_first_reader`: it needs a file version or a reader flag that the chapter for a first
    reader leaves out.
    """

    kinds: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    encodings: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    clauses: str = ""
    beyond_first_reader: bool = False

    def matches(self, manifest: Manifest) -> bool:
        """Whether a case meets the rule."""
        requires = manifest["requires"]
        return (
            (not self.kinds or manifest["kind"] in self.kinds)
            and (not self.topics or _topic(manifest) in self.topics)
            and (not self.types or not self.types.isdisjoint(requires.get("types", ())))
            and (not self.encodings or not self.encodings.isdisjoint(requires.get("encodings", ())))
            and (not self.features or not self.features.isdisjoint(requires.get("features", ())))
            and all(clause["id"].startswith(self.clauses) for clause in manifest["clauses"])
            and (not self.beyond_first_reader or _exceeds_first_reader(requires))
        )


@dataclass(frozen=True, slots=True)
class LevelRules:
    """One level of an area: its name, its content, its rules (one of them must match).

    `rungs` are those of the chapter for a first reader; `takes_precedence` puts a level before all
    others, whatever else its cases need.
    """

    name: str
    title: str
    rules: tuple[Rule, ...] = (Rule(),)
    rungs: tuple[int, ...] = ()
    takes_precedence: bool = False


def _set(*words: str) -> frozenset[str]:
    return frozenset(words)


_DAMAGED_CONTAINER = Rule(NEGATIVE_KINDS, _set("container", "pages"), clauses="L.file.")

FILES = (
    LevelRules(
        "container", "footer and metadata", (_DAMAGED_CONTAINER,), (1, 2), takes_precedence=True
    ),
    LevelRules("flat", "values of fixed width, with and without nulls", rungs=(3, 4)),
    LevelRules("strings", "strings and binary values", (Rule(types=_STRINGS),), (5,)),
    LevelRules("bitpacked", "integers of few bits", (Rule(encodings=_BITPACKED),), (6,)),
    LevelRules("nested", "lists and structs", (Rule(types=_NESTED),), (7,)),
    LevelRules(
        "compressed",
        "dictionaries, FSST, runs, general compression, packed structs",
        (Rule(encodings=_COMPRESSED), Rule(topics=_set("dictionary"))),
        (8, 9),
    ),
    LevelRules(
        "full-zip", "pages stored value by value", (Rule(encodings=_set("full_zip")),), (10,)
    ),
    LevelRules("planar", "levels and values in separate chunks", (Rule(encodings=_set("zipped")),)),
    LevelRules("sparse", "validity and counts by position", (Rule(encodings=_set("sparse")),)),
    LevelRules("blob", "large values", (Rule(encodings=_set("blob")), Rule(features=_set("blob")))),
)
"""Levels of data files; the file version and a hyphen precede each name."""

TABLES = (
    LevelRules("basic", "manifests and fragments", rungs=(11,)),
    LevelRules("deletions", "deleted rows", (Rule(features=_set("deletion-files")),), (12,)),
    LevelRules(
        "versions",
        "versions, tags and branches",
        (Rule(features=_set("version", "tag", "branch")), Rule(topics=_set("versions"))),
    ),
    LevelRules(
        "evolved",
        "columns in several files, files of other versions or under other roots, old releases",
        (
            Rule(beyond_first_reader=True),
            Rule(features=_set("several-data-files", "base-paths")),
            Rule(topics=_set("backward", "after")),
        ),
    ),
    LevelRules(
        "row-ids",
        "stable row ids",
        (
            Rule(features=_set("stable-row-ids", "row-id", "row-address")),
            Rule(topics=_set("row-ids")),
        ),
    ),
    LevelRules("forward", "additions of later writers", (Rule(kinds=_set("forward")),)),
    LevelRules("json", "JSON columns", (Rule(types=_set("json")),)),
    LevelRules("blob", "columns of blobs", (Rule(features=_set("blob")),)),
    LevelRules("overlays", "replaced values", (Rule(features=_set("overlays")),)),
)
"""Levels of readers of tables; `table-` precedes each name."""

_WRITING_KINDS = _set("write-roundtrip", "commit-race")
_COMMITS = LevelRules("writer-commits", "concurrent commits")
FILES_READ_ALONE = ("2.1", "2.2", "2.0", "2.3")
"""Versions whose files can be read without a table."""

_FILE_VERSIONS = (*FILES_READ_ALONE, "0.1")
"""File versions in the order of the ladder: 2.1 first, as in the chapter."""

_INDICES = (
    *("btree", "bitmap", "label-list", "zonemap", "bloomfilter", "ngram", "json", "rtree", "fm"),
    *("inverted", "ivf-flat", "ivf-sq", "ivf-pq", "ivf-rq"),
    *("ivf-hnsw-flat", "ivf-hnsw-sq", "ivf-hnsw-pq"),
)
"""Index types that have levels; tables with others are ordinary tables."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level: its name, its content, and its rungs in the chapter for a first reader."""

    name: str
    title: str
    rungs: tuple[int, ...] = ()


def _files(version: str) -> list[Level]:
    return [Level(f"{version}-{s.name}", f"{version}: {s.title}", s.rungs) for s in FILES]


def _ladder() -> tuple[Level, ...]:
    first, *others = _FILE_VERSIONS
    own = [Level(level.name, level.title, level.rungs) for level in _files(first)]
    tables = [Level(f"table-{s.name}", f"tables: {s.title}", s.rungs) for s in TABLES]
    rest = [Level(level.name, level.title) for version in others for level in _files(version)]
    indices = [Level(f"index-{name}", f"the index {name}") for name in _INDICES]
    writers = [Level(f"writer-{v}", f"writing tables of {v}") for v in _FILE_VERSIONS]
    return (*own, *tables, *rest, *indices, *writers, Level(_COMMITS.name, _COMMITS.title))


LADDER = {level.name: level for level in _ladder()}
"""Every level by name, in the order in which an implementer reaches them."""


def level_of(manifest: Manifest) -> str:
    """Return the level of a case: a name of `LADDER`."""
    area, version = manifest["id"].split("/")[0], manifest["requires"].get("file_version", "2.1")
    if manifest["kind"] == "commit-race":
        return _COMMITS.name
    if manifest["kind"] in _WRITING_KINDS:
        return f"writer-{version}"
    if area == "index" and _topic(manifest) in _INDICES:
        return f"index-{_topic(manifest)}"
    if area == "file":
        return f"{version}-{_last_match(FILES, manifest)}"
    return f"table-{_last_match(TABLES, manifest)}"


def cases_by_level(
    active: Iterable[Manifest], register: Mapping[str, Clause]
) -> dict[str, list[Manifest]]:
    """Return the cases that count for each level, in the order of the ladder: those with a MUST.

    Cases that only `validate` can judge do not count, nor do files of unstable versions in others.
    """
    found: dict[str, list[Manifest]] = {name: [] for name in LADDER}
    for manifest in active:
        name = level_of(manifest)
        unstable = profile(manifest) == "unstable"
        own = not unstable or any(version in name for version in UNSTABLE_VERSIONS)
        clauses = (clause["id"] for clause in manifest["clauses"])
        if own and manifest["kind"] != "lint" and has_must(clauses, register):
            found[name].append(manifest)
    return {name: own for name, own in found.items() if own}


def blocking_cases(members: Sequence[Manifest], outcomes: Mapping[str, Outcome]) -> list[Manifest]:
    """Return the cases that keep a level from being reached, by the outcomes of those run.

    A reader need not validate, read some rows or columns of a file, read a file as part of a table,
    or distinguish damage from unsupported features. But it has to refuse half of a level that has
    only damaged cases, and at least one case has to pass.
    """
    missing = [one for one in members if outcomes.get(one["id"]) != Outcome.PASS]
    is_damage = all(one["kind"] in NEGATIVE_KINDS for one in members)
    if len(missing) == len(members) or (is_damage and 2 * len(missing) > len(members)):
        return missing
    return [one for one in members if _is_blocking(one, outcomes.get(one["id"]))]


def _is_blocking(manifest: Manifest, outcome: Outcome | None) -> bool:
    if outcome != Outcome.UNSUPPORTED:
        return outcome != Outcome.PASS
    is_other_read = level_of(manifest).partition("-")[0] in FILES_READ_ALONE and (
        "args" in manifest["input"] or manifest["requires"].get("op") == "dataset.read"
    )
    return not (is_other_read or manifest["kind"] in NEGATIVE_KINDS)


def count_by_level(manifests: Iterable[Manifest]) -> dict[str, int]:
    """Return the number of cases of each level, in the order of the ladder."""
    found = dict.fromkeys(LADDER, 0)
    for manifest in manifests:
        name = level_of(manifest)
        found[name] = found.get(name, 0) + 1
    return {name: count for name, count in found.items() if count}


def _last_match(steps: tuple[LevelRules, ...], manifest: Manifest) -> str:
    """Return the name of the last level with a matching rule, after those that take precedence."""
    order = [*(step for step in steps if step.takes_precedence), *reversed(steps)]
    return next(s.name for s in order if any(rule.matches(manifest) for rule in s.rules))


def _exceeds_first_reader(requires: Mapping[str, Any]) -> bool:
    flags = int(requires.get("reader_flags", 0))
    return requires.get("file_version") in _FILE_VERSIONS[1:] or bool(flags & ~_FIRST_READER_FLAGS)


def _topic(manifest: Manifest) -> str:
    return str(manifest["id"].split("/")[2])
