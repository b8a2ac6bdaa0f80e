"""The error family, and what callers hand over."""

import pickle

import pytest
from lanceref.core.errors import (
    SHOWN,
    BadMagic,
    CommitConflict,
    DataRefused,
    FormatError,
    LanceError,
    LimitExceeded,
    NotFound,
    Place,
    QueryRefused,
    Unsupported,
    short,
)
from lanceref.core.integers import unsigned
from pylanceref.errors import CallerCode, ColumnRefused, KeyMissing


def test_a_format_error_names_all_five_facts():
    """Clause, file, offset, found and wanted are attributes and lie in the text."""
    error = BadMagic("L.file.footer.magic", Place("a.lance", 36, 4), found="00", wanted="4c414e43")

    assert ("L.file.footer.magic", "a.lance", 36) == (error.clause, error.file, error.offset)
    assert (36, 40) == error.span
    for fact in ("a.lance", "36", "00", "4c414e43", "L.file.footer.magic"):
        assert fact in str(error)


@pytest.mark.parametrize(
    ("error", "python_class"),
    [
        (FormatError("L.x.y", Place("f", 0), found=1, wanted=2), ValueError),
        (Unsupported("L.x.y", Place("f", 0), found="lz77", wanted="zstd"), NotImplementedError),
        (LimitExceeded("L.x.y", Place("f", 0), found=9, wanted=1), LanceError),
        (CommitConflict("Append", "Overwrite", 2, retryable=False), OSError),
        (NotFound("no dataset"), ValueError),
        (NotFound("no dataset"), LookupError),
        (KeyMissing("no column"), KeyError),
        (ColumnRefused("no number"), TypeError),
    ],
)
def test_errors_are_also_what_python_calls_them(error, python_class):
    """A caller may catch the family or the Python class."""
    assert isinstance(error, LanceError)
    assert isinstance(error, python_class)


def test_a_refused_query_says_whose_fault_it_is():
    """Once, also after it was pickled."""
    error = QueryRefused("no such thing")
    assert "Invalid user input: no such thing" == str(error)
    assert str(error) == str(pickle.loads(pickle.dumps(error)))


def test_a_long_text_is_cut():
    """Beginning and end of a long text are shown, and how much is left out."""
    shown = short("a" * 10_000 + "b" * 10_000)

    assert f"a [{20_000 - SHOWN} characters] b" in shown
    assert len(shown) < SHOWN + 40


def test_every_message_has_utf_8():
    """A surrogate is shown by its number."""
    assert "a\\ud800" == short("a\ud800")


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, OverflowError), (2**64, OverflowError), (1.5, TypeError), ("1", TypeError)],
)
def test_others_are_refused(value, error):
    """Numbers outside of 64 bits and values that are no integers raise what pylance raises."""
    with pytest.raises(error):
        unsigned(value)  # type: ignore[arg-type]


def test_code_of_the_caller_fails_with_its_own_words():
    """Errors of ours, and what ends a process, are let through."""
    with pytest.raises(OSError, match="KeyError: 'gone'") as caught, CallerCode():
        raise KeyError("gone")
    assert isinstance(caught.value.__cause__, KeyError)
    for own in (DataRefused, KeyboardInterrupt):
        with pytest.raises(own) as let, CallerCode():
            raise own("mine")
        assert own is type(let.value)
    with CallerCode():
        pass
