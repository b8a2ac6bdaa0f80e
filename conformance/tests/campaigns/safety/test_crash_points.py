"""Operations that do not get to their end."""

from pathlib import Path

import pytest
from lance_conformance.campaigns.safety.crash_points import Ground, points
from lance_conformance.campaigns.safety.operations import OPERATIONS
from lance_conformance.campaigns.safety.sight import OracleEye


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    """A table of the reference."""
    return Ground(tmp_path_factory.mktemp("g"), by_oracle=False, stable=True, v2_names=True)


@pytest.mark.parametrize("name", ["append", "tag"])
@pytest.mark.parametrize("fate", ["killed", "refused"])
def test_a_sample_of_operations_is_all_or_nothing(ground, name, fate):
    """Before each call that changes a file."""
    found = list(points(ground, name, fate, None))

    assert [] == [point for point in found if point.faults]
    assert any("link" in point.step for point in found)


def test_an_operation_that_is_no_commit_is_reported(ground, monkeypatch):
    """It takes a tag away, leaves something after, and puts the tag back on another version."""
    ground.put_back("bad")
    held = Path(ground.path, "_refs/tags/old.json").read_text("utf-8")

    def act(path):
        Path(path, "_refs/tags/old.json").unlink(missing_ok=True)
        Path(path, "data/more").write_bytes(b"x")
        Path(path, "_refs/tags/old.json").write_text(held.replace("2", "3", 1), "utf-8")

    monkeypatch.setitem(OPERATIONS, "bad", act)
    found = [point.faults for point in points(ground, "bad", "refused", None)]

    assert [[], ["neither", "it ended"], ["neither", "it ended", "an error"]] == [
        [" ".join(fault.split()[: 1 if fault.startswith("n") else 2]) for fault in faults]
        for faults in found
    ]


@pytest.mark.oracle
def test_the_oracle_sees_the_same(tmp_path):
    """On a table that it made itself."""
    made = Ground(tmp_path, by_oracle=True, stable=False, v2_names=False)
    with OracleEye() as eye:
        for name in ("move tag", "delete tag"):
            assert [] == [one for one in points(made, name, "killed", eye) if one.faults]
