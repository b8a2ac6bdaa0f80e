"""Drawing: the next line of a history, drawn for the tables there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa

from lance_conformance.campaigns.histories import columns_rules, rows_rules, settings_rules
from lance_conformance.campaigns.histories.lockstep import Line
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
    settings_rules.config: 2,
    settings_rules.field_metadata: 1,
    settings_rules.restore: 2,
    settings_rules.tag: 2,
}
"""Rules and how often each is drawn."""

COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("s", pa.string()),
    ("i", pa.int32()),
    ("f", pa.float64()),
    ("b", pa.bool_()),
    ("d", pa.date32()),
    ("v", pa.list_(pa.float32(), 4)),
    ("l", pa.list_(pa.int32())),
    ("n", pa.struct([("x", pa.int32()), ("y", pa.string())])),
)
"""Columns beside the key."""

STORAGE = ("0.1", "2.0", "2.1", "2.1", "2.2", "2.3")
"""File versions to choose from."""


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


def schema_text(random: Random, *, nullable: bool) -> str:
    """Return words for a schema of a key and other columns; 0.1 knows nulls of few types."""
    chosen = [("k", pa.int64()), *random.sample(COLUMNS, random.randrange(1, 5))]
    end = "" if nullable else ", False"
    fields = ", ".join(f"pa.field({name!r}, {_type_text(kind)}{end})" for name, kind in chosen)
    return f"pa.schema([{fields}])"


def _type_text(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"pa.struct([{', '.join(f'({f.name!r}, {_type_text(f.type)})' for f in kind)}])"
    if pa.types.is_fixed_size_list(kind):
        return f"pa.list_({_type_text(kind.value_type)}, {kind.list_size})"
    if pa.types.is_list(kind):
        return f"pa.list_({_type_text(kind.value_type)})"
    names = {"double": "float64", "float": "float32", "bool": "bool_"}
    text = str(kind).partition("[")[0]
    return f"pa.{names.get(text, text)}()"


def next_line(random: Random, root: Path) -> Line:
    """Return a line that makes sense on one of the tables below a folder, or makes the first."""
    found = views(root / "left")
    while found:
        view = random.choice(found)
        (rule,) = random.choices(list(RULES), list(RULES.values()))
        text = rule(random, view)
        if text is not None:
            return Line(text, random.random() < 0.5, name=rule.__name__)
    return first_line(random)
