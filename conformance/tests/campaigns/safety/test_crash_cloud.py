"""Operations in the cloud that do not get to their end."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lance_conformance.campaigns.safety.cloud import cloud
from lance_conformance.campaigns.safety.crash_cloud import CloudGround
from lance_conformance.campaigns.safety.crash_points import points


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Tables have one version: every look at one asks for each."""

    def build(engine, uri, **_):
        engine.write_dataset(pa.table({"id": [1, 2], "n": [0, 0]}), uri)

    monkeypatch.setattr("lance_conformance.campaigns.safety.crash_cloud.build", build)


@pytest.fixture(scope="module")
def server():
    """A server that the environment leads to."""
    with pytest.MonkeyPatch.context() as patch, cloud() as running:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        yield running


@pytest.mark.parametrize(
    ("scheme", "fate", "steps"), [("s3", "refused", 2), ("s3+ddb", "crashed", 6)]
)
def test_a_sample_of_operations_is_all_or_nothing(server, scheme, fate, steps):
    """Before each change of a store, and the table is put back as it was."""
    ground = CloudGround(server, scheme, stable=True)
    found = list(points(ground, "configure", fate, None))
    assert [] == [point for point in found if point.faults]
    assert len(found) == steps, [point.step for point in found]


def test_what_is_left_and_what_is_gone_is_seen(server):
    """Until the table is put back."""
    ground = CloudGround(server, "s3", stable=False)
    state = server.state(f"s3:{ground.uri.partition(':')[2]}")
    key = ground.uri.partition("bucket/")[2]
    server._objects.put_object(Bucket="bucket", Key=f"{key}/data/more", Body=b"x")
    (gone, *_) = [path for path in state[0] if path.startswith("data/")]
    server._objects.delete_object(Bucket="bucket", Key=f"{key}/{gone}")
    assert (ground.residue(), ground.missing()) == ({"data/more"}, {gone})
    ground.put_back("append")
    assert (ground.residue(), ground.missing()) == (set(), set())
