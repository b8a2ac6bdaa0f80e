"""The recipes by area, and all of them by case id."""

from __future__ import annotations

from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.tables import (
    containers,
    datasets,
    faults_container,
    faults_pages,
    faults_table,
    files_2_0,
    files_2_1,
)

ALL: tuple[Recipe, ...] = (
    *containers.POSITIVES,
    *files_2_0.POSITIVES,
    *files_2_1.POSITIVES,
    *datasets.POSITIVES,
    *faults_container.NEGATIVES,
    *faults_pages.NEGATIVES,
    *faults_table.NEGATIVES,
)
"""Every recipe."""

RECIPES: dict[str, Recipe] = {recipe.id: recipe for recipe in ALL}
"""Recipe by case id."""
