"""File format versions.

The footer of a data file holds its version as two u16 words; the same version has a name in the API
and another pair in the manifest's `DataFile`. Only for 2.0 do the three differ.

Clauses: L.file.footer.version, L.file.footer.version-2-0

Divergences: D.file.footer-says-0-3
"""

from __future__ import annotations

from typing import NamedTuple


class FileVersion(NamedTuple):
    """A version of the file format, ordered by age."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V0_1 = FileVersion(0, 1)
"""The legacy format, also called 0.2 in its own footer."""
V2_0 = FileVersion(2, 0)
"""Array encodings; stored as (0, 3) in footers."""
V2_1 = FileVersion(2, 1)
"""Structural encodings: mini-block, full-zip."""
V2_2 = FileVersion(2, 2)
"""Large chunks, constant values; the default of the oracle ("stable")."""
V2_3 = FileVersion(2, 3)
"""Planar pages; unstable ("next")."""

FROM_WORDS: dict[tuple[int, int], FileVersion] = {
    **{(0, minor): V0_1 for minor in range(3)},
    (0, 3): V2_0,
    **{version: version for version in (V2_0, V2_1, V2_2, V2_3)},
}
"""Version by the (major, minor) words of a footer or of a manifest's DataFile."""

FOOTER_WORDS: dict[FileVersion, tuple[int, int]] = {
    **{version: version for version in (V2_1, V2_2, V2_3)},
    V2_0: (0, 3),
    V0_1: (0, 2),
}
"""The words a writer puts into the footer."""

PAGE_TYPE: dict[FileVersion, str] = {
    V2_0: "lance.encodings.ArrayEncoding",
    V2_1: "lance.encodings21.PageLayout",
    V2_2: "lance.encodings21.PageLayout",
    V2_3: "lance.encodings23.PlanarLayout",
}
"""Message of a page's encoding by version."""

NAMES: dict[str, FileVersion] = {
    **{str(version): version for version in (V0_1, V2_0, V2_1, V2_2, V2_3)},
    **dict(zip(("legacy", "0.3", "stable", "next"), (V0_1, V2_0, V2_2, V2_3), strict=True)),
}
"""Versions by the names that callers use."""


def version_named(name: str | None) -> FileVersion:
    """Return the version of that name, 2.2 for None. Raises TypeError and ValueError."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{type(name).__name__!r} object is not an instance of 'str'")
    version = NAMES.get("stable" if name is None else name.lower())
    if version is None:
        raise ValueError(f"Invalid user input: Unknown Lance storage version: {name}")
    return version


def stable_version() -> str:
    """Return the name of the version that files have by default."""
    return str(NAMES["stable"])
