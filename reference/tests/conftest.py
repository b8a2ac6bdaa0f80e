"""Fixtures that tests of several packages share."""

import importlib
from collections.abc import Iterator

import pytest
from lanceref_testing.object_server import ObjectServer, running


@pytest.fixture(scope="session")
def server() -> Iterator[ObjectServer]:
    """A server of S3 and DynamoDB."""
    with running() as server:
        yield server


@pytest.fixture(params=[pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
def maker(request):
    """The module of the oracle, then ours: both have to do the same."""
    return importlib.import_module(request.param)
