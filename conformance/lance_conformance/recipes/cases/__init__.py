"""The cases by chapter and topic, and all of them by id."""

from __future__ import annotations

from lance_conformance.recipes.cases.blobs import blobs
from lance_conformance.recipes.cases.codecs import numbers, strings
from lance_conformance.recipes.cases.codecs import rows as codecs_rows
from lance_conformance.recipes.cases.encodings_2_0 import binary, flat, nested
from lance_conformance.recipes.cases.file import container as file_container
from lance_conformance.recipes.cases.file import container_faults, types
from lance_conformance.recipes.cases.file_0_1 import columns as file_0_1_columns
from lance_conformance.recipes.cases.file_0_1 import container as file_0_1_container
from lance_conformance.recipes.cases.index import (
    bitmap,
    btree,
    fm,
    full_text,
    full_text_faults,
    ivf_flat,
    ivf_hnsw,
    ivf_pq,
    ivf_rq,
    ivf_sq,
    json_minhash,
    mem_wal,
    ngram,
    rtree,
    vector_types,
    zones,
)
from lance_conformance.recipes.cases.json import documents
from lance_conformance.recipes.cases.operations import writing
from lance_conformance.recipes.cases.pages import (
    arms,
    constant,
    dictionary,
    fullzip,
    levels,
    miniblock,
    planar,
    sparse,
)
from lance_conformance.recipes.cases.table import (
    deletions,
    fragments,
    manifest,
    manifest_faults,
    overlays,
    releases,
    row_ids,
    versions,
)
from lance_conformance.recipes.cases.transactions import columns as transactions_columns
from lance_conformance.recipes.cases.transactions import conflicts, flags, successors
from lance_conformance.recipes.cases.transactions import rows as transactions_rows
from lance_conformance.recipes.constructors import adopted
from lance_conformance.recipes.model import Recipe

MODULES = (
    file_container,
    container_faults,
    types,
    file_0_1_columns,
    file_0_1_container,
    binary,
    flat,
    nested,
    arms,
    constant,
    dictionary,
    fullzip,
    levels,
    miniblock,
    planar,
    sparse,
    numbers,
    codecs_rows,
    strings,
    documents,
    blobs,
    deletions,
    fragments,
    manifest,
    manifest_faults,
    overlays,
    releases,
    row_ids,
    versions,
    bitmap,
    btree,
    fm,
    full_text,
    full_text_faults,
    ivf_flat,
    ivf_hnsw,
    ivf_pq,
    ivf_rq,
    ivf_sq,
    json_minhash,
    mem_wal,
    ngram,
    rtree,
    vector_types,
    zones,
    transactions_columns,
    conflicts,
    flags,
    transactions_rows,
    successors,
    writing,
)

ALL: tuple[Recipe, ...] = tuple(one for module in MODULES for one in adopted(module.CASES))
"""Every recipe."""

RECIPES: dict[str, Recipe] = {recipe.id: recipe for recipe in ALL}
"""Recipe by case id."""
