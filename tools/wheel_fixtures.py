"""The fixtures in the wheel: all of them, laid out as in the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "lance_conformance/fixtures"
"""Folder of the fixtures in the wheel."""


class Fixtures(BuildHookInterface[Any]):
    """Puts the fixtures into a wheel; an editable installation finds those of the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder that is to be included."""
        if version != "editable":
            build_data["force_include"][str(Path(self.root, "fixtures"))] = TARGET
