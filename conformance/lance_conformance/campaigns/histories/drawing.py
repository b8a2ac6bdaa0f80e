"""Drawing: the next line of a history, drawn for the tables there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories import (
    columns_rules,
    index_rules,
    places_rules,
    rows_rules,
    settings_rules,
)
from lance_conformance.campaigns.histories.lockstep import Line
from lance_conformance.campaigns.histories.schemas import (
    COLUMNS,
    INDEXED_COLUMNS,
    STORAGE,
    Columns,
    schema_text,
)
from lance_conformance.campaigns.histories.view import View, views

Rule = Callable[[Random, View], str | None]
"""Draws a line; None where it makes no sense. Its name is that of the operation."""


@dataclass(frozen=True, slots=True)
class Script:
    """What histories are made of: rules and how often each is drawn, columns, file versions."""

    rules: dict[Rule, int]
    columns: Columns
    storage: tuple[str, ...]


EDITS: dict[Rule, int] = {
    rows_rules.append: 5,
    rows_rules.insert: 1,
    rows_rules.delete: 6,
    rows_rules.update: 5,
    rows_rules.merge_insert: 6,
    rows_rules.compact: 4,
    columns_rules.add_computed: 2,
    columns_rules.drop: 2,
    columns_rules.alter: 3,
    columns_rules.replace_data: 1,
    columns_rules.update_columns: 1,
    places_rules.overwrite: 2,
    places_rules.branch: 2,
    places_rules.clone: 1,
    places_rules.clean_up: 1,
    settings_rules.restore: 2,
}

PLAIN = Script(
    {
        **EDITS,
        columns_rules.add_nulls: 1,
        columns_rules.add_read: 1,
        columns_rules.add_mapped: 1,
        columns_rules.merge: 1,
        places_rules.detach: 1,
        index_rules.create_index: 2,
        settings_rules.config: 2,
        settings_rules.field_metadata: 1,
        settings_rules.tag: 2,
    },
    COLUMNS,
    STORAGE,
)
"""Every operation."""

INDEXED = Script(
    {
        **EDITS,
        places_rules.overwrite: 1,
        places_rules.branch: 1,
        index_rules.create_index: 8,
        index_rules.drop_index: 1,
        index_rules.optimize_indices: 5,
        index_rules.segments: 4,
        index_rules.compact_deferred: 3,
    },
    INDEXED_COLUMNS,
    STORAGE[1:],
)
"""Operations that change rows which indices are over, and those on the indices."""

PAST = 0.08
"""How often an operation begins at an old version."""


def first_line(random: Random, script: Script) -> Line:
    """Return the line that makes the table."""
    version = random.choice(script.storage)
    stable = random.random() < 0.5
    most = random.choice((5, 8, 1000))
    schema = schema_text(random, nullable=version != "0.1", columns=script.columns)
    text = (
        f"lance.write_dataset(rows({schema}, {random.randrange(10_000)}, 20), "
        f"root + '/t', data_storage_version={version!r}, enable_stable_row_ids={stable}, "
        f"max_rows_per_file={most})"
    )
    return Line(text, random.random() < 0.5, name="create")


def next_line(random: Random, root: Path, script: Script) -> Line:
    """Return a line that makes sense on one of the tables below a folder, or makes the first."""
    found = views(root / "left")
    while found:
        view = random.choice(found)
        if random.random() < PAST:
            view = view.at(random.choice(view.versions_to_write))
        (rule,) = random.choices(list(script.rules), list(script.rules.values()))
        text = rule(random, view)
        if text is not None:
            return Line(text, random.random() < 0.5, rule.__name__)
    return first_line(random, script)
