"""Signatures."""

from __future__ import annotations

import importlib
import inspect

import pytest
from pylanceref.signatures import parameters


@parameters("first second third * fourth **others", third=3)
def told(first: int, *, fourth: int = 4, **arguments: object) -> tuple[object, ...]:
    """Return what it was given."""
    return first, fourth, arguments


def test_arguments_come_by_position_and_by_name():
    """In the order of the text; what is not given is not passed on."""
    assert (1, 4, {}) == told(1)
    assert (1, 5, {"second": 2, "third": 6}) == told(1, 2, 6, fourth=5)
    assert (1, 4, {"third": 2, "fifth": 3}) == told(first=1, third=2, fifth=3)


def test_the_signature_is_that_of_the_text():
    """Names, order, kinds and defaults; the rest is that of the function."""
    shown = "(first: 'int', second=None, third=3, *, fourth: 'int' = 4, **others: object)"

    assert shown in str(inspect.signature(told))
    assert ("told", "Return what it was given.") == (told.__name__, told.__doc__)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((1, 2, 3, 4), {}, "takes at most 3 positional arguments but 4 were given"),
        ((1, 2), {"second": 2}, "multiple values for keyword argument 'second'"),
        ((), {}, "missing 1 required positional argument: 'first'"),
    ],
)
def test_wrong_arguments_are_refused(args, kwargs, words):
    """As by any function."""
    with pytest.raises(TypeError, match=words):
        told(*args, **kwargs)


ORACLES = """
LanceDataset: scanner to_table to_batches count_rows head take insert delete
    update merge_insert merge add_columns drop_columns alter_columns create_scalar_index
    create_index create_index_uncommitted merge_index_metadata merge_existing_index_segments
    commit_existing_index_segments prewarm_index drop_index index_statistics describe_indices
    commit_batch take_blobs read_blobs checkout_version restore cleanup_old_versions create_branch
    update_config
LanceFragment: scanner to_table to_batches count_rows head take create merge
    update_columns merge_columns delete create_from_file
LanceScanner: to_table to_batches explain_plan analyze_plan
BlobFile: read seek readinto
blob: blob_field blob_array
fragment: write_fragments
optimize.Compaction: plan commit execute
"""
"""Functions with the parameters of the oracle, by the class or module that has them."""

OTHER_CATALOGS = {"namespace_client", "table_id", "namespace_client_managed_versioning"}
"""Parameters for servers that name tables, which this implementation leaves out."""


RECEIVERS = {"self", "table"}
"""First parameters of methods: those of `LanceDataset` are functions of a table."""


def _named() -> list[str]:
    lines = ORACLES.replace("\n    ", " ").strip().splitlines()
    pairs = [line.split(": ") for line in lines]
    return [f"{owner}.{name}" for owner, names in pairs for name in names.split()]


def _shown(module: str, path: str) -> list[tuple[str, str, object]]:
    """Return names, kinds and defaults of the parameters."""
    found: object = importlib.import_module(module)
    for part in path.split("."):
        if not hasattr(found, part):
            importlib.import_module(f"{module}.{part}")
        found = getattr(found, part)
    return [
        (one.name, one.kind.name, repr(one.default))
        for one in inspect.signature(found).parameters.values()
        if one.name not in OTHER_CATALOGS | RECEIVERS
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("path", ["write_dataset", *_named()])
def test_functions_have_the_parameters_of_the_oracle(path):
    """Names, order, kinds and defaults, as `inspect` tells them."""
    assert _shown("lance", path) == _shown("pylanceref", path)
