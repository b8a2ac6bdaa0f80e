"""Conflicts: which transaction may follow which other one, as tables of pairs."""

from itertools import product

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.proto import transaction_pb2 as pb
from lanceref.transactions.conflict import Verdict, settings_conflict, verdict

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
    """Each pair of operations is judged as in the matrix of the chapter."""
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
    """Replaced metadata of schema or fields conflicts with a merge, as with the oracle."""
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
    """New rows fit columns that stay nullable, but not a column that is gone."""
    known = {**OPERATIONS, **NULLABLE}
    first, second = (versions.transaction(**known[name]) for name in (theirs, ours))

    assert LETTERS[letter] is verdict(second, first)


@pytest.mark.parametrize(
    ("ours", "stands"), [("Ap", True), ("Ix", True), ("D0", False), ("Ow", False), ("Rs", False)]
)
def test_the_state_of_the_log_stands_beside_little(ours, stands):
    """Beside an update of the log state only appends and new indices are committed."""
    log = versions.transaction(update_mem_wal_state={})

    assert stands == (Verdict.STANDS is verdict(versions.transaction(**OPERATIONS[ours]), log))


BOTH = [
    ({"config_updates": [("k", "1")]}, {"config_updates": [("k", "2")]}, True),
    ({"config_updates": [("k", "1")]}, {"config_updates": [("k", None)]}, True),
    ({"config_updates": [("k", None)]}, {"config_updates": [("k", None)]}, False),
    ({"config_updates": [("k", "1")]}, {"config_updates": [("m", "1")]}, False),
    ({"config_updates": [("k", "1")]}, {"upsert_values": {"k": "2"}}, True),
    ({"delete_keys": ["k"]}, {"config_updates": [("k", "1")]}, True),
    ({"table_metadata_updates": [("k", "1")]}, {"table_metadata_updates": [("k", None)]}, True),
    ({"table_metadata_updates": [("k", None)]}, {"table_metadata_updates": [("k", None)]}, True),
    ({"table_metadata_updates": [("k", "1")]}, {"table_metadata_updates": [("m", "1")]}, False),
    ({"table_metadata_updates": "all"}, {"table_metadata_updates": [("m", "1")]}, True),
    ({"table_metadata_updates": "all"}, {"config_updates": [("m", "1")]}, False),
    ({"schema_metadata_updates": [("k", "1")]}, {"schema_metadata_updates": [("m", "1")]}, True),
    ({"schema_metadata_updates": []}, {"schema_metadata": {"m": "1"}}, True),
    ({"schema_metadata": {"m": "1"}}, {"config_updates": [("m", "1")]}, False),
    ({"field_metadata": {1: "k"}}, {"field_metadata_updates": {1: "m"}}, True),
    ({"field_metadata_updates": {1: "k"}}, {"field_metadata_updates": {2: "k"}}, False),
    ({}, {}, False),
]
"""Two updates, and whether only one of them may stand."""


@pytest.mark.parametrize(("ours", "theirs", "meet"), BOTH)
def test_settings_meet(ours, theirs, meet):
    """Settings conflict by key of config and table, and as a whole for schema and field."""
    first, second = _update(ours), _update(theirs)
    assert meet is settings_conflict(first, second)
    assert meet is settings_conflict(second, first)


def _update(given):
    """Return an update of settings: maps by their entries, "all" replaces one by nothing."""
    made = pb.Transaction.UpdateConfig()
    for name, value in given.items():
        if name == "delete_keys":
            made.delete_keys.extend(value)
        elif name in ("upsert_values", "schema_metadata"):
            getattr(made, name).update(value)
        elif name == "field_metadata":
            for number, key in value.items():
                made.field_metadata[number].metadata[key] = "1"
        elif name == "field_metadata_updates":
            for number, key in value.items():
                made.field_metadata_updates[number].update_entries.add(key=key, value="1")
        else:
            getattr(made, name).replace = value == "all"
            for key, text in () if value == "all" else value:
                getattr(made, name).update_entries.add(key=key, value=text)
    return made


EDITS = {
    "sets": ({"r": "1"}, False),
    "sets another": ({"q": "1"}, False),
    "deletes": ({"r": None}, False),
    "nothing": ({}, False),
    "replaces": ({"q": "1"}, True),
}


@pytest.mark.oracle
@pytest.mark.parametrize(
    "edit", ["update_config", "update_metadata", "update_schema_metadata", "update_field_metadata"]
)
def test_the_oracle_judges_alike(tmp_path, edit):
    """Of every two edits of one kind of settings, both or none are refused."""
    import lance

    refused = []
    for number, (theirs, ours) in enumerate(product(EDITS, EDITS)):
        verdicts = {
            library.__name__: _refuses(
                library, tmp_path / f"{library.__name__}{number}", edit, pair
            )
            for library, pair in (
                (one, (EDITS[theirs], EDITS[ours])) for one in (lance, pylanceref)
            )
        }
        assert verdicts["lance"] == verdicts["pylanceref"], (theirs, ours)
        refused.append(verdicts["lance"])
    assert any(refused)


def _refuses(library, path, edit, pair):
    """Whether the second of two edits, which has not read the first, is refused."""
    read = library.write_dataset(pa.table({"k": [1]}), str(path))
    for dataset, (values, replace) in zip((library.dataset(str(path)), read), pair, strict=True):
        given = {"k": values} if edit == "update_field_metadata" else values
        try:
            getattr(dataset, edit)(given, replace=replace)
        except (OSError, lanceref.core.errors.CommitConflict) as error:
            assert "incompatible" in str(error).lower(), str(error)
            return True
    return False
