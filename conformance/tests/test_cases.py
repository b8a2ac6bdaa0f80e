"""Tests of cases: loading, limits, profiles and selection."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance import cases, places, schemas
from lance_conformance.cases import Case, CaseError, Selection

MakeCase = Callable[..., Case]


def test_cases_come_in_the_order_of_ids(toy_suite: Path) -> None:
    """Loading gives every manifest below the folder, by id."""
    ids = [case.id for case in cases.load(toy_suite)]

    assert sorted(ids) == ids
    assert 3 == len(ids)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"id": "toy/any/read/other"}, "says it is"),
        ({"surprise": 1}, "surprise"),
        ({"kind": "riddle"}, "riddle"),
        ({"clauses": []}, "clauses"),
        ({"input": {}}, "neither path nor uri"),
    ],
)
def test_bad_manifest_is_refused(toy_suite: Path, change: dict[str, object], told: str) -> None:
    """A manifest outside the schema, or that lies elsewhere than it says, names what is wrong."""
    path = toy_suite / "toy/any/read/columns/case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CaseError, match=told):
        cases.load(toy_suite)


def test_negative_needs_its_patch(toy_suite: Path) -> None:
    """A negative without parent and patch is no case."""
    path = toy_suite / "toy/any/read/neg-broken/case.json"
    manifest = json.loads(path.read_text())
    del manifest["patch"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(CaseError, match="patch"):
        cases.load(toy_suite)


def test_limits_by_kind(make_case: MakeCase) -> None:
    """Without limits of its own a case has those of its kind."""
    reading, hostile = make_case(limits={}), make_case(kind="robust", limits={})

    assert (5.0, 2048) == (reading.limits.seconds, reading.limits.memory_mb)
    assert (2.0, 512) == (hostile.limits.seconds, hostile.limits.memory_mb)
    assert 9 == make_case(limits={"seconds": 9}).limits.seconds


def test_profiles(make_case: MakeCase) -> None:
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
def test_wildcards(pattern: str, case_id: str, fits: bool) -> None:
    """`*` stays within a component, `**` crosses them, a dot is a dot."""
    assert fits == cases.matches(pattern, case_id)


def test_selection_by_id_and_clause(make_case: MakeCase) -> None:
    """Ids and clauses narrow a selection; context clauses do not count."""
    a = make_case("toy/any/read/a", clauses=[{"id": "L.toy.a.b", "role": "positive"}])
    b = make_case("toy/any/read/b", clauses=[{"id": "L.toy.a.b", "role": "context"}])

    assert [b] == cases.select([a, b], Selection(only=("toy/*/read/b",)))
    assert [a] == cases.select([a, b], Selection(clauses=("L.toy.*",)))


def test_shuffle_is_repeatable(make_case: MakeCase) -> None:
    """A seed gives one order, another seed another."""
    every = [make_case(f"toy/any/read/c{n}") for n in range(20)]
    orders = [
        [case.id for case in cases.select(every, Selection(shuffle=seed))] for seed in (1, 1, 2)
    ]

    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_manifests_with_the_hash_of_the_suite_are_not_checked_again(
    toy_suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of this suite, the schema is asked only when a manifest is not what SUITE.json fixed."""
    monkeypatch.setattr(places, "fixtures", lambda: toy_suite)
    asked: list[object] = []
    monkeypatch.setattr(schemas, "problems", lambda name, value: asked.append(value) or [])

    assert 3 == len(cases.load()) and not asked
    assert 3 == len(cases.load(toy_suite)) == len(asked)


def test_a_changed_manifest_of_the_suite_is_noticed(
    toy_suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged checkout does not keep the trust that its hash gave it."""
    monkeypatch.setattr(places, "fixtures", lambda: toy_suite)
    path = toy_suite / "toy/any/read/columns/case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "surprise": 1}))
    with pytest.raises(CaseError, match="surprise"):
        cases.load()
