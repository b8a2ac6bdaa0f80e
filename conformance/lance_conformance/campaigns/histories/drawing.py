"""Drawing: the next line of a history, drawn for the tables there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories import (
    columns_rules,
    places_rules,
    rows_rules,
    settings_rules,
)
from lance_conformance.campaigns.histories.lockstep import Line
from lance_conformance.campaigns.histories.schemas import STORAGE, schema_text
from lance_conformance.campaigns.histories.view import View, views

Rule = Callable[[Random, View], str | None]
"""Draws a line; None where it makes no sense. Its name is that of the operation."""

RULES: dict[Rule, int] = {
    rows_rules.append: 5,
    rows_rules.insert: 1,
    rows_rules.delete: 6,
    rows_rules.update: 5,
    rows_rules.merge_insert: 6,
    rows_rules.compact: 4,
    columns_rules.add_computed: 2,
    columns_rules.add_nulls: 1,
    columns_rules.add_read: 1,
    columns_rules.add_mapped: 1,
    columns_rules.merge: 1,
    columns_rules.drop: 2,
    columns_rules.alter: 3,
    columns_rules.replace_data: 1,
    columns_rules.update_columns: 1,
    places_rules.overwrite: 2,
    places_rules.branch: 2,
    places_rules.clone: 1,
    places_rules.clean_up: 1,
    places_rules.detach: 1,
    places_rules.index: 2,
    settings_rules.config: 2,
    settings_rules.field_metadata: 1,
    settings_rules.restore: 2,
    settings_rules.tag: 2,
}
"""Rules and how often each is drawn."""

PAST = 0.08
"""How often an operation begins at an old version."""


def first_line(random: Random) -> Line:
    """Return the line that makes the table."""
    version = random.choice(STORAGE)
    stable = random.random() < 0.5
    most = random.choice((5, 8, 1000))
    schema = schema_text(random, nullable=version != "0.1")
    text = (
        f"lance.write_dataset(rows({schema}, {random.randrange(10_000)}, 20), "
        f"root + '/t', data_storage_version={version!r}, enable_stable_row_ids={stable}, "
        f"max_rows_per_file={most})"
    )
    return Line(text, random.random() < 0.5, name="create")


def next_line(random: Random, root: Path) -> Line:
    """Return a line that makes sense on one of the tables below a folder, or makes the first."""
    found = views(root / "left")
    while found:
        view = random.choice(found)
        if random.random() < PAST:
            view = view.at(random.choice(view.versions))
        (rule,) = random.choices(list(RULES), list(RULES.values()))
        text = rule(random, view)
        if text is not None:
            alone = rule is places_rules.index
            return Line(text, random.random() < 0.5, alone, rule.__name__)
    return first_line(random)
