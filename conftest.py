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
    """Skip tests that ask the oracle where it is not installed."""
    if find_spec("lance") is None:
        for item in items:
            if item.get_closest_marker("oracle"):
                item.add_marker(pytest.mark.skip("the oracle is not installed"))
