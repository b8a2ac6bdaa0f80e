"""Settings of every test: property tests are not timed, because machines differ; kernels are used
from the first byte on where numba is installed; the oracle is asked where it is installed.
"""

from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings
from lanceref.fast.codecs import KERNEL_USE

settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("untimed")

KERNEL_USE.enough = KERNEL_USE.smallest = 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests of Spark in one process; skip those that ask an oracle that is not installed."""
    alone = find_spec("lance") is None
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        if alone and item.get_closest_marker("oracle"):
            item.add_marker(pytest.mark.skip("the oracle is not installed"))
