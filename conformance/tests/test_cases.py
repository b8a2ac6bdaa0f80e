"""Cases: loading, limits, selection, profiles, levels and what an adapter must claim."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from lance_conformance import resources, schemas
from lance_conformance.suite import cases, levels, requirements
from lance_conformance.suite.cases import Case, CaseError, Selection
from lance_conformance.suite.profiles import is_active, is_core, profile


def test_cases_come_in_the_order_of_ids(toy_suite):
    """Loading gives every manifest below the folder, by id."""
    ids = [case.id for case in cases.load(toy_suite)]

    assert sorted(ids) == ids
    assert 3 == len(ids)


def _edit(root, **change):
    """Change the manifest of a toy case; None takes a key out."""
    path = root / "toy/any/read" / ("neg-broken" if "patch" in change else "columns") / "case.json"
    manifest = {**json.loads(path.read_text()), **change}
    path.write_text(json.dumps({key: one for key, one in manifest.items() if one is not None}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "toy/any/read/other"}, "the id in the manifest is"),
        ({"surprise": 1}, "surprise"),
        ({"kind": "riddle"}, "riddle"),
        ({"clauses": []}, "clauses"),
        ({"input": {}}, "neither path nor uri"),
        ({"patch": None}, "patch"),
    ],
)
def test_bad_manifest_is_refused(toy_suite, change, message):
    """The error about an invalid manifest, or one in the wrong folder, names the problem."""
    _edit(toy_suite, **change)
    with pytest.raises(CaseError, match=message):
        cases.load(toy_suite)


def test_limits_by_kind(make_case):
    """Without limits of its own a case has those of its kind."""
    reading, hostile = make_case(limits={}), make_case(kind="robust", limits={})

    assert (5.0, 4096) == (reading.limits.seconds, reading.limits.memory_mb)
    assert (2.0, 512) == (hostile.limits.seconds, hostile.limits.memory_mb)
    assert 9 == make_case(limits={"seconds": 9}).limits.seconds


def test_profiles(make_case):
    """Version 2.3 is unstable, the rest is format, most of it core."""
    plain, index = make_case(), make_case(kind="index-search")
    next_version = make_case(requires={"file_version": "2.3"})
    hostile, draft = make_case(kind="robust"), make_case(status="draft")
    every = [plain, index, next_version, hostile, draft]

    assert [plain, index] == cases.select(every, Selection("format"))
    assert [plain] == cases.select(every, Selection("core"))
    assert [next_version] == cases.select(every, Selection("unstable"))
    assert 4 == len(cases.select(every, Selection("all")))


@pytest.mark.parametrize(
    ("pattern", "case_id", "fits"),
    [
        ("a/b/c", "a/b/c", True),
        ("a/*/c", "a/b/c", True),
        ("a/*", "a/b/c", False),
        ("a/**", "a/b/c", True),
        ("**/neg-*", "a/b/neg-c", True),
        ("a/b.c", "a/bxc", False),
    ],
)
def test_wildcards(pattern, case_id, fits):
    """`*` stays within a component, `**` crosses them, a dot is a dot."""
    assert fits == cases.matches_pattern(pattern, case_id)


def test_selection_by_id_and_clause(make_case):
    """Ids and clauses narrow a selection; context clauses do not count."""
    a = make_case("toy/any/read/a", clauses=[{"id": "L.toy.a.b", "role": "positive"}])
    b = make_case("toy/any/read/b", clauses=[{"id": "L.toy.a.b", "role": "context"}])

    assert [b] == cases.select([a, b], Selection(only=("toy/*/read/b",)))
    assert [a] == cases.select([a, b], Selection(clauses=("L.toy.*",)))


@pytest.mark.parametrize(
    ("kind", "case_input", "op"),
    [
        ("read-file", {"path": "x"}, "file.read"),
        ("read-dataset", {"uri": "x"}, "dataset.read"),
        ("take", {"uri": "x"}, "dataset.take"),
        ("inspect", {"path": "x"}, "file.inspect"),
        ("metadata", {"uri": "x"}, "dataset.versions"),
        ("index-search", {"uri": "x"}, "index.search"),
        ("index-bytes", {"uri": "x"}, "index.dump"),
    ],
)
def test_operation_follows_from_the_kind(make_case, kind, case_input, op):
    """A manifest that names no operation has that of its kind and input."""
    assert op == requirements.main_operation(make_case(kind=kind, requires={}, input=case_input))


@pytest.mark.parametrize(
    ("requires", "lacking"),
    [
        ({"op": "file.read", "file_version": "2.0"}, None),
        ({"op": "dataset.read"}, "operation dataset.read"),
        ({"op": "file.read", "file_version": "2.1"}, "file version 2.1"),
        ({"op": "file.read", "types": ["int8", "map"]}, "types map"),
        ({"op": "file.read", "encodings": ["fsst"]}, "encodings fsst"),
        ({"op": "file.read", "features": ["new"]}, None),
    ],
)
def test_first_requirement_that_is_not_claimed(make_case, claims, requires, lacking):
    """Operation, version and exclusions are held against the case, and the first gap is named."""
    claimed = claims(file__read={"versions": ["2.0"]})
    claimed.hello.update(types={"exclude": ["map"]}, encodings={"exclude": ["fsst"]})

    assert lacking == requirements.missing_requirement(make_case(requires=requires), claimed)


@pytest.mark.parametrize(
    ("args", "lacking", "claim"),
    [
        ({"filter": {"sql": "a = 1"}}, "filters", {"filter": True}),
        ({"rows": ["0", "9"]}, "rows", {"rows": True}),
        ({"columns": ["a", "b"]}, "projection top", {"projection": ["top"]}),
        ({"columns": ["a", "s.b"]}, "projection nested", {"projection": ["nested"]}),
    ],
)
def test_what_is_asked_of_a_read_is_claimed_apart(make_case, claims, args, lacking, claim):
    """A case with a filter, single rows or columns needs an adapter that says it has them."""
    case = make_case(input={"path": "data.lance", "args": args})

    assert lacking == requirements.missing_requirement(case, claims(file__read={"ranges": True}))
    assert requirements.missing_requirement(case, claims(file__read=claim)) is None


def test_taking_back_what_was_claimed(make_case):
    """Refusing the operation, version or type of the case contradicts; another feature does not."""
    case = make_case(requires={"op": "file.read", "file_version": "2.0", "types": ["map"]})

    assert all(requirements.contradicts_claims(case, one) for one in ("file.read", "2.0", "map"))
    assert not requirements.contradicts_claims(case, "pages with 7 layers")
    assert not requirements.contradicts_claims(make_case(requires={}), "")


@pytest.mark.parametrize(
    ("step", "lacking"),
    [
        ({"op": "commit.apply", "args": {"operation": {"Append": {}}}}, None),
        ({"op": "commit.apply", "args": {"operation": {"Merge": {}}}}, "commit.apply Merge"),
        ({"op": "mutate", "args": {"verb": "delete"}}, None),
        ({"op": "mutate", "args": {"verb": "compact"}}, "mutate compact"),
        ({"op": "write.dataset", "args": {"mode": "create"}}, "write.dataset"),
    ],
)
def test_every_step_is_claimed(make_case, claims, step, lacking):
    """Its operation, and the kind of commit or change where the claim lists them."""
    case = make_case(requires={"op": "mutate"}, input={"uri": "dataset", "steps": [step]})
    claimed = claims(commit__apply={"operations": ["Append"]}, mutate={"verbs": ["delete"]})

    assert (lacking and f"operation {lacking}") == requirements.missing_requirement(case, claimed)


@pytest.mark.parametrize(
    ("kind", "requires", "name", "core"),
    [
        ("read-file", {"file_version": "2.1"}, "format", True),
        ("read-file", {"file_version": "2.3"}, "unstable", False),
        ("negative-dataset", {}, "format", True),
        ("negative-dataset", {"index": "BTREE"}, "format", False),
        ("index-search", {"index": "BTREE"}, "format", False),
        ("robust", {}, "robust", False),
        ("lint", {}, "format", False),
    ],
)
def test_the_profile_of_a_case(kind, requires, name, core):
    """Core is what readers of files and tables need: nothing that asks an index."""
    manifest = {"kind": kind, "requires": requires}

    assert (name, core) == (profile(manifest), is_core(manifest))


CHAPTER = Path(__file__).resolve().parents[2] / "spec" / "05-first-reader.md"
RUNGS = CHAPTER.read_text(encoding="utf-8").split("\n## Rung ")[1:]


@pytest.fixture(scope="module")
def active() -> dict[str, Case]:
    """The active cases of the suite, by id."""
    return {case.id: case for case in cases.load(resources.fixtures()) if case.is_active}


def test_every_case_belongs_to_a_level_of_the_ladder(active):
    """A case that no rule fits would be lost to every level."""
    assert [] == [case.id for case in active.values() if case.level not in levels.LADDER]


def test_rungs_are_levels_in_the_order_of_the_chapter(active):
    """Most cases that the chapter lists under a rung belong to the level of the rung."""
    rungs = [rung for level in levels.LADDER.values() for rung in level.rungs]

    assert list(range(1, len(RUNGS) + 1)) == rungs
    for level in levels.LADDER.values():
        for rung in level.rungs:
            (listed,) = re.findall(r"\nCases, asked of `\w+`: (.*)\.\n", RUNGS[rung - 1])
            found = Counter(active[name].level for name in re.findall(r"`([^`]+)`", listed))
            assert level.name == found.most_common(1)[0][0]


def test_a_flat_level_needs_no_strings_lists_or_codecs(active):
    """Every positive case of it can be read by the first four rungs."""
    chosen = cases.select(active.values(), Selection("all", levels=("2.1-flat",)))

    assert {"file/2.1/miniblock/plain", "file/2.1/miniblock/int32"} <= {c.id for c in chosen}
    needed = {w for c in chosen for key in ("types", "encodings") for w in c.requires.get(key, ())}
    assert needed.isdisjoint({"string", "list", "struct", "fsst", "inline_bitpacking"})


def test_the_first_levels_of_tables_need_nothing_but_2_1(active):
    """No other file version, and no flag but that of deletion files."""
    first = {"table-basic", "table-deletions"}
    needs = [case.requires for case in active.values() if case.level in first]

    assert {"2.1"} == {need.get("file_version", "2.1") for need in needs}
    assert {"0", "1"} == {need.get("reader_flags", "0") for need in needs}


def test_counts_follow_the_ladder_and_leave_nothing_out(active):
    """The sum of all levels is the number of active cases."""
    found = levels.count_by_level(case.manifest for case in active.values())

    assert len(active) == sum(found.values())
    assert list(found) == [name for name in levels.LADDER if name in found]


def test_what_counts():
    """Drafts and withdrawn cases do not."""
    assert is_active({})
    assert not is_active({"status": "draft"})


def test_manifests_with_the_hash_of_the_suite_are_not_checked_again(toy_suite, monkeypatch):
    """Of this suite, the schema is asked only when a manifest is not what SUITE.json fixed."""
    monkeypatch.setattr(resources, "fixtures", lambda: toy_suite)
    checked: list[object] = []
    monkeypatch.setattr(schemas, "problems", lambda name, value: checked.append(value) or [])

    assert 3 == len(cases.load()) and not checked
    assert 3 == len(cases.load(toy_suite)) == len(checked)


def test_a_changed_manifest_of_the_suite_is_noticed(toy_suite, monkeypatch):
    """A damaged checkout does not keep the trust that its hash gave it."""
    monkeypatch.setattr(resources, "fixtures", lambda: toy_suite)
    _edit(toy_suite, surprise=1)
    with pytest.raises(CaseError, match="surprise"):
        cases.load()
