"""Tests of requirements: what is missing, and what is an overclaim."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lance_conformance.cases import Case
from lance_conformance.requirements import contradicts, main_operation, missing
from lance_conformance.session import Claims

MakeCase = Callable[..., Case]
MakeClaims = Callable[..., Claims]


@pytest.mark.parametrize(
    ("kind", "given", "op"),
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
def test_operation_follows_from_the_kind(
    make_case: MakeCase, kind: str, given: dict[str, str], op: str
) -> None:
    """A manifest that names no operation has that of its kind and input."""
    assert op == main_operation(make_case(kind=kind, requires={}, input=given))


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
def test_first_requirement_that_is_not_claimed(
    make_case: MakeCase, claims: MakeClaims, requires: dict[str, object], lacking: str | None
) -> None:
    """Operation, version and exclusions are held against the case, and the first gap is named."""
    claimed = claims(file__read={"versions": ["2.0"]})
    claimed.hello.update(types={"exclude": ["map"]}, encodings={"exclude": ["fsst"]})

    assert lacking == missing(make_case(requires=requires), claimed)


def test_filters_are_claimed_apart(make_case: MakeCase, claims: MakeClaims) -> None:
    """A case with a filter needs an adapter that has them."""
    case = make_case(
        kind="read-dataset",
        requires={},
        input={"uri": "dataset", "args": {"filter": {"sql": "a = 1"}}},
    )

    assert "filters" == missing(case, claims(dataset__read={}))
    assert missing(case, claims(dataset__read={"filter": True})) is None


def test_single_rows_are_claimed(make_case: MakeCase, claims: MakeClaims) -> None:
    """A case that asks a file for some rows needs an adapter that gives them."""
    case = make_case(input={"path": "data.lance", "args": {"rows": ["0", "9"]}})

    assert "rows" == missing(case, claims(file__read={"ranges": True}))
    assert missing(case, claims(file__read={"rows": True})) is None


@pytest.mark.parametrize(("columns", "kind"), [(["a", "b"], "top"), (["a", "s.b"], "nested")])
def test_columns_are_claimed(
    make_case: MakeCase, claims: MakeClaims, columns: list[str], kind: str
) -> None:
    """A case that asks for some columns needs an adapter that says it can leave out others."""
    case = make_case(input={"path": "data.lance", "args": {"columns": columns}})

    assert f"projection {kind}" == missing(case, claims(file__read={}))
    assert missing(case, claims(file__read={"projection": [kind]})) is None


def test_taking_back_what_was_claimed(make_case: MakeCase) -> None:
    """Refusing the operation, version or type of the case contradicts; another feature does not."""
    case = make_case(requires={"op": "file.read", "file_version": "2.0", "types": ["map"]})

    assert all(contradicts(case, feature) for feature in ("file.read", "2.0", "map"))
    assert not contradicts(case, "pages with 7 layers")
    assert not contradicts(make_case(requires={}), "")


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
def test_every_step_is_claimed(
    make_case: MakeCase, claims: MakeClaims, step: dict[str, object], lacking: str | None
) -> None:
    """Its operation, and the kind of commit or change where the claim lists them."""
    case = make_case(requires={"op": "mutate"}, input={"uri": "dataset", "steps": [step]})
    claimed = claims(commit__apply={"operations": ["Append"]}, mutate={"verbs": ["delete"]})

    assert (lacking and f"operation {lacking}") == missing(case, claimed)
