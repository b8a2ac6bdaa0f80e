"""Operations on indices: made, made of segments, brought up to date, dropped, left behind."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pyarrow as pa
from pylanceref.sql.strict import is_text

from lance_conformance.campaigns.histories.view import View

Accepts = Callable[[pa.DataType], bool]


def is_json(kind: pa.DataType) -> bool:
    """Return whether values of a type are documents."""
    return bool(kind == pa.json_())


KINDS: dict[str, Accepts] = {
    **dict.fromkeys(
        ("'BTREE'", "'BITMAP'", "'ZONEMAP'", "'BLOOMFILTER'"),
        lambda kind: not (pa.types.is_nested(kind) or is_json(kind)),
    ),
    "'LABEL_LIST'": pa.types.is_list,
    "'NGRAM'": is_text,
    "'INVERTED'": is_text,
    "'MINHASHLSH'": is_text,
    "lance.indices.IndexConfig('fm', {})": is_text,
    "'RTREE'": pa.types.is_binary,
    "of_member('btree', lance)": is_json,
}
"""Types of indices in words, and the types of columns that each is for."""

OF_VECTORS = {
    "IVF_FLAT": "",
    "IVF_SQ": "",
    "IVF_RQ": ", num_bits=1",
    "IVF_PQ": ", num_sub_vectors=2, pq_codebook=points(2, 256, 4)",
    "IVF_HNSW_FLAT": "",
    "IVF_HNSW_SQ": "",
    "IVF_HNSW_PQ": ", num_sub_vectors=2, pq_codebook=points(2, 256, 4)",
}
"""Types of indices of vectors, and what else each is given."""

MERGED = ("'BTREE'", "'BITMAP'", "'ZONEMAP'", "'INVERTED'")
"""Types of which segments become one on demand."""


def create_index(random: Random, view: View) -> str | None:
    """An index over all rows, or over none yet; one of the same name is replaced."""
    found = _column_and_kind(random, view)
    if found is None:
        return None
    column, kind = found
    given = [repr(column), kind]
    if random.random() < 0.2:
        given.append(f"name={random.choice(('one', 'two'))!r}")
    if random.random() < 0.1:
        given.append("replace=False")
    if random.random() < 0.1:
        given.append("train=False")
    how = "create_index" if kind.startswith("'IVF") else "create_scalar_index"
    return f"{view.place}.{how}({', '.join(given)}) and None"


def drop_index(random: Random, view: View) -> str | None:
    """An index taken out of the table."""
    names = [name for name, _, _ in view.indices]
    return f"{view.place}.drop_index({random.choice(names)!r})" if names else None


def optimize_indices(random: Random, view: View) -> str | None:
    """Rows that no index covers taken in, and segments joined.

    The oracle finds the rows of no part of a column: indices over one stay as they are
    (D.index.nested-new-segment). As do those of an old version over what the newest has no more
    (D.txn.index-of-no-field), and SQ where its segments have bounds of their own. Segments beside
    those with old values give them (D.index.old-values-beside-new), and zones that are merged keep
    their nulls (D.index.nulls-of-replaced).
    """
    given = []
    whole = [
        name
        for name, path, kind in view.indices
        if "." not in path and view.is_kept(path)
        if not (kind.endswith("_SQ") and view.is_bounded_apart(name))
        if not (kind in ("ZONEMAP", "BLOOMFILTER") and view.may_have_old_values)
    ]
    if random.random() < 0.3 or len(whole) < len(view.indices):
        if not whole:
            return None
        given.append(f"index_names=[{random.choice(whole)!r}]")
    if random.random() < 0.6:
        counts = (1, 2, 10) if view.may_have_old_values else (0, 0, 1, 2, 10)
        given.append(f"num_indices_to_merge={random.choice(counts)}")
    elif random.random() < 0.2:
        given.append("retrain=True")
    return f"{view.place}.optimize.optimize_indices({', '.join(given)})"


def segments(random: Random, view: View) -> str | None:
    """Segments built apart over some fragments, some of them merged, and committed together.

    The oracle builds those of types that are named by text, and of no others.
    """
    found = _column_and_kind(random, view)
    if found is None or not view.fragment_ids or not found[1].startswith("'"):
        return None
    column, kind = found
    numbers = random.sample(view.fragment_ids, random.randint(1, min(4, len(view.fragment_ids))))
    merged = kind in MERGED and random.random() < 0.5
    return f"segmented({view.place}, {sorted(numbers)}, {merged}, {column!r}, {kind})"


def compact_deferred(random: Random, view: View) -> str | None:
    """Small fragments joined; the indices learn where the rows went and stay as they are.

    The oracle refuses graphs over deleted rows then (D.index.vector-graph-after-deferred), and
    loses rows of FM indices (D.index.fm-after-deferred).
    """
    if any("HNSW" in kind or kind == "FM" for _, _, kind in view.indices):
        return None
    size = f"target_rows_per_fragment={random.choice((5, 10, 20))}"
    return f"{view.place}.optimize.compact_files({size}, defer_index_remap=True)"


def _column_and_kind(random: Random, view: View) -> tuple[str, str] | None:
    """Return a column and, in words, a type of index for it; of 0.1 the oracle can use none.

    Of an old version, not of what the newest has no more (D.txn.index-of-no-field).
    """
    columns = [(field.name, field.type) for field in view.schema]
    columns += [
        (f"{field.name}.{below.name}", below.type)
        for field in view.schema
        if pa.types.is_struct(field.type)
        for below in field.type
    ]
    name, kind = random.choice(columns)
    fits = [one for one, accepts in KINDS.items() if accepts(kind)]
    if pa.types.is_fixed_size_list(kind):
        fits = [f"{one!r}, ivf_centroids=points(2, 8){given}" for one, given in OF_VECTORS.items()]
    if view.found.data_storage_version == "0.1" or not fits or not view.found.count_rows():
        return None
    if not view.is_kept(name):
        return None
    return name, random.choice(fits)
