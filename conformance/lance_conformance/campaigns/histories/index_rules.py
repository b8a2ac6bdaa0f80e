"""Index rules: each draws an operation on an index: create, drop, optimize, commit segments."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pyarrow as pa
from pylanceref.sql.strict import is_text

from lance_conformance.campaigns.histories.view import View

Accepts = Callable[[pa.DataType], bool]


def is_json(kind: pa.DataType) -> bool:
    """Return whether a type is JSON."""
    return bool(kind == pa.json_())


INDEX_TYPES: dict[str, Accepts] = {
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
    "json_index('btree', lance)": is_json,
}
"""Types of indices as expressions, and the types of columns that each accepts."""

VECTOR_INDICES = {
    "IVF_FLAT": "",
    "IVF_SQ": "",
    "IVF_RQ": ", num_bits=1",
    "IVF_PQ": ", num_sub_vectors=2, pq_codebook=points(2, 256, 4)",
    "IVF_HNSW_FLAT": "",
    "IVF_HNSW_SQ": "",
    "IVF_HNSW_PQ": ", num_sub_vectors=2, pq_codebook=points(2, 256, 4)",
}
"""Types of vector indices, and the other arguments of each."""

MERGEABLE = ("'BTREE'", "'BITMAP'", "'ZONEMAP'", "'INVERTED'")
"""Types of indices whose segments can be merged."""


def create_index(random: Random, view: View) -> str | None:
    """Create an index over all rows, or over none, and replace one of the same name."""
    chosen = _column_and_kind(random, view)
    if chosen is None:
        return None
    column, kind = chosen
    arguments = [repr(column), kind]
    if random.random() < 0.2:
        arguments.append(f"name={random.choice(('one', 'two'))!r}")
    if random.random() < 0.1:
        arguments.append("replace=False")
    if random.random() < 0.1:
        arguments.append("train=False")
    method = "create_index" if kind.startswith("'IVF") else "create_scalar_index"
    return f"{view.source}.{method}({', '.join(arguments)}) and None"


def drop_index(random: Random, view: View) -> str | None:
    """Drop an index."""
    names = [name for name, _, _ in view.indices]
    return f"{view.source}.drop_index({random.choice(names)!r})" if names else None


def optimize_indices(random: Random, view: View) -> str | None:
    """Index rows that are not covered, and merge segments.

    Excluded are indices on fields of structs (D.index.nested-new-segment), those of an old version
    on columns that the newest lacks (D.txn.index-of-no-field), and SQ with bounds per segment. With
    old values, segments are not added (D.index.old-values-beside-new) and zones are not merged
    (D.index.nulls-of-replaced).
    """
    arguments = []
    names = [
        name
        for name, path, kind in view.indices
        if "." not in path and view.is_in_newest(path)
        if not (kind.endswith("_SQ") and view.has_separate_bounds(name))
        if not (kind in ("ZONEMAP", "BLOOMFILTER") and view.may_have_old_values)
    ]
    if random.random() < 0.3 or len(names) < len(view.indices):
        if not names:
            return None
        arguments.append(f"index_names=[{random.choice(names)!r}]")
    if random.random() < 0.6:
        counts = (1, 2, 10) if view.may_have_old_values else (0, 0, 1, 2, 10)
        arguments.append(f"num_indices_to_merge={random.choice(counts)}")
    elif random.random() < 0.2:
        arguments.append("retrain=True")
    return f"{view.source}.optimize.optimize_indices({', '.join(arguments)})"


def segments(random: Random, view: View) -> str | None:
    """Build segments over some fragments, merge some of them, and commit all together.

    The oracle only builds segments of types that are given as text.
    """
    chosen = _column_and_kind(random, view)
    if chosen is None or not view.fragment_ids or not chosen[1].startswith("'"):
        return None
    column, kind = chosen
    numbers = random.sample(view.fragment_ids, random.randint(1, min(4, len(view.fragment_ids))))
    is_merged = kind in MERGEABLE and random.random() < 0.5
    return f"commit_segments({view.source}, {sorted(numbers)}, {is_merged}, {column!r}, {kind})"


def compact_deferred(random: Random, view: View) -> str | None:
    """Compact fragments with deferred remapping of indices.

    Graphs and FM are excluded: the oracle then refuses graphs over deleted rows
    (D.index.vector-graph-after-deferred), and loses rows of FM (D.index.fm-after-deferred).
    """
    if any("HNSW" in kind or kind == "FM" for _, _, kind in view.indices):
        return None
    size = f"target_rows_per_fragment={random.choice((5, 10, 20))}"
    return f"{view.source}.optimize.compact_files({size}, defer_index_remap=True)"


def _column_and_kind(random: Random, view: View) -> tuple[str, str] | None:
    """Return a column and an expression for an index type, or None where the oracle has none.

    A column of an old version must be in the newest (D.txn.index-of-no-field).
    """
    columns = [(field.name, field.type) for field in view.schema]
    columns += [
        (f"{field.name}.{child.name}", child.type)
        for field in view.schema
        if pa.types.is_struct(field.type)
        for child in field.type
    ]
    name, kind = random.choice(columns)
    types = [one for one, accepts in INDEX_TYPES.items() if accepts(kind)]
    if pa.types.is_fixed_size_list(kind):
        centroids = "ivf_centroids=points(2, 8)"
        types = [f"{one!r}, {centroids}{more}" for one, more in VECTOR_INDICES.items()]
    if view.is_legacy or not types or not view.dataset.count_rows():
        return None
    return (name, random.choice(types)) if view.is_in_newest(name) else None
