"""Settings of every test: property tests are not timed, because machines differ."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("untimed")
