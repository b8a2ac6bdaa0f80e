"""Conflicts between two transactions."""

import pytest
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.transactions.conflict import Verdict, can_merge_deletions, operation_of, verdict

from tests.table import manifests
from tests.transactions import versions


def _fragments(*numbers):
    return [manifests.fragment(number, versions.files(0, 1, 2)) for number in numbers]


def _config(key, part="config_updates"):
    return {"update_config": {part: {"update_entries": [{"key": key, "value": "1"}]}}}


def _replaced(number, field):
    one = {"fragment_id": number, "new_file": versions.files(field)}
    return {"data_replacement": {"replacements": [one]}}


OPERATIONS = {
    "Ap": {"append": {}},
    "Ow": {"overwrite": {}},
    "D0": {"delete": {"updated_fragments": _fragments(0)}},
    "D1": {"delete": {"updated_fragments": _fragments(1)}},
    "DF0": {"delete": {"deleted_fragment_ids": [0]}},
    "U0": {"update": {"updated_fragments": _fragments(0)}},
    "C0c": {
        "update": {"updated_fragments": _fragments(0), "fields_modified": [2], "update_mode": 1}
    },
    "W0": {"rewrite": {"groups": [{"old_fragments": _fragments(0)}]}},
    "W1": {"rewrite": {"groups": [{"old_fragments": _fragments(1)}]}},
    "Me": {"merge": {}},
    "Pr": {"project": {}},
    "Rs": {"restore": {"version": 1}},
    "R0c": _replaced(0, 2),
    "R1c": _replaced(1, 2),
    "R0b": _replaced(0, 1),
    "CfK": _config("K"),
    "CfL": _config("L"),
    "TmK": _config("K", "table_metadata_updates"),
    "SmK": _config("K", "schema_metadata_updates"),
    "Ix": {"create_index": {"new_indices": [versions.index("x", 2, [0, 1])]}},
    "Iy": {"create_index": {"new_indices": [versions.index("y", 0, [0, 1])]}},
    "BX": {"update_bases": {"new_bases": [{"name": "X", "path": "/x"}]}},
    "BY": {"update_bases": {"new_bases": [{"name": "Y", "path": "/y"}]}},
    "Rf": {"reserve_fragments": {"num_fragments": 1}},
}

MATRIX = """
     Ap Ow D0 D1 DF0 U0 C0c W0 W1 Me Pr Rs R0c R1c R0b CfK CfL TmK SmK Ix Iy BX BY Rf
Ap   .  .  .  .  .   .  .   .  .  R  R  .  .   .   .   .   .   .   .   .  .  .  .  .
Ow   X  R  X  X  X   X  X   X  X  X  X  .  X   X   X   .   .   .   X   X  X  .  .  X
D0   .  .  R  .  R   R  R   R  .  R  .  .  .   .   .   .   .   .   .   .  .  .  .  .
D1   .  .  .  R  .   .  .   .  R  R  .  .  .   .   .   .   .   .   .   .  .  .  .  .
DF0  .  .  R  .  R   R  R   R  .  R  .  .  X   .   X   .   .   .   .   .  .  .  .  .
U0   .  .  R  .  R   R  R   R  .  R  R  .  R   .   R   .   .   .   .   .  .  .  .  .
C0c  .  .  R  .  R   R  R   R  .  R  R  .  R   .   .   .   .   .   .   .  .  .  .  .
W0   .  .  R  .  R   R  R   R  .  R  .  .  R   .   R   .   .   .   .   R  R  .  .  .
W1   .  .  .  R  .   .  .   .  R  R  .  .  .   R   .   .   .   .   .   R  R  .  .  .
Me   R  .  R  R  R   R  R   R  R  R  R  .  R   R   R   .   .   .   R   .  .  .  .  .
Pr   R  .  .  .  .   R  R   .  .  X  R  .  R   R   R   .   .   .   .   .  .  .  .  .
Rs   X  .  X  X  X   X  X   X  X  X  X  .  X   X   X   .   .   .   X   X  X  .  .  X
R0c  .  .  R  .  R   R  R   R  .  R  R  .  R   .   .   .   .   .   .   R  .  .  .  .
R1c  .  .  .  R  .   .  .   .  R  R  R  .  .   R   .   .   .   .   .   R  .  .  .  .
R0b  .  .  R  .  R   R  R   R  .  R  R  .  .   .   R   .   .   .   .   .  .  .  .  .
CfK  .  .  .  .  .   .  .   .  .  .  .  .  .   .   .   X   .   .   .   .  .  .  .  .
CfL  .  .  .  .  .   .  .   .  .  .  .  .  .   .   .   .   X   .   .   .  .  .  .  .
TmK  .  .  .  .  .   .  .   .  .  .  .  .  .   .   .   .   .   X   .   .  .  .  .  .
SmK  .  .  .  .  .   .  .   .  .  R  .  X  .   .   .   .   .   .   X   .  .  .  .  .
Ix   .  .  .  .  .   .  .   R  R  .  .  .  R   R   .   .   .   .   .   R  .  .  .  .
Iy   .  .  .  .  .   .  .   R  R  .  .  .  .   .   .   .   .   .   .   .  R  .  .  .
BX   .  .  .  .  .   .  .   .  .  .  .  .  .   .   .   .   .   .   .   .  .  X  .  .
BY   .  .  .  .  .   .  .   .  .  .  .  .  .   .   .   .   .   .   .   .  .  .  X  .
Rf   .  .  .  .  .   .  .   .  .  .  .  .  .   .   .   .   .   .   .   .  .  .  .  .
"""
"""What becomes of the operation of a column after that of a row.

Measured with the oracle but for `Rf`, which its Python surface cannot commit.
"""

