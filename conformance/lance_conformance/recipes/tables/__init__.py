"""The recipes by area, and all of them by case id."""

from __future__ import annotations

from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.tables import (
    blobs,
    containers,
    datasets,
    datasets_marks,
    datasets_rare,
    faults_0_1,
    faults_2_0,
    faults_2_3,
    faults_container,
    faults_layouts,
    faults_marks,
    faults_pages,
    faults_table,
    faults_versions,
    files_0_1,
    files_2_0,
    files_2_0_rare,
    files_2_1,
    files_2_2_hand,
    files_2_3,
    files_dictionaries,
    files_layouts,
    files_odd,
    files_places,
    files_sequences,
    files_types,
    files_widths,
    files_widths_blocks,
    json,
)

ALL: tuple[Recipe, ...] = (
    *files_0_1.POSITIVES,
    *containers.POSITIVES,
    *files_2_0.POSITIVES,
    *files_2_1.POSITIVES,
    *files_2_0_rare.POSITIVES,
    *files_layouts.POSITIVES,
    *files_2_2_hand.POSITIVES,
    *files_widths.POSITIVES,
    *files_widths_blocks.POSITIVES,
    *files_types.POSITIVES,
    *files_places.POSITIVES,
    *files_odd.POSITIVES,
    *files_sequences.POSITIVES,
    *files_dictionaries.POSITIVES,
    *files_2_3.POSITIVES,
    *datasets.POSITIVES,
    *datasets_rare.POSITIVES,
    *datasets_marks.POSITIVES,
    *json.POSITIVES,
    *blobs.POSITIVES,
    *faults_0_1.NEGATIVES,
    *faults_container.NEGATIVES,
    *faults_pages.NEGATIVES,
    *faults_2_0.NEGATIVES,
    *faults_layouts.NEGATIVES,
    *faults_versions.NEGATIVES,
    *faults_2_3.NEGATIVES,
    *faults_marks.NEGATIVES,
    *faults_table.NEGATIVES,
    *json.NEGATIVES,
    *blobs.NEGATIVES,
)
"""Every recipe."""

RECIPES: dict[str, Recipe] = {recipe.id: recipe for recipe in ALL}
"""Recipe by case id."""
