"""All recipes: each active case has one, which `show` finds, and each topic few modules."""

from collections import defaultdict
from pathlib import Path

from lance_conformance.cli import app
from lance_conformance.recipes.cases import ALL, RECIPES
from lance_conformance.suite import cases
from typer.testing import CliRunner

FIXTURES = Path(__file__).parents[3] / "fixtures"
CONSTRUCTORS = ("case(", "cases(", "fault(", "lint(", "act(", "damaged(")
CONSTRUCTORS += ("_zipped(", "_rebased(", "_conflict(")


def test_every_active_case_has_one_recipe():
    """No recipe is written twice, and none makes a case that is not in the suite."""
    active = {case.id for case in cases.load(FIXTURES) if case.manifest.get("status") is None}

    assert len(ALL) == len(RECIPES)
    assert active == RECIPES.keys()


def test_the_line_of_each_recipe_constructs_it():
    """At that line of a module of cases a constructor is called."""
    lines = {file: Path(file).read_text("utf-8").splitlines() for file in _files()}
    wrong = []
    for recipe in ALL:
        line = lines[recipe.place.file][recipe.place.line - 1]
        if not any(name in line for name in CONSTRUCTORS):
            wrong.append((recipe.id, line))

    assert ([], {"cases"}) == (wrong, {Path(file).parents[1].name for file in lines})


def _files():
    """Return the modules that recipes are written in."""
    return {recipe.place.file for recipe in ALL}


def test_show_prints_the_line_of_the_recipe():
    """It is named by a path below the folder of the package."""
    case_id = "file/2.1/miniblock/int32"
    result = CliRunner().invoke(app, ["show", case_id])

    place = RECIPES[case_id].place
    assert f"recipes/cases/pages/miniblock.py:{place.line}" in result.output


def test_a_topic_lies_in_two_modules_at_most():
    """Topics are the third part of an id, in each area; those of 0.1 are of a chapter apart."""
    modules = defaultdict(set)
    for recipe in ALL:
        area, version, topic, *_ = recipe.id.split("/")
        modules[area, version == "0.1", topic].add(recipe.place.file)

    assert [] == [topic for topic, files in modules.items() if len(files) > 2]
