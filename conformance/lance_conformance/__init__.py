"""The conformance suite of the Lance format: cases, runner, adapters, reports.

`lance-conformance run -- CMD` starts an implementation's adapter, gives it frozen bytes, compares
what it reads with what the bytes hold, and reports the result clause by clause.
"""

from __future__ import annotations

__version__ = "0.1.0"
"""Version of the runner and of the suite of cases: they share one number."""
