"""The error family."""

import pickle

import pytest
from lanceref.core.errors import (
    BadMagic,
    CommitConflict,
    FormatError,
    LanceError,
    LimitExceeded,
    NotFound,
    Place,
    QueryRefused,
    Unsupported,
)
from pylanceref.errors import ColumnMissing, ColumnRefused


def test_a_format_error_names_all_five_facts():
    """Clause, file, offset, found and wanted are attributes and lie in the text."""
    error = BadMagic("L.file.footer.magic", Place("a.lance", 36, 4), found="00", wanted="4c414e43")

    assert ("L.file.footer.magic", "a.lance", 36) == (error.clause, error.file, error.offset)
    assert (36, 40) == error.span
    for fact in ("a.lance", "36", "00", "4c414e43", "L.file.footer.magic"):
        assert fact in str(error)


def test_the_stage_is_that_of_the_place():
    """The stage a reader stood in travels with the place."""
    error = FormatError("L.x.y", Place("f", 0, 0, "decode"), found=1, wanted=2)

    assert "decode" == error.stage


@pytest.mark.parametrize(
    ("error", "python_class"),
    [
        (FormatError("L.x.y", Place("f", 0), found=1, wanted=2), ValueError),
        (Unsupported("L.x.y", Place("f", 0), found="lz77", wanted="zstd"), NotImplementedError),
        (LimitExceeded("L.x.y", Place("f", 0), found=9, wanted=1), LanceError),
        (CommitConflict("Append", "Overwrite", 2, retryable=False), OSError),
        (NotFound("no dataset"), ValueError),
        (NotFound("no dataset"), LookupError),
        (ColumnMissing("no column"), KeyError),
        (ColumnRefused("no number"), TypeError),
    ],
)
def test_errors_are_also_what_python_calls_them(error, python_class):
    """A caller may catch the family or the Python class."""
    assert isinstance(error, LanceError)
    assert isinstance(error, python_class)


def test_a_conflict_says_whether_to_try_again():
    """The retryable flag is an attribute."""
    assert CommitConflict("Delete", "Rewrite", 7, retryable=True).retryable is True


def test_a_conflict_names_both_operations():
    """As pylance does; what is no operation stays as it is."""
    again = CommitConflict("create_index", "data_replacement", 3, retryable=True)
    assert (
        "Retryable commit conflict for version 3: This CreateIndex transaction was preempted by "
        "concurrent transaction DataReplacement at version 3. Please retry."
    ) == str(again)
    never = CommitConflict("delete", "the same rows", 2, retryable=False)
    assert (
        "Incompatible transaction: This Delete transaction is incompatible with concurrent "
        "transaction the same rows at version 2."
    ) == str(never)


def test_a_refused_query_says_whose_fault_it_is():
    """Once, also after it was pickled."""
    error = QueryRefused("no such thing")
    assert "Invalid user input: no such thing" == str(error)
    assert str(error) == str(pickle.loads(pickle.dumps(error)))
