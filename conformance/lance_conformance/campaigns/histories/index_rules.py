"""Operations on indices: made, made of segments, brought up to date, dropped, left behind."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pyarrow as pa

from lance_conformance.campaigns.histories.view import View

Accepts = Callable[[pa.DataType], bool]


def is_scalar(kind: pa.DataType) -> bool:
    """Return whether values of a type have an order."""
    return not pa.types.is_nested(kind)


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of a type are texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


KINDS: dict[str, Accepts] = {
    "BTREE": is_scalar,
    "BITMAP": is_scalar,
    "ZONEMAP": is_scalar,
    "BLOOMFILTER": is_scalar,
    "LABEL_LIST": pa.types.is_list,
    "NGRAM": is_text,
    "INVERTED": is_text,
}
"""Types of indices, and the types of columns that each is for."""

MERGED = ("BTREE", "BITMAP", "ZONEMAP", "INVERTED")
"""Types of which segments become one on demand."""


def create_index(random: Random, view: View) -> str | None:
    """An index over all rows, or over none yet; one of the same name is replaced."""
    found = _column_and_kind(random, view)
    if found is None:
        return None
    given = [repr(one) for one in found]
    if random.random() < 0.2:
        given.append(f"name={random.choice(('one', 'two'))!r}")
    if random.random() < 0.1:
        given.append("replace=False")
    if random.random() < 0.1:
        given.append("train=False")
    return f"{view.place}.create_scalar_index({', '.join(given)}) and None"


def drop_index(random: Random, view: View) -> str | None:
    """An index taken out of the table."""
    names = [name for name, _, _ in view.indices]
    return f"{view.place}.drop_index({random.choice(names)!r})" if names else None


def optimize_indices(random: Random, view: View) -> str | None:
    """Rows that no index covers taken in, and segments joined.

    The oracle finds the rows of no part of a column: indices over one stay as they are.
    """
    given = []
    whole = [name for name, path, _ in view.indices if "." not in path]
    if random.random() < 0.3 or len(whole) < len(view.indices):
        if not whole:
            return None
        given.append(f"index_names=[{random.choice(whole)!r}]")
    if random.random() < 0.6:
        given.append(f"num_indices_to_merge={random.choice((0, 0, 1, 2, 10))}")
    elif random.random() < 0.2:
        given.append("retrain=True")
    return f"{view.place}.optimize.optimize_indices({', '.join(given)})"


def segments(random: Random, view: View) -> str | None:
    """Segments built apart over some fragments, some of them merged, and committed together."""
    found = _column_and_kind(random, view)
    if found is None or not view.fragment_ids:
        return None
    column, kind = found
    numbers = random.sample(view.fragment_ids, random.randint(1, min(4, len(view.fragment_ids))))
    merged = kind in MERGED and random.random() < 0.5
    return f"segmented({view.place}, {column!r}, {kind!r}, {sorted(numbers)}, merged={merged})"


def compact_deferred(random: Random, view: View) -> str:
    """Small fragments joined; the indices are told where the rows went and stay as they are."""
    size = random.choice((5, 10, 20))
    given = f"target_rows_per_fragment={size}, defer_index_remap=True"
    return f"{view.place}.optimize.compact_files({given})"


def _column_and_kind(random: Random, view: View) -> tuple[str, str] | None:
    """Return a column and a type of index for it; of a table of 0.1 the oracle can use none."""
    columns = [(field.name, field.type) for field in view.schema]
    columns += [
        (f"{field.name}.{below.name}", below.type)
        for field in view.schema
        if pa.types.is_struct(field.type)
        for below in field.type
    ]
    name, kind = random.choice(columns)
    fits = [one for one, accepts in KINDS.items() if accepts(kind)]
    if view.found.data_storage_version == "0.1" or not fits or not view.found.count_rows():
        return None
    return name, random.choice(fits)
