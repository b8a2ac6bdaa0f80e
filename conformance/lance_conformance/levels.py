"""Levels: parts of the suite that an implementation reaches one after another.

A level is a rule over what a manifest says of its case, never a list of ids. Levels are in the
order in which an implementer needs them, which for a reader of 2.1 is that of the rungs of
`spec/05-first-reader.md`. A case belongs to exactly one level: the last of its area that has a
rule for something the case needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lance_conformance.outcomes import Outcome
from lance_conformance.profiles import NEGATIVE_KINDS, UNSTABLE_VERSIONS, profile
from lance_conformance.register import Clause, has_must

_STRINGS = frozenset({"string", "large_string", "binary", "large_binary", "json"})
_NESTED = frozenset({"list", "large_list", "fixed_size_list", "struct", "map"})
_BITPACKED = frozenset(
    {"bitpacked", "bitpacked_for_non_neg", "inline_bitpacking", "out_of_line_bitpacking"}
)
_FIRST_FLAGS = 1 | 2
"""Flags of the chapter for a first reader: deletion files, stable row ids."""

_COMPRESSED = frozenset(
    {"byte_stream_split", "delta", "dictionary", "fsst", "general", "indexed", "lz4"}
    | {"packed_struct", "range", "rle", "variable_packed_struct", "zstd"}
)

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a case must be: of one of the kinds and topics, and with one of the words; empty is any.

    The topic is the third part of the id. Every clause of the case begins with `clauses`. `beyond`:
    it needs a file version, or a flag of readers, that the chapter for a first reader leaves out.
    """

    kinds: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    encodings: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    clauses: str = ""
    beyond: bool = False

    def fits(self, manifest: Manifest) -> bool:
        """Whether a case is what the rule asks for."""
        requires = manifest["requires"]
        return (
            (not self.kinds or manifest["kind"] in self.kinds)
            and (not self.topics or _topic(manifest) in self.topics)
            and (not self.types or not self.types.isdisjoint(requires.get("types", ())))
            and (not self.encodings or not self.encodings.isdisjoint(requires.get("encodings", ())))
            and (not self.features or not self.features.isdisjoint(requires.get("features", ())))
            and all(clause["id"].startswith(self.clauses) for clause in manifest["clauses"])
            and (not self.beyond or _is_beyond(requires))
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One level of an area: its name, what it asks for, its rules (one of them must fit).

    `rungs` are those of the chapter for a first reader; `alone` puts a step before all others,
    whatever else its cases need.
    """

    name: str
    title: str
    rules: tuple[Rule, ...] = (Rule(),)
    rungs: tuple[int, ...] = ()
    alone: bool = False


def _set(*words: str) -> frozenset[str]:
    return frozenset(words)


_DAMAGED_CONTAINER = Rule(NEGATIVE_KINDS, _set("container", "pages"), clauses="L.file.")

FILES = (
    Step("container", "footer and metadata", (_DAMAGED_CONTAINER,), (1, 2), alone=True),
    Step("flat", "values of fixed width, with and without nulls", rungs=(3, 4)),
    Step("strings", "strings and binary values", (Rule(types=_STRINGS),), (5,)),
    Step("bitpacked", "integers of few bits", (Rule(encodings=_BITPACKED),), (6,)),
    Step("nested", "lists and structs", (Rule(types=_NESTED),), (7,)),
    Step(
        "compressed",
        "dictionaries, FSST, runs, general compression, packed structs",
        (Rule(encodings=_COMPRESSED), Rule(topics=_set("dictionary"))),
        (8, 9),
    ),
    Step("full-zip", "pages with a value at a time", (Rule(encodings=_set("full_zip")),), (10,)),
    Step("planar", "chunks of levels and values apart", (Rule(encodings=_set("zipped")),)),
    Step("sparse", "validity and counts by position", (Rule(encodings=_set("sparse")),)),
    Step("blob", "large values", (Rule(encodings=_set("blob")), Rule(features=_set("blob")))),
)
"""Levels of data files; the file version and a hyphen precede each name."""

TABLES = (
    Step("basic", "manifests and fragments", rungs=(11,)),
    Step("deletions", "deleted rows", (Rule(features=_set("deletion-files")),), (12,)),
    Step(
        "versions",
        "versions, tags and branches",
        (Rule(features=_set("version", "tag", "branch")), Rule(topics=_set("versions"))),
    ),
    Step(
        "evolved",
        "columns in several files, files of other versions or below other roots, old releases",
        (
            Rule(beyond=True),
            Rule(features=_set("several-data-files", "base-paths")),
            Rule(topics=_set("backward", "after")),
        ),
    ),
    Step(
        "row-ids",
        "stable row ids",
        (
            Rule(features=_set("stable-row-ids", "row-id", "row-address")),
            Rule(topics=_set("row-ids")),
        ),
    ),
    Step("forward", "what later writers may add", (Rule(kinds=_set("forward")),)),
    Step("json", "JSON columns", (Rule(types=_set("json")),)),
    Step("blob", "columns of blobs", (Rule(features=_set("blob")),)),
    Step("overlays", "values that replace others", (Rule(features=_set("overlays")),)),
)
"""Levels of readers of tables; `table-` precedes each name."""

_WRITING_KINDS = _set("write-roundtrip", "commit-race")
_COMMITS = Step("writer-commits", "commits beside those of others")
FILES_READ_ALONE = ("2.1", "2.2", "2.0", "2.3")
"""Versions whose files can be read without a table."""

_FILE_VERSIONS = (*FILES_READ_ALONE, "0.1")
"""In the order of the ladder: 2.1 first, as in the chapter."""

_INDICES = (
    *("btree", "bitmap", "label-list", "zonemap", "bloomfilter", "ngram", "json", "rtree", "fm"),
    *("inverted", "ivf-flat", "ivf-sq", "ivf-pq", "ivf-rq"),
    *("ivf-hnsw-flat", "ivf-hnsw-sq", "ivf-hnsw-pq"),
)
"""Indices that are asked; tables with others are read as all are."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level: its name, what it asks for, and its rungs in the chapter for a first reader."""

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
        return f"{version}-{_last(FILES, manifest)}"
    return f"table-{_last(TABLES, manifest)}"


def members(
    active: Iterable[Manifest], register: Mapping[str, Clause]
) -> dict[str, list[Manifest]]:
    """Return the cases that count for each level, in the order of the ladder: those with a MUST.

    What only validation tells does not, nor files of a version that may still change beside others.
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


def in_the_way(members: Sequence[Manifest], told: Mapping[str, Outcome]) -> list[Manifest]:
    """Return the cases of a level that keep it from being reached, by the outcomes of those run.

    A reader may leave out what a level does not need: to validate, to read some rows or columns of
    a file alone, or a file as part of a table, and to tell damage from what it does not support;
    but of a level that is nothing but damage it has to tell half, and one case has to pass.
    """
    missing = [one for one in members if told.get(one["id"]) != Outcome.PASS]
    is_damage = all(one["kind"] in NEGATIVE_KINDS for one in members)
    if len(missing) == len(members) or (is_damage and 2 * len(missing) > len(members)):
        return missing
    return [one for one in members if _is_in_the_way(one, told.get(one["id"]))]


def _is_in_the_way(manifest: Manifest, outcome: Outcome | None) -> bool:
    if outcome != Outcome.UNSUPPORTED:
        return outcome != Outcome.PASS
    is_other_read = level_of(manifest).partition("-")[0] in FILES_READ_ALONE and (
        "args" in manifest["input"] or manifest["requires"].get("op") == "dataset.read"
    )
    return not (is_other_read or manifest["kind"] in NEGATIVE_KINDS)


def counts(manifests: Iterable[Manifest]) -> dict[str, int]:
    """Return how many of the cases each level has, in the order of the ladder; none is left out."""
    found = dict.fromkeys(LADDER, 0)
    for manifest in manifests:
        name = level_of(manifest)
        found[name] = found.get(name, 0) + 1
    return {name: count for name, count in found.items() if count}


def _last(steps: tuple[Step, ...], manifest: Manifest) -> str:
    """Return the last step with a rule that fits; one that stands alone precedes the others."""
    order = [*(step for step in steps if step.alone), *reversed(steps)]
    return next(s.name for s in order if any(rule.fits(manifest) for rule in s.rules))


def _is_beyond(requires: Mapping[str, Any]) -> bool:
    flags = int(requires.get("reader_flags", 0))
    return requires.get("file_version") in _FILE_VERSIONS[1:] or bool(flags & ~_FIRST_FLAGS)


def _topic(manifest: Manifest) -> str:
    return str(manifest["id"].split("/")[2])
