"""Two writers and one version: whoever comes in between, and wherever it ends, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa
import pytest
from lanceref_testing.faults import Crash, Fault, Meanwhile, faulty
from pylanceref import dataset, write_dataset

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64())})

STEPS = 9
"""Steps of an append to a folder with a manifest store: the eight of a commit, and the hint."""

RESERVED = 5
"""Which of them decides."""


class Table:
    """A table with a manifest store, opened anew for everything."""

    def __init__(self, folder) -> None:
        self._uri = str(folder / "t")
        self._options = {"manifest_store": f"sqlite://{folder}/m.db"}
        write_dataset(ROWS, self._uri, storage_options=self._options)

    def rows(self) -> int:
        """Return how many there are."""
        return dataset(self._uri, storage_options=self._options).count_rows()

    def writer(self, fault: Fault) -> Callable[[], object]:
        """Return what writes three rows, or ends as the fault has it."""
        with faulty(fault):
            opened = dataset(self._uri, storage_options=self._options)

        def write() -> None:
            with suppress(Crash):
                write_dataset(ROWS, opened, mode="append")

        return write


def reserved(*faults: Fault) -> int:
    """Return how many versions the writers reserved before they ended: the first record of each."""
    done = [
        step for fault in faults for step in fault.steps[: fault.at - 1 if fault.dead else None]
    ]
    return len({step.partition("-")[0] for step in done if step.startswith("record_if_absent")})


@pytest.mark.parametrize("ends", range(1, STEPS + 4))
@pytest.mark.parametrize("before", range(1, STEPS + 1))
def test_another_writer_comes_in_between_and_ends(tmp_path, before, ends):
    """The first writer has its version or the next; the other has one if it was reserved."""
    table, other = Table(tmp_path), Fault(ends)
    first = Meanwhile(before=before, other=table.writer(other))
    table.writer(first)()

    assert 3 + 3 * reserved(first, other) == table.rows() >= 6
    table.writer(Fault())()
    assert 6 + 3 * reserved(first, other) == table.rows()


@pytest.mark.parametrize("ends", range(1, STEPS + 4))
@pytest.mark.parametrize("before", range(1, STEPS + 1))
def test_another_writer_comes_in_between_and_the_first_ends(tmp_path, before, ends):
    """What the first had reserved when it ended is committed by who helps."""
    table, other = Table(tmp_path), Fault()
    first = Meanwhile(ends, before=before, other=table.writer(other))
    table.writer(first)()

    came = before <= ends  # and so it was acknowledged
    assert 3 + 3 * reserved(first, other) == table.rows() >= 3 + 3 * came
    table.writer(Fault())()
    assert 6 + 3 * reserved(first, other) == table.rows()


@pytest.mark.parametrize("before", range(1, STEPS + 1))
def test_a_reader_comes_in_between(tmp_path, before):
    """It sees the version from the moment it is reserved, and does what is left to do."""
    table, seen = Table(tmp_path), []
    table.writer(Meanwhile(before=before, other=lambda: seen.append(table.rows())))()

    assert [6 if before > RESERVED else 3] == seen
    assert 6 == table.rows()
