"""Rules: each draws one operation on a table, as a line that either implementation can follow.

On rows: written, deleted, updated, merged, compacted. On columns: added, dropped, renamed, cast,
merged in, replaced. On whole tables: replaced, branched off, cloned, cleaned up, detached. On what
leaves rows alone: settings, versions, references.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
from lanceref.transactions.manifest_builder import REUSE_INDEX
from lanceref_testing.conditions import compared, either
from pylanceref.sql.strict import is_text

from lance_conformance.campaigns.histories.values import PLAIN, STORAGE, column, schema_text
from lance_conformance.campaigns.histories.view import View, opening


def predicate(random: Random, view: View) -> str:
    """Return a condition; most are true of some rows."""
    if random.random() < 0.06:
        return random.choice(("true", "false"))
    one = comparison(random, view)
    return either(random, one, comparison(random, view)) if random.random() < 0.25 else one


def comparison(random: Random, view: View) -> str:
    """Return one comparison; of 0.1 not with nulls (D.table.filter-single-value-batch-0-1)."""
    names = view.names_of(is_text, pa.types.is_integer, pa.types.is_boolean)
    names = [name for name in names if not (view.is_early and view.schema.field(name).nullable)]
    if not names:
        return "true"
    name = random.choice(names)
    if view.key in names and random.random() < 0.5:
        name = str(view.key)
    return compared(random, name, column(view.type_of(name)))


def append(random: Random, view: View) -> str:
    """Rows after those there are, in one file or several."""
    most = random.choice((1000, 1000, 4, 7))
    end = f"mode='append', max_rows_per_file={most}"
    return f"lance.write_dataset({_rows(random, view)}, {view.place}, {end})"


def insert(random: Random, view: View) -> str:
    """Rows by the dataset's own method."""
    return f"{view.place}.insert({_rows(random, view)})"


def delete(random: Random, view: View) -> str:
    """Rows that pass a filter."""
    return f"{view.place}.delete({predicate(random, view)!r})"


def update(random: Random, view: View) -> str | None:
    """Columns of rows that pass a filter.

    Of an old version, not of columns that the newest has elsewhere (D.txn.update-again-by-place).
    """
    places = [one.schema.get_field_index for one in (view, view.newest)]
    number = view.of(random, pa.types.is_integer, pa.types.is_floating)
    text, new = view.of(random, pa.types.is_string), dict[str, str]()
    if number is not None and random.random() < 0.7:
        new[number] = random.choice(("{0} + 1", "7", "{0} * 2", "NULL")).format(number)
    if text is not None and random.random() < 0.6:
        new[text] = random.choice(("'new'", "NULL", "'x'"))
    if not new or any(places[0](name) != places[1](name) for name in new):
        return None
    where = predicate(random, view) if random.random() < 0.9 else None
    return f"{view.place}.update({new!r}, where={where!r})"


def merge_insert(random: Random, view: View) -> str | None:
    """Other rows, matched by the key: every combination of actions.

    Vectors are among them: tables of 0.1 do not hold their nulls (D.table.merged-vector-null-0-1).
    """
    if view.key is None:
        return None
    matched = ("", ".when_matched_update_all()", ".when_matched_delete()", ".when_matched_fail()")
    condition = f"source.{view.key} < 30"
    text = random.choice((*matched, matched[1], f".when_matched_update_all({condition!r})"))
    if random.random() < 0.7:
        text += ".when_not_matched_insert_all()"
    if text != matched[2] and random.random() < 0.25:  # the oracle breaks over these two alone
        where = predicate(random, view) if random.random() < 0.7 else None
        text += f".when_not_matched_by_source_delete({where!r})"
    if not text:
        return None
    own = _rows(random, view)
    if random.random() < 0.2:
        vectors = view.names_of(pa.types.is_fixed_size_list) if view.is_early else []
        always = {view.key, *vectors}
        kept = [name for name in view.schema.names if name in always or random.random() < 0.6]
        own += f".select({kept!r})"
    source = f"aligned({opening(view.name)}, {view.key!r}, {own})"  # it may be run again over it
    builder = f"merge_insert({view.key!r}).use_index(False)"  # through one it has other fragments
    return f"{view.place}.{builder}{text}.execute({source})"


COMPACTION: dict[str, tuple[float, tuple[object, ...]]] = {
    "target_rows_per_fragment": (0.7, (5, 10, 20)),
    "materialize_deletions": (0.3, (True, False)),
    "materialize_deletions_threshold": (0.3, (0.0, 0.3, 0.9)),
    "max_source_fragments": (0.2, (1, 2, 3)),
    "batch_size": (0.2, (1, 3, 100)),
}
"""Arguments of a compaction: each with its likelihood, and its values."""


