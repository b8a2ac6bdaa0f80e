"""Operations on columns: added, dropped, renamed, cast, merged in, replaced."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from lance_conformance.campaigns.histories.predicates import comparison
from lance_conformance.campaigns.histories.view import View

NEW = (
    "pa.int32()",
    "pa.string()",
    "pa.list_(pa.int32())",
    "pa.struct([('x', pa.int32()), ('z', pa.string())])",
)
"""Types of columns that are added."""

CASTS = ("pa.int64()", "pa.int32()", "pa.float64()", "pa.string()", "pa.large_string()")
"""Types that columns are cast to."""


def add_computed(random: Random, view: View) -> str:
    """A column in SQL; of one comparison, as the oracle folds two and knows of more non-nulls."""
    number = view.of(random, pa.types.is_integer, pa.types.is_floating) or "1"
    texts = (f"{number} + 1", f"{number} * 2.5", "'x'", "7", comparison(random, view))
    return f"{view.place}.add_columns({{{_name(random)!r}: {random.choice(texts)!r}}})"


def add_nulls(random: Random, view: View) -> str:
    """Columns of nulls, in the manifest alone."""
    fields = [f"pa.field({_name(random)!r}, {random.choice(NEW)})"]
    if random.random() < 0.3:
        fields.append(f"pa.field('m', {random.choice(NEW)})")
    given = random.choice(("pa.schema([{}])", "[{}]")).format(", ".join(fields))
    return f"{view.place}.add_columns({given})"


def add_read(random: Random, view: View) -> str:
    """Columns from a reader: a value for each row."""
    schema = f"pa.schema([({_name(random)!r}, {random.choice(NEW)})])"
    seed, count = random.randrange(10_000), f"{view.place}.count_rows()"
    if random.random() < 0.05:
        count += " + 1"
    return f"{view.place}.add_columns(rows({schema}, {seed}, {count}).to_reader())"


def add_mapped(random: Random, view: View) -> str | None:
    """A column by a function of batches; the oracle wants a row to try it on."""
    if not view.found.count_rows():
        return None
    name = random.choice(view.schema.names)
    made = f"lambda batch: pa.record_batch({{{_name(random)!r}: batch.column(0).is_null()}})"
    return f"{view.place}.add_columns({made}, read_columns=[{name!r}])"


def merge(random: Random, view: View) -> str | None:
    """Columns of other rows, matched by the key."""
    if view.key is None:
        return None
    schema = f"pa.schema([({view.key!r}, pa.int64()), ({_name(random)!r}, {random.choice(NEW)})])"
    source = f"rows({schema}, {random.randrange(10_000)}, {random.choice((0, 5, 30))})"
    return f"{view.place}.merge({source}, {view.key!r})"


def drop(random: Random, view: View) -> str | None:
    """Columns, whole or a part of one.

    Not the last with a file: the oracle does not read what is left (D.fragment.no-files).
    """
    path = _path(random, view)
    return None if view.leaves_no_files(path) else f"{view.place}.drop_columns([{path!r}])"


def alter(random: Random, view: View) -> str:
    """Columns renamed, cast, nullable or not."""
    edit: dict[str, str] = {"path": repr(_path(random, view))}
    if random.random() < 0.5:
        edit["name"] = repr(_name(random))
    if random.random() < 0.3:
        edit["nullable"] = str(random.random() < 0.7)
    casts = "." not in edit["path"] or view.found.data_storage_version not in ("0.1", "2.0")
    if casts and (random.random() < 0.4 or len(edit) == 1):  # of structs the oracle breaks 2.0
        edit["data_type"] = random.choice(CASTS)
    if len(edit) == 1:
        edit["nullable"] = "True"
    shown = ", ".join(f"{key!r}: {value}" for key, value in edit.items())
    return f"{view.place}.alter_columns({{{shown}}})"


def replace_data(random: Random, view: View) -> str | None:
    """Values of one column of one fragment, in a file of its own; 0.1 has none."""
    if not view.fragment_ids or view.is_early:
        return None
    name, number = random.choice(view.schema.names), random.choice(view.fragment_ids)
    return f"replaced(lance, {view.place}, {name!r}, {number}, {random.randrange(10_000)})"


def update_columns(random: Random, view: View) -> str | None:
    """Columns of one fragment, in place, matched by the key.

    Not such as have parts and an index: the oracle leaves it covering what the parts were
    (D.txn.items-under-list-index). Nor the first of a 0.1 file: it does not read what is left
    (D.legacy.first-given-up).
    """
    indexed = {path.partition(".")[0] for _, path, _ in view.indices}
    kept = {view.key, *(name for name in indexed if pa.types.is_nested(view.type_of(name)))}
    others = [name for name in view.schema.names if name not in kept]
    if view.key is None or not others or not view.fragment_ids:
        return None
    name, number = random.choice(others), random.choice(view.fragment_ids)
    if view.leads_early_file(number, name):
        return None
    seed = random.randrange(10_000)
    return f"columns_updated(lance, {view.place}, {view.key!r}, {name!r}, {number}, {seed})"


def _name(random: Random) -> str:
    return random.choice(("c0", "c1", "c2", "s", "i", "k"))


def _path(random: Random, view: View) -> str:
    """Return the name of a column, or the path of one below it."""
    field = random.choice(list(view.schema))
    if pa.types.is_struct(field.type) and field.type.num_fields and random.random() < 0.5:
        return f"{field.name}.{random.choice(list(field.type)).name}"
    return str(field.name)
