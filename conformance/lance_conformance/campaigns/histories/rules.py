"""Rules: each draws one operation on a table, as an expression for either implementation.

Operations change rows, columns, whole tables (overwrite, branch, clone, cleanup, detached commit),
settings, versions and references. Each returns None where it does not apply.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
from lanceref.transactions.manifest_builder import REUSE_INDEX
from lanceref_testing.conditions import compare, either
from pylanceref.sql.strict import is_text

from lance_conformance.campaigns.histories.values import PLAIN, STORAGE, column, schema_text
from lance_conformance.campaigns.histories.view import View, open_expression


def predicate(random: Random, view: View) -> str:
    """Return a condition, which is usually true for some rows."""
    if random.random() < 0.06:
        return random.choice(("true", "false"))
    one = comparison(random, view)
    return either(random, one, comparison(random, view)) if random.random() < 0.25 else one


def comparison(random: Random, view: View) -> str:
    """Return a comparison; not with nulls in 0.1 (D.table.filter-single-value-batch-0-1)."""
    names = view.names_of(is_text, pa.types.is_integer, pa.types.is_boolean)
    names = [name for name in names if not (view.is_legacy and view.schema.field(name).nullable)]
    if not names:
        return "true"
    name = random.choice(names)
    if view.key in names and random.random() < 0.5:
        name = str(view.key)
    return compare(random, name, column(view.type_of(name)))


def append(random: Random, view: View) -> str:
    """Append rows in one file or several."""
    max_rows = random.choice((1000, 1000, 4, 7))
    options = f"mode='append', max_rows_per_file={max_rows}"
    return f"lance.write_dataset({_rows(random, view)}, {view.source}, {options})"


def insert(random: Random, view: View) -> str:
    """Append rows by the method of the dataset."""
    return f"{view.source}.insert({_rows(random, view)})"


def delete(random: Random, view: View) -> str:
    """Delete the rows that pass a filter."""
    return f"{view.source}.delete({predicate(random, view)!r})"


def update(random: Random, view: View) -> str | None:
    """Update columns of the rows that pass a filter.

    Columns of an old version must have the same index in the newest (D.txn.update-again-by-place).
    """
    index_of = [one.schema.get_field_index for one in (view, view.newest)]
    number = view.choose_column(random, pa.types.is_integer, pa.types.is_floating)
    text, new = view.choose_column(random, pa.types.is_string), dict[str, str]()
    if number is not None and random.random() < 0.7:
        new[number] = random.choice(("{0} + 1", "7", "{0} * 2", "NULL")).format(number)
    if text is not None and random.random() < 0.6:
        new[text] = random.choice(("'new'", "NULL", "'x'"))
    if not new or any(index_of[0](name) != index_of[1](name) for name in new):
        return None
    where = predicate(random, view) if random.random() < 0.9 else None
    return f"{view.source}.update({new!r}, where={where!r})"


def merge_insert(random: Random, view: View) -> str | None:
    """Merge rows by the key, with every combination of actions.

    The source always has vectors, since 0.1 has no null ones (D.table.merged-vector-null-0-1).
    """
    if view.key is None:
        return None
    matched = ("", ".when_matched_update_all()", ".when_matched_delete()", ".when_matched_fail()")
    condition = f"source.{view.key} < 30"
    text = random.choice((*matched, matched[1], f".when_matched_update_all({condition!r})"))
    if random.random() < 0.7:
        text += ".when_not_matched_insert_all()"
    if text != matched[2] and random.random() < 0.25:  # the oracle fails with these two alone
        where = predicate(random, view) if random.random() < 0.7 else None
        text += f".when_not_matched_by_source_delete({where!r})"
    if not text:
        return None
    rows = _rows(random, view)
    if random.random() < 0.2:
        vectors = view.names_of(pa.types.is_fixed_size_list) if view.is_legacy else []
        always = {view.key, *vectors}
        names = [name for name in view.schema.names if name in always or random.random() < 0.6]
        rows += f".select({names!r})"
    # the newest version, on which a conflict repeats the merge; an index has other fragments
    source = f"order_by_table({open_expression(view.name)}, {view.key!r}, {rows})"
    builder = f"merge_insert({view.key!r}).use_index(False)"
    return f"{view.source}.{builder}{text}.execute({source})"


COMPACTION: dict[str, tuple[float, tuple[object, ...]]] = {
    "target_rows_per_fragment": (0.7, (5, 10, 20)),
    "materialize_deletions": (0.3, (True, False)),
    "materialize_deletions_threshold": (0.3, (0.0, 0.3, 0.9)),
    "max_source_fragments": (0.2, (1, 2, 3)),
    "batch_size": (0.2, (1, 3, 100)),
}
"""Arguments of a compaction, with the probability and the values of each."""


def compact(random: Random, view: View) -> str | None:
    """Compact small fragments.

    Not with indices in files of another table, which the oracle loses, or after a deferred
    remapping, where it loses rows (D.index.compaction-after-deferred).
    """
    indices = view.dataset._snapshot.manifest.indices
    if any(one.HasField("base_id") or one.name == REUSE_INDEX for one in indices):
        return None
    arguments = [
        f"{name}={random.choice(values)!r}"
        for name, (share, values) in COMPACTION.items()
        if random.random() < share
    ]
    return f"{view.source}.optimize.compact_files({', '.join(arguments)})"


def _rows(random: Random, view: View) -> str:
    """Return the expression of rows with the schema of a table."""
    count = random.choice((0, 1, 3, 5, 8, 12, 20))
    repeated = ", repeated=True" if random.random() < 0.1 else ""
    return f"rows({view.source}.schema, {random.randrange(10_000)}, {count}{repeated})"


NEW_TYPES = (
    "pa.int32()",
    "pa.string()",
    "pa.list_(pa.int32())",
    "pa.struct([('x', pa.int32()), ('z', pa.string())])",
)
"""Types of added columns."""

CASTS = ("pa.int64()", "pa.int32()", "pa.float64()", "pa.string()", "pa.large_string()")
"""Target types of casts."""


def add_computed(random: Random, view: View) -> str:
    """Add a column by SQL, with at most one comparison: the oracle folds two to non-null ones."""
    number = view.choose_column(random, pa.types.is_integer, pa.types.is_floating) or "1"
    texts = (f"{number} + 1", f"{number} * 2.5", "'x'", "7", comparison(random, view))
    return f"{view.source}.add_columns({{{_name(random)!r}: {random.choice(texts)!r}}})"


def add_nulls(random: Random, view: View) -> str:
    """Add columns of nulls, in the manifest alone."""
    fields = [f"pa.field({_name(random)!r}, {random.choice(NEW_TYPES)})"]
    if random.random() < 0.3:
        fields.append(f"pa.field('m', {random.choice(NEW_TYPES)})")
    form = random.choice(("pa.schema([{}])", "[{}]"))
    return f"{view.source}.add_columns({form.format(', '.join(fields))})"


def add_read(random: Random, view: View) -> str:
    """Add columns from a reader, usually with a value for each row."""
    schema = f"pa.schema([({_name(random)!r}, {random.choice(NEW_TYPES)})])"
    seed, count = random.randrange(10_000), f"{view.source}.count_rows()"
    if random.random() < 0.05:
        count += " + 1"
    return f"{view.source}.add_columns(rows({schema}, {seed}, {count}).to_reader())"


def add_mapped(random: Random, view: View) -> str | None:
    """Add a column by a function of batches, for which the oracle needs a row."""
    if not view.dataset.count_rows():
        return None
    name = random.choice(view.schema.names)
    function = f"lambda batch: pa.record_batch({{{_name(random)!r}: batch.column(0).is_null()}})"
    return f"{view.source}.add_columns({function}, read_columns=[{name!r}])"


def merge(random: Random, view: View) -> str | None:
    """Merge columns of other rows by the key."""
    if view.key is None:
        return None
    schema = (
        f"pa.schema([({view.key!r}, pa.int64()), ({_name(random)!r}, {random.choice(NEW_TYPES)})])"
    )
    source = f"rows({schema}, {random.randrange(10_000)}, {random.choice((0, 5, 30))})"
    return f"{view.source}.merge({source}, {view.key!r})"


def drop(random: Random, view: View) -> str | None:
    """Drop a column or a field of one.

    Not the last one with a file: the oracle does not read the result (D.fragment.no-files).
    """
    path = _path(random, view)
    return None if view.leaves_no_files(path) else f"{view.source}.drop_columns([{path!r}])"


def alter(random: Random, view: View) -> str:
    """Rename or cast a column, or change its nullability."""
    edit: dict[str, str] = {"path": repr(_path(random, view))}
    if random.random() < 0.5:
        edit["name"] = repr(_name(random))
    if random.random() < 0.3:
        edit["nullable"] = str(random.random() < 0.7)
    casts = "." not in edit["path"] or view.dataset.data_storage_version not in ("0.1", "2.0")
    if casts and (random.random() < 0.4 or len(edit) == 1):  # the oracle breaks structs of 2.0
        edit["data_type"] = random.choice(CASTS)
    if len(edit) == 1:
        edit["nullable"] = "True"
    text = ", ".join(f"{key!r}: {value}" for key, value in edit.items())
    return f"{view.source}.alter_columns({{{text}}})"


def replace_data(random: Random, view: View) -> str | None:
    """Replace the values of a column of a fragment by a data file; not in 0.1."""
    if not view.fragment_ids or view.is_legacy:
        return None
    name, number = random.choice(view.schema.names), random.choice(view.fragment_ids)
    return f"replace_column(lance, {view.source}, {name!r}, {number}, {random.randrange(10_000)})"


def update_columns(random: Random, view: View) -> str | None:
    """Update a column of a fragment in place, matched by the key.

    Not nested columns with an index now or in the newest version: the oracle does not update its
    coverage (D.txn.items-under-list-index). Not the first column of a 0.1 file: the oracle does not
    read the result (D.legacy.first-given-up).
    """
    indices = [*view.indices, *view.newest.indices]
    indexed = {path.partition(".")[0] for _, path, _ in indices}
    nested = {one.name for one in view.schema if pa.types.is_nested(one.type)}
    others = [one for one in view.schema.names if one not in {view.key, *(nested & indexed)}]
    if view.key is None or not others or not view.fragment_ids:
        return None
    name, number = random.choice(others), random.choice(view.fragment_ids)
    if view.starts_legacy_file(number, name):
        return None
    seed = random.randrange(10_000)
    return f"update_column(lance, {view.source}, {view.key!r}, {name!r}, {number}, {seed})"


def _name(random: Random) -> str:
    return random.choice(("c0", "c1", "c2", "s", "i", "k"))


def _path(random: Random, view: View) -> str:
    """Return the name of a column, or the path of a field of a struct."""
    field = random.choice(list(view.schema))
    if pa.types.is_struct(field.type) and field.type.num_fields and random.random() < 0.5:
        return f"{field.name}.{random.choice(list(field.type)).name}"
    return str(field.name)


MAX_TABLES = 4
"""Most tables of a history, including branches and clones."""


def overwrite(random: Random, view: View) -> str:
    """Replace all rows, with the same or another schema and file version."""
    schema = f"{view.source}.schema"
    if random.random() < 0.6:
        schema = schema_text(random, PLAIN, nullable=not view.is_legacy)
    version = random.choice(STORAGE) if random.random() < 0.3 else None
    rows = f"rows({schema}, {random.randrange(10_000)}, {random.choice((3, 20))})"
    options = f"data_storage_version={version!r}, max_rows_per_file={random.choice((6, 1000))}"
    return f"lance.write_dataset({rows}, {view.source}, mode='overwrite', {options})"


def branch(random: Random, view: View) -> str | None:
    """Create a branch at a version, or delete one."""
    known = sorted(view.dataset.branches.list())
    if known and random.random() < 0.3:
        return f"{view.source}.branches.delete({random.choice(known)!r})"
    if len(view.names) >= MAX_TABLES:
        return None
    free = [one for one in ("dev", "dev/two", "other") if one not in known] or ["dev"]
    return f"{view.source}.create_branch({random.choice(free)!r}, {random.choice(view.versions)})"


def clone(random: Random, view: View) -> str | None:
    """Clone a version of the table, shallow or deep."""
    free = [name for name in ("c0", "c1") if name not in view.names]
    if len(view.names) >= MAX_TABLES or not free:
        return None
    method = random.choice(("shallow_clone", "shallow_clone", "deep_clone"))
    return f"{view.source}.{method}(root + '/{free[0]}', {random.choice(view.versions)})"


def clean_up(random: Random, view: View) -> str | None:
    """Remove old versions; not with detached ones, whose files the oracle removes."""
    if any(Path(view.dataset.uri, "_versions").glob("d*")):
        return None
    retained = f"retain_versions={random.choice((1, 2, 4))}"
    policy = random.choice(("older_than=timedelta(0)", retained))
    more = ", delete_unverified=True" if random.random() < 0.5 else ""
    return f"clean_up({view.source}, error_if_tagged_old_versions=False, {policy}{more})"


def detach(random: Random, view: View) -> str | None:
    """Delete rows in a detached version."""
    if not view.fragment_ids:
        return None
    return f"delete_detached(lance, {view.source}, {predicate(random, view)!r})"


def config(random: Random, view: View) -> str:
    """Edit config, table metadata or schema metadata."""
    name = random.choice(("update_config", "update_metadata", "update_schema_metadata"))
    edit = {random.choice("pqr"): random.choice(("1", "2", None)) for _ in range(2)}
    replace = random.random() < 0.25
    values = {key: value for key, value in edit.items() if value is not None or not replace}
    return f"{view.source}.{name}({values!r}, replace={replace})"


def field_metadata(random: Random, view: View) -> str:
    """Edit the metadata of a column."""
    edit = {random.choice(view.schema.names): {random.choice("pq"): random.choice(("1", None))}}
    return f"{view.source}.update_field_metadata({edit!r})"


def restore(random: Random, view: View) -> str:
    """Restore an old version."""
    return f"{view.source}.checkout_version({random.choice(view.versions)}).restore()"


def tag(random: Random, view: View) -> str:
    """Create, move or delete a tag."""
    name, number = random.choice(("one", "two")), random.choice(view.versions)
    if name not in view.dataset.tags.list():
        return f"{view.source}.tags.create({name!r}, {number})"
    if random.random() < 0.5:
        return f"{view.source}.tags.delete({name!r})"
    return f"{view.source}.tags.update({name!r}, {number})"