def compact(random: Random, view: View) -> str | None:
    """Small fragments joined; indices whose files lie in another table the oracle loses thereby.

    Of those that an earlier compaction left as they were it loses rows
    (D.index.compaction-after-deferred).
    """
    indices = view.found._snapshot.manifest.indices
    if any(one.HasField("base_id") or one.name == REUSE_INDEX for one in indices):
        return None
    given = [
        f"{name}={random.choice(values)!r}"
        for name, (share, values) in COMPACTION.items()
        if random.random() < share
    ]
    return f"{view.place}.optimize.compact_files({', '.join(given)})"


def _rows(random: Random, view: View) -> str:
    """Return words for rows of a table's schema."""
    count = random.choice((0, 1, 3, 5, 8, 12, 20))
    repeated = ", repeated=True" if random.random() < 0.1 else ""
    return f"rows({view.place}.schema, {random.randrange(10_000)}, {count}{repeated})"


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
    form = random.choice(("pa.schema([{}])", "[{}]"))
    return f"{view.place}.add_columns({form.format(', '.join(fields))})"


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

    Not such as have parts and an index, or get one later: the oracle leaves it covering what the
    parts were (D.txn.items-under-list-index). Nor the first of a 0.1 file: it does not read what is
    left (D.legacy.first-given-up).
    """
    indices = [*view.indices, *view.newest.indices]
    indexed = {path.partition(".")[0] for _, path, _ in indices}
    nested = {one.name for one in view.schema if pa.types.is_nested(one.type)}
    others = [one for one in view.schema.names if one not in {view.key, *(nested & indexed)}]
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


MOST_TABLES = 4
"""Tables below the root of a history, branches and clones among them."""


def overwrite(random: Random, view: View) -> str:
    """All rows replaced, under the same schema or another, in the same file version or another."""
    schema = f"{view.place}.schema"
    if random.random() < 0.6:
        schema = schema_text(random, PLAIN, nullable=not view.is_early)
    version = random.choice(STORAGE) if random.random() < 0.3 else None
    own = f"rows({schema}, {random.randrange(10_000)}, {random.choice((3, 20))})"
    end = f"data_storage_version={version!r}, max_rows_per_file={random.choice((6, 1000))}"
    return f"lance.write_dataset({own}, {view.place}, mode='overwrite', {end})"


def branch(random: Random, view: View) -> str | None:
    """A branch made at a version, or deleted."""
    known = sorted(view.found.branches.list())
    if known and random.random() < 0.3:
        return f"{view.place}.branches.delete({random.choice(known)!r})"
    if len(view.names) >= MOST_TABLES:
        return None
    free = [one for one in ("dev", "dev/two", "other") if one not in known] or ["dev"]
    return f"{view.place}.create_branch({random.choice(free)!r}, {random.choice(view.versions)})"


def clone(random: Random, view: View) -> str | None:
    """A table whose files lie in another one, or copies of them."""
    free = [name for name in ("c0", "c1") if name not in view.names]
    if len(view.names) >= MOST_TABLES or not free:
        return None
    how = random.choice(("shallow_clone", "shallow_clone", "deep_clone"))
    return f"{view.place}.{how}(root + '/{free[0]}', {random.choice(view.versions)})"


def clean_up(random: Random, view: View) -> str | None:
    """Old versions removed; the oracle takes the files of detached ones, which stay."""
    if any(Path(view.found.uri, "_versions").glob("d*")):
        return None
    kept = f"retain_versions={random.choice((1, 2, 4))}"
    which = random.choice(("older_than=timedelta(0)", kept))
    more = ", delete_unverified=True" if random.random() < 0.5 else ""
    return f"cleaned({view.place}, error_if_tagged_old_versions=False, {which}{more})"


def detach(random: Random, view: View) -> str | None:
    """Rows deleted in a version that is on no line."""
    if not view.fragment_ids:
        return None
    return f"detached(lance, {view.place}, {predicate(random, view)!r})"


def config(random: Random, view: View) -> str:
    """Config, table metadata or schema metadata edited."""
    name = random.choice(("update_config", "update_metadata", "update_schema_metadata"))
    edit = {random.choice("pqr"): random.choice(("1", "2", None)) for _ in range(2)}
    replaced = random.random() < 0.25
    kept = {key: value for key, value in edit.items() if value is not None or not replaced}
    return f"{view.place}.{name}({kept!r}, replace={replaced})"


def field_metadata(random: Random, view: View) -> str:
    """Metadata of one column edited."""
    edit = {random.choice(view.schema.names): {random.choice("pq"): random.choice(("1", None))}}
    return f"{view.place}.update_field_metadata({edit!r})"


def restore(random: Random, view: View) -> str:
    """An old version made the latest."""
    return f"{view.place}.checkout_version({random.choice(view.versions)}).restore()"


def tag(random: Random, view: View) -> str:
    """Tags made, moved and deleted."""
    name, number = random.choice(("one", "two")), random.choice(view.versions)
    if name not in view.found.tags.list():
        return f"{view.place}.tags.create({name!r}, {number})"
    if random.random() < 0.5:
        return f"{view.place}.tags.delete({name!r})"
    return f"{view.place}.tags.update({name!r}, {number})"