LETTERS = {".": Verdict.STANDS, "R": Verdict.RETRY, "X": Verdict.NEVER}


def _cells():
    lines = [line.split() for line in MATRIX.strip().splitlines()]
    for theirs, *letters in lines[1:]:
        yield from ((theirs, ours, letter) for ours, letter in zip(lines[0], letters, strict=True))


@pytest.mark.parametrize(("theirs", "ours", "letter"), list(_cells()))
def test_every_pair_is_judged(theirs, ours, letter):
    """The matrix of the chapter."""
    first = versions.transaction(**OPERATIONS[theirs])
    second = versions.transaction(**OPERATIONS[ours])

    assert LETTERS[letter] is verdict(second, first)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("edit", "letter"),
    [
        ({"schema_metadata_updates": {"replace": True}}, "R"),
        ({"schema_metadata_updates": {}}, "."),
        ({"field_metadata_updates": {1: {"replace": True}}}, "R"),
        ({"config_updates": {"replace": True}}, "."),
    ],
)
def test_metadata_of_the_schema_that_is_taken_away_meets_a_merge(edit, letter, first):
    """No key is set, and there is a conflict all the same, as the oracle has it."""
    pair = [versions.transaction(update_config=edit), versions.transaction(**OPERATIONS["Me"])]
    theirs, ours = pair if first else pair[::-1]

    assert LETTERS[letter] is verdict(ours, theirs)


NULLABLE = {
    "MeN": {"merge": {"preserves_nullability": True}},
    "PrN": {"project": {"preserves_nullability": True, "schema": versions.FIELDS[:2]}},
    "C0a": {
        "update": {"updated_fragments": _fragments(0), "fields_modified": [1], "update_mode": 1}
    },
}
"""Operations after which every column may be null that might be before, and one on what stays."""


@pytest.mark.parametrize(
    ("theirs", "ours", "letter"),
    [
        *((name, "PrN", ".") for name in ("Ap", "U0", "C0c", "R0c", "R0b", "D0", "W0")),
        *(("MeN", name, letter) for name, letter in (("Ap", "."), ("U0", "R"), ("R0c", "R"))),
        *(("PrN", name, ".") for name in ("Ap", "U0", "R0b", "D0", "Ix")),
        ("PrN", "C0c", "R"),
        ("PrN", "C0a", "."),
        ("PrN", "R0c", "X"),
        *((name, "MeN", "R") for name in ("Ap", "U0", "D0", "R0c")),
        ("PrN", "PrN", "R"),
        ("PrN", "MeN", "X"),
    ],
)
def test_columns_that_stay_nullable_stop_less(theirs, ours, letter):
    """New rows and new values fit, but not into a column that is gone."""
    known = {**OPERATIONS, **NULLABLE}
    first, second = (versions.transaction(**known[name]) for name in (theirs, ours))

    assert LETTERS[letter] is verdict(second, first)


def _indices(new=(), removed=()):
    told = {"new_indices": new, "removed_indices": removed}
    entries = {part: [versions.index(name, 0, [0]) for name in told[part]] for part in told}
    return versions.transaction(create_index=entries)


@pytest.mark.parametrize(
    ("theirs", "ours", "letter"),
    [
        ({"removed": "x"}, {"removed": "x"}, "."),
        ({"removed": "x"}, {"new": "x", "removed": "x"}, "R"),
        ({"new": "x"}, {"removed": "x"}, "R"),
        ({"new": "x"}, {"removed": "y"}, "."),
        ({"removed": "y"}, {"new": "x"}, "."),
    ],
)
def test_an_index_is_made_or_dropped_by_one(theirs, ours, letter):
    """L.txn.conflict.index: two may drop it."""
    assert LETTERS[letter] is verdict(_indices(**ours), _indices(**theirs))


@pytest.mark.parametrize("theirs", [None, Transaction(read_version=1)])
@pytest.mark.parametrize("ours", ["append", "overwrite", "delete", "update_config"])
def test_what_nobody_can_tell_is_a_conflict(ours, theirs):
    """L.txn.conflict.unknown: no transaction, or an operation we do not know."""
    assert "" == operation_of(theirs)
    assert Verdict.NEVER is verdict(versions.transaction(**{ours: {}}), theirs)


@pytest.mark.parametrize(
    ("theirs", "ours", "can"),
    [
        ("D0", "D0", True),
        ("D0", "U0", True),
        ("U0", "D0", True),
        ("DF0", "D0", False),
        ("D0", "DF0", False),
        ("C0c", "D0", False),
        ("W0", "D0", False),
    ],
)
def test_rows_can_be_taken_out_by_two(theirs, ours, can):
    """Not out of a fragment that is gone, written anew or has other columns, nor all of it."""
    first = versions.transaction(**OPERATIONS[theirs])
    second = versions.transaction(**OPERATIONS[ours])

    assert can == can_merge_deletions(second, first)


def test_an_overwrite_of_config_meets_an_update_of_the_same_key():
    """Another key does not matter."""
    ours = versions.transaction(overwrite={"config_upsert_values": {"K": "2"}})

    assert Verdict.RETRY is verdict(ours, versions.transaction(**OPERATIONS["CfK"]))
    assert Verdict.STANDS is verdict(ours, versions.transaction(**OPERATIONS["CfL"]))


@pytest.mark.parametrize(
    ("ours", "stands"), [("Ap", True), ("Ix", True), ("D0", False), ("Ow", False), ("Rs", False)]
)
def test_the_state_of_the_log_stands_beside_little(ours, stands):
    """Rows of the log are in the table: nobody may change what they are merged into."""
    log = versions.transaction(update_mem_wal_state={})

    assert stands == (Verdict.STANDS is verdict(versions.transaction(**OPERATIONS[ours]), log))
