"""Cases of commits by their operation: of rows, columns, indices, settings, and of flags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pylanceref
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.cases.transactions.commits import ALL, base, index_columns, stage
from lance_conformance.recipes.constructors import Clauses, act
from lance_conformance.recipes.edits import FIRST, SECOND, manifest
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_files import write
from lance_conformance.recipes.scenario_plans import Commits, plan_of


def _first(uri: str) -> Commits:
    fragments = commits.new(uri, commits.rows(0, 2), "overwrite")
    facts = {"version": "1", "max_fragment_id": 0, "next_row_id": "0"}
    return Commits(((Op.Overwrite(ALL.schema, fragments), 0),), commits.rows(0, 2), facts)


def _two_appends(uri: str) -> Commits:
    """Two writers append, both after version 2."""
    base(uri)
    first, second = (commits.new(uri, commits.rows(number, number + 1)) for number in (6, 7))
    facts = {"version": "4", "fragments": [{"id": "0"}, {"id": "1"}, {"id": "2"}, {"id": "3"}]}
    both = ((Op.Append(first), 2), (Op.Append(second), 2))
    return Commits(both, commits.rows(0, 8), facts, actors="ab")


def _no_rows(uri: str) -> commits.Fragments:
    write(commits.rows(0, 0), uri, data_storage_version="2.1")
    return []


def _other_fields(uri: str, _fragments: commits.Fragments) -> Op.BaseOperation:
    """Replace `a` of one fragment and `b` of the other at once."""
    each = (
        commits.replacement(uri, field, name, [7] * 3, field) for field, name in enumerate("ab")
    )
    return Op.DataReplacement([one for operation in each for one in operation.replacements])


_REWRITTEN = Op.RewrittenIndex(str(UUID(int=1)), str(UUID(int=2)), "", b"", 0)


def _all_in_one(
    uri: str, fragments: commits.Fragments, number: int | None = None
) -> Op.BaseOperation:
    """Rewrite both fragments into one, which may have a number, with the index over them."""
    (written,) = commits.new(uri, ALL)
    own = written if number is None else replace(written, id=number)
    group = Op.RewriteGroup([one.metadata for one in fragments], [own])
    return Op.Rewrite([group], [_REWRITTEN])


def _config(**maps: Any) -> Op.UpdateConfig:
    return Op.UpdateConfig(**{f"{name}_updates": edit for name, edit in maps.items()})


_RESERVED = commits.base_and(
    commits.committed(lambda _: Op.CreateIndex([index_columns(1, "k", 1, {0, 1})], [])),
    commits.committed(lambda _: Op.ReserveFragments(1)),
)
"""An index over both fragments, and a fragment id that is reserved."""

_KEY = Op.UpdateMap({"k": "v"})


def _bases(uri: str) -> Commits:
    """Add two base paths: they get the next ids."""
    base(uri)
    operation = Op.UpdateBases([pylanceref.DatasetBasePath("memory:///one", "one", True)])
    more = Op.UpdateBases([pylanceref.DatasetBasePath("memory:///two", "two")])
    facts = {"base_paths": [{"id": 1, "name": "one", "is_dataset_root": True}, {"id": 2}]}
    return Commits(((operation, 2), (more, 3)), ALL, facts)


def _same_base(uri: str) -> Commits:
    first, _ = _bases(uri).operations
    duplicate = Op.UpdateBases([pylanceref.DatasetBasePath("memory:///three", "one")])
    return Commits((first, (duplicate, 3)), ALL, {"version": "3"})


KNOWN = {1: 3, 16: 3, 32: 2, 128: 3, 256: 3, 1024: 3, 2048: 3, 16384: 3}
"""Bits of released versions: 2 the writer word only, 3 both words."""


def _flagged(bit: int, words: int) -> commits.Build:
    """Return what stages an Append to a table with a flag in the writer word, or in both."""
    names = ("writer_feature_flags", "reader_feature_flags")[: words - 1]
    edit, rows = {name: lambda old: old | bit for name in names}, commits.rows(6, 7)
    changes = tuple(manifest(edit, version) for version in (FIRST, SECOND))  # some flags stay set
    build = stage(base, lambda uri, _: Op.Append(commits.new(uri, rows)), commits.rows(0, 7))
    return lambda uri: replace(build(uri), changes=changes)


_UNKNOWN = {512: 2, 4096: 2, 8192: 2, 131072: 2, 2**40: 2, 2**63: 2}
"""Bits that no released version knows."""

_WORDS = {2: "the writer word", 3: "both words"}
_REFUSES = "L.table.flags.writer-refuses"


def _rewrite_stranger(uri: str, fragments: commits.Fragments) -> Op.BaseOperation:
    unknown = replace(fragments[0].metadata, id=7)
    return Op.Rewrite([Op.RewriteGroup([unknown], commits.new(uri, commits.rows(0, 3)))], [])


_REFUSED: tuple[tuple[str, str, str, commits.Build], ...] = (
    ("columns/replace-other-fields", "a DataReplacement of files of several fields",
        "L.txn.op.data-replacement", stage(base, _other_fields, ALL, version="2")),
    ("columns/replace-nowhere", "a DataReplacement in a fragment that is not there",
        "L.txn.op.data-replacement", stage(base,
            lambda uri, _: commits.replacement(uri, 7, "b", [1, 2, 3], 1), ALL, version="2")),
    ("indices/partly", "a Rewrite of fragments of which an index covers one",
        "L.txn.op.rewrite-index",
        stage(commits.indexed(index_columns(1, "k", 1, {0})), _all_in_one, ALL, version="3")),
    ("settings/no-such-field", "metadata of a field that does not exist", "L.txn.op.update-config",
        stage(base, lambda *_: _config(field_metadata={9: _KEY}), ALL, version="2")),
    ("settings/same-base", "a base of a name that there is", "L.txn.op.update-bases", _same_base),
    ("misfits/merge-missing", "a Merge that leaves a fragment out", "L.txn.op.merge",
        stage(base, lambda _, held: commits.merge(held[:1]), ALL, version="2")),
    ("misfits/restore-future", "a Restore of a version that does not exist", "L.txn.op.restore",
        stage(base, lambda *_: Op.Restore(9), ALL, version="2")),
    ("misfits/rewrite-stranger", "a Rewrite of a fragment that is not there", "L.txn.op.rewrite",
        stage(base, _rewrite_stranger, ALL, version="2")),
    ("misfits/index-stranger", "a CreateIndex over a field that is not there",
        "L.txn.op.index-fields", stage(base,
            lambda *_: Op.CreateIndex([index_columns(1, "i", 9, {0, 1})], []), ALL, version="2")),
)  # fmt: skip
"""Slug, title, the clause that is kept from being broken, and what stages the operation."""

_BUILT: tuple[tuple[str, str, Clauses], ...] = (
    ("rows/append", "an Append takes the next fragment id",
        ("L.table.fragments.ids", "L.table.naming.version")),
    ("rows/append-stable", "appended rows get ids and versions by the commit",
        "L.table.row-versions.new"),
    ("rows/overwrite", "an Overwrite keeps config and what was given out", "L.txn.op.overwrite"),
    ("rows/append-v1", "an Append to a table with names of V1 makes another", "L.table.naming.v1"),
    ("rows/delete", "a Delete of one row", "L.txn.op.delete"),
    ("rows/delete-more", "a Delete in a fragment that has a deletion file",
        ("L.txn.op.delete", "L.txn.rebase.deletions")),
    ("rows/update", "an Update moves a row to a new fragment", "L.txn.op.update"),
    ("rows/update-stable", "a moved row keeps its id, a new one beside it gets the next",
        "L.table.row-versions.moved"),
    ("rows/update-columns", "an Update of a column leaves the rows where they are",
        ("L.txn.op.update", "L.table.row-versions.updated")),
    ("rows/rewrite", "a Rewrite of two fragments to one", "L.txn.op.rewrite"),
    ("rows/rewrite-stable", "rewritten rows keep their ids and versions", "L.txn.op.rewrite"),
    ("rows/reserve", "a ReserveFragments raises the highest id", "L.txn.op.reserve"),
    ("rows/restore", "a Restore lowers neither fragment ids nor row ids", "L.txn.op.restore"),
    ("rows/sticky", "the flag of mixed versions stays when its files are gone",
        "L.table.flags.sticky"),
    ("columns/merge-stable", "a Merge changes every row", "L.table.row-versions.updated"),
    ("columns/project", "a Project keeps field ids and drops files without a field",
        "L.txn.op.project"),
    ("columns/replace-last", "a file is no longer listed once all its columns are replaced",
        "L.table.datafile.all-replaced"),
    ("indices/dead", "of two entries the one without a live fragment goes", "L.txn.op.index-dead"),
    ("indices/moved-covered", "moved rows stay in indices of row ids and leave those of addresses",
        "L.txn.op.update-index"),
    ("indices/uncovered", "a fragment whose indexed column is updated is uncovered",
        "L.txn.op.update-index"),
)  # fmt: skip
"""Topic and name of what is staged, title, clauses."""

CASES: tuple[Recipe, ...] = (
    *(act(f"txn/any/{slug}", title, clauses, plan_of(commits.BUILDS[slug.rpartition("/")[2]]))
        for slug, title, clauses in _BUILT),
    act("txn/any/rows/two-appends", "two writers append after one version: both stand",
        "L.txn.conflict.append", plan_of(_two_appends), allowed=("rebased",)),
    act("txn/any/rows/first", "an Overwrite where there is no table makes version 1",
        "L.table.naming.v2", plan_of(_first)),
    act("txn/any/rows/delete-fragment", "a Delete of a whole fragment", "L.txn.op.delete",
        plan_of(stage(base, lambda *_: Op.Delete([], [0], "a < 3"), commits.rows(3, 6),
                fragments=[{"id": "1"}], max_fragment_id=1))),
    act("txn/any/rows/reserve-first", "a ReserveFragments in a table without any fragment",
        "L.txn.op.reserve", plan_of(stage(_no_rows, lambda *_: Op.ReserveFragments(2),
                commits.rows(0, 0), max_fragment_id=1))),
    act("txn/any/rows/sticky-restore", "the flag of mixed versions stays over a Restore",
        "L.table.flags.sticky", plan_of(stage(commits.base_and(commits.mixed),
                lambda *_: Op.Restore(2), ALL, **commits.MIXED_FLAGS))),
    act("txn/any/columns/merge", "a Merge lists every fragment with its new file", "L.txn.op.merge",
        plan_of(stage(base, lambda _, held: commits.merge(held), commits.MERGED,
                fields=[{"id": 0}, {"id": 1}, {"name": "c", "id": 2}],
                fragments=[{"files": [{}, {"fields": [2]}]}] * 2))),
    act("txn/any/columns/replace", "a DataReplacement puts a file beside a tombstone",
        "L.txn.op.data-replacement",
        plan_of(stage(base, lambda uri, _: commits.replacement(uri, 0, "b", [7, 8, 9], 1),
                commits.OTHER_B, fragments=commits.REPLACED))),
    act("txn/any/indices/create", "a CreateIndex takes out the entry it removes",
        "L.txn.op.create-index", plan_of(commits.BUILDS["create-index"])),
    act("txn/any/indices/second", "a CreateIndex puts its entry after the others",
        ("L.txn.op.create-index", "L.txn.conflict.index"),
        plan_of(stage(commits.indexed(index_columns(1, "i", 0, {0})),
                lambda *_: Op.CreateIndex([index_columns(2, "k", 1, {0, 1})], []), ALL,
                indices=[{"name": "i"}, {"name": "k", "fields": [1]}]))),
    act("txn/any/indices/field-goes", "an index goes with its field", "L.txn.op.index-fields",
        plan_of(stage(
                commits.indexed(index_columns(1, "i", 0, {0, 1}), index_columns(2, "k", 1, {0, 1})),
                lambda uri, _: Op.Project(commits.only(uri, "a")), ALL.select(["a"]),
                indices=[{"name": "i"}]))),
    act("txn/any/indices/uncovered-replaced",
        "a fragment whose indexed column is replaced is uncovered", "L.txn.op.update-index",
        plan_of(stage(commits.indexed(index_columns(1, "k", 1, {0, 1})),
                lambda uri, _: commits.replacement(uri, 0, "b", [7, 8, 9], 1), commits.OTHER_B,
                indices=commits.SECOND_COVERED))),
    act("txn/any/indices/all-rewritten", "a Rewrite of all that an index covers",
        "L.txn.op.rewrite-index",
        plan_of(stage(_RESERVED, lambda uri, held: _all_in_one(uri, held, 2), ALL,
                indices=[{"uuid": commits.SECOND_UUID,
                        "fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAIA"}]))),
    act("txn/any/settings/four-maps", "an UpdateConfig sets a key in each map",
        "L.txn.op.update-config", plan_of(
            stage(base, lambda *_: _config(config=_KEY, table_metadata=_KEY, schema_metadata=_KEY,
                    field_metadata={1: _KEY}), ALL, config={"kept": "1", "k": "v"},
                table_metadata={"k": "v"}, schema_metadata={"k": "dg=="},
                fields=[{"metadata": {}}, {"metadata": {"k": "dg=="}}]))),
    act("txn/any/settings/unset", "an entry without a value takes its key out",
        "L.txn.op.update-config",
        plan_of(stage(base, lambda *_: _config(config=Op.UpdateMap({"kept": None})), ALL, config={},
                reader_feature_flags="0", writer_feature_flags="0"))),
    act("txn/any/settings/replace", "`replace` empties the map first", "L.txn.op.update-config",
        plan_of(stage(base, lambda *_: _config(config=Op.UpdateMap({"k": "v"}, replace=True)), ALL,
                config={"k": "v", "kept": None}))),
    act("txn/any/settings/bases", "base paths get the next ids", "L.txn.op.update-bases",
        plan_of(_bases)),
    *(act(f"txn/any/flags/{'known' if bit in KNOWN else 'unknown'}-{bit}",
            f"an Append to a table with flag {bit} in {_WORDS[words]}",
            (_REFUSES,) if bit in KNOWN else (), plan_of(_flagged(bit, words)),
            broken=() if bit in KNOWN else (_REFUSES,), writer_flags=bit)
        for bit, words in {**KNOWN, **_UNKNOWN}.items()),
    *(act(f"txn/any/{slug}", title, (), plan_of(build), broken=(clause,),
            allowed=("refused", "conflict")) for slug, title, clause, build in _REFUSED),
)  # fmt: skip
