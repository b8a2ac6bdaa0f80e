"""Operations on whole tables: replaced, branched off, cloned, cleaned up, detached."""

from __future__ import annotations

from random import Random

from lance_conformance.campaigns.histories.predicates import predicate
from lance_conformance.campaigns.histories.schemas import STORAGE, schema_text
from lance_conformance.campaigns.histories.view import View

MOST_TABLES = 4
"""Tables below the root of a history, branches and clones among them."""


def overwrite(random: Random, view: View) -> str:
    """All rows replaced, under the same schema or another, in the same file version or another."""
    schema = f"{view.place}.schema"
    if random.random() < 0.6:
        schema = schema_text(random, nullable=view.found.data_storage_version != "0.1")
    version = repr(random.choice(STORAGE)) if random.random() < 0.3 else None
    own = f"rows({schema}, {random.randrange(10_000)}, {random.choice((3, 20))})"
    return (
        f"lance.write_dataset({own}, {view.place}, mode='overwrite', "
        f"data_storage_version={version}, max_rows_per_file={random.choice((6, 1000))})"
    )


def branch(random: Random, view: View) -> str | None:
    """A branch made at a version, or deleted."""
    known = sorted(view.found.branches.list())
    if known and random.random() < 0.3:
        return f"{view.place}.branches.delete({random.choice(known)!r})"
    if len(view.names) >= MOST_TABLES:
        return None
    name = random.choice(
        [one for one in ("dev", "dev/two", "other") if one not in known] or ["dev"]
    )
    return f"{view.place}.create_branch({name!r}, {random.choice(view.versions)})"


def clone(random: Random, view: View) -> str | None:
    """A table whose files lie in another one, or copies of them."""
    free = [name for name in ("c0", "c1") if name not in view.names]
    if len(view.names) >= MOST_TABLES or not free:
        return None
    how = random.choice(("shallow_clone", "shallow_clone", "deep_clone"))
    return f"{view.place}.{how}(root + '/{free[0]}', {random.choice(view.versions)})"


def clean_up(random: Random, view: View) -> str | None:
    """Old versions removed; the oracle takes the files of detached ones, which stay."""
    if view.has_detached:
        return None
    given = ["error_if_tagged_old_versions=False"]
    kept = random.choice((1, 2, 4))
    given.append(random.choice(("older_than=timedelta(0)", f"retain_versions={kept}")))
    if random.random() < 0.5:
        given.append("delete_unverified=True")
    return f"cleaned({view.place}, {', '.join(given)})"


def detach(random: Random, view: View) -> str | None:
    """Rows deleted in a version that is on no line."""
    if not view.fragment_ids:
        return None
    return f"detached(lance, {view.place}, {predicate(random, view)!r})"
