"""The modules know every stored field: of what the oracle writes, nothing is left over."""

import pytest

from .collect import messages_below
from .inventory import INVENTORY, NOT_WRITTEN
from .known import Seen, examine, field_names


@pytest.mark.oracle
@pytest.mark.parametrize("name", INVENTORY)
def test_what_the_oracle_writes_holds_no_unknown_field(name, tmp_path, record_property):
    """Each message decodes, each field and enum value is known, the feature is really there."""
    row, seen = INVENTORY[name], Seen()
    row.make(tmp_path)
    for at, message in messages_below(tmp_path):
        examine(message, at, seen)
    record_property("messages", seen.messages)

    assert seen.messages > 0
    assert [] == seen.faults
    assert [] == [field for field in row.shows if not seen.shows(field)]
    assert [] == [field for field in NOT_WRITTEN if seen.shows(field)]


def test_fields_never_written_are_fields():
    """Each name in the list of what the oracle never fills belongs to exactly one field."""
    found = {
        name: [field for field in field_names() if field.endswith(f".{name}")]
        for name in NOT_WRITTEN
    }

    assert {} == {name: fields for name, fields in found.items() if len(fields) != 1}
