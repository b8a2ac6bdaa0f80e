"""The cases by chapter and topic, and all of them by id."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from lance_conformance.recipes.constructors import with_parents
from lance_conformance.recipes.model import Recipe


def _all() -> Iterator[Recipe]:
    """Yield the recipes of every module below this folder that has `CASES`."""
    for module in walk_packages(__path__, f"{__name__}."):
        yield from with_parents(getattr(import_module(module.name), "CASES", ()))


ALL: tuple[Recipe, ...] = tuple(_all())
"""Every recipe."""

RECIPES: dict[str, Recipe] = {recipe.id: recipe for recipe in ALL}
"""Recipe by case id."""
