"""Settings of every test: property tests are not timed, because machines differ; and kernels are
used from the first byte on where numba is installed.
"""

from hypothesis import HealthCheck, settings
from lanceref.fast.codecs import KERNEL_USE

settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("untimed")

KERNEL_USE.enough = KERNEL_USE.smallest = 0
