"""The modules know every stored field: of what the oracle writes, nothing is left over."""

import pytest

from .collect import messages_below
from .inventory import INVENTORY
from .known import Seen, examine


@pytest.mark.oracle
@pytest.mark.parametrize("name", INVENTORY)
def test_what_the_oracle_writes_holds_no_unknown_field(name, tmp_path, record_property):
    """Each message decodes, each field and enum value is known, and the feature is really there."""
    row, seen = INVENTORY[name], Seen()
    row.make(tmp_path)
    for at, message in messages_below(tmp_path):
        examine(message, at, seen)
    record_property("messages", seen.messages)

    assert seen.messages > 0
    assert [] == seen.faults
    assert [] == [field for field in row.shows if not seen.shows(field)]
