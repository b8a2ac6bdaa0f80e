"""Arguments of callers."""

import numpy as np
import pytest
from lanceref.core.errors import DataRefused
from lanceref.core.integers import unsigned
from pylanceref.errors import CallerCode


def test_whole_numbers_of_64_bits_are_taken() -> None:
    """Of any integer type."""
    assert [unsigned(0), unsigned(np.int8(3)), unsigned(2**64 - 1)] == [0, 3, 2**64 - 1]


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, OverflowError), (2**64, OverflowError), (1.5, TypeError), ("1", TypeError)],
)
def test_others_are_refused(value: object, error: type[Exception]) -> None:
    """As pylance does."""
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
