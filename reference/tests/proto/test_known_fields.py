"""The modules know every stored field: of what the oracle writes, nothing is left over."""

import pytest

from .collect import examine_below
from .inventory import ROWS
from .known import NOT_WRITTEN, Seen

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("name", ROWS)
def test_what_the_oracle_writes_holds_no_unknown_field(name, tmp_path):
    """Each message decodes, each field and enum value is known, the feature is really there."""
    row, seen = ROWS[name], Seen()
    row.make(tmp_path)
    examine_below(tmp_path, seen)

    assert seen.messages > 0
    assert [] == seen.faults
    assert [] == [field for field in row.shows if not seen.shows(field)]
    assert [] == [field for field in NOT_WRITTEN if seen.shows(field)]
