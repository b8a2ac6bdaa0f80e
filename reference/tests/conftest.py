"""Fixtures that tests of several packages share."""

from collections.abc import Iterator

import pytest
from lanceref_testing.object_server import ObjectServer, running


@pytest.fixture(scope="session")
def server() -> Iterator[ObjectServer]:
    """A server of S3 and DynamoDB."""
    with running() as server:
        yield server
