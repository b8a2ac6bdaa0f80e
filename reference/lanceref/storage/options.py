"""Storage options: how to reach an object store, as pylance's callers write it.

Keys are those of pylance: of the store itself (`aws_access_key_id`, `aws_endpoint`,
`account_name`, ...; the prefixes `aws_`, `azure_` and `google_` may be left out), of its client
(`allow_http`, `timeout`, ...), and for retries `client_max_retries` and `client_retry_timeout`
(seconds). A key `base_<id>.<key>` is for that base of a table alone. `durable` ("true", or "false"
for tables that may be lost) says whether a local store flushes what it writes to the disk before a
commit names it. Keys that mean nothing to a store are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

BASE_KEY = re.compile(r"base_([0-9]+)\.(.+)", re.DOTALL)
"""A key that is for one base."""


DURABLE = "durable"
"""Key that says whether files outlive a power cut."""

CommitLock = Callable[[int], AbstractContextManager[None]]
"""Makes the holder the only one to commit a version."""


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Options of a table: `own` of its root, and more for bases by id and by path.

    `commit_lock` is held around every commit to the table. Without `allow_external` nothing outside
    the root of the table is opened for it. Options may be keys: they are not shown.
    """

    own: Mapping[str, str] = field(default_factory=dict, repr=False)
    by_id: Mapping[int, Mapping[str, str]] = field(default_factory=dict, repr=False)
    by_path: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    commit_lock: CommitLock | None = None
    allow_external: bool = True

    @property
    def durable(self) -> bool:
        """Whether a local store flushes what it writes to the disk."""
        return self.own.get(DURABLE, "true") != "false"

    def of_base(self, base_id: int, path: str) -> StoreOptions:
        """Return the options of a base: those for its path alone, or the own ones and its own."""
        if path in self.by_path:
            return store_options(self.by_path[path], allow_external=self.allow_external)
        own = {**self.own, **self.by_id.get(base_id, {})}
        return StoreOptions(own, allow_external=self.allow_external)


NO_OPTIONS = StoreOptions()
"""What a local store needs."""


def store_options(
    options: Mapping[str, str] | None,
    bases: Mapping[str, Mapping[str, str]] | None = None,
    commit_lock: CommitLock | None = None,
    *,
    allow_external: bool = True,
) -> StoreOptions:
    """Return options as a caller gave them.

    Raises TypeError for what is no text, and for a lock that cannot be called.
    """
    if commit_lock is not None and not callable(commit_lock):
        raise TypeError(f"commit_lock must be a function, got {type(commit_lock)}")
    _check(options)
    for of_base in (bases or {}).values():
        _check(of_base)
    own: dict[str, str] = {}
    by_id: dict[int, dict[str, str]] = {}
    for key, value in (options or {}).items():
        scoped = BASE_KEY.fullmatch(key)
        if scoped is None:
            own[key] = value
        else:
            by_id.setdefault(int(scoped[1]), {})[scoped[2]] = value
    return StoreOptions(own, by_id, dict(bases or {}), commit_lock, allow_external)


def _check(options: Mapping[str, str] | None) -> None:
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"{type(options).__name__!r} object is not an instance of 'dict'")
    for key, value in (options or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(
                f"storage option {key!r}: {type(value).__name__} is not an instance of 'str'"
            )
    if (options or {}).get(DURABLE, "true") not in ("true", "false"):
        raise ValueError(f"storage option {DURABLE!r} must be 'true' or 'false'")
