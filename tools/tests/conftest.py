"""A repository in small: files by name, for the linters to find fault with."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def repository(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that writes files below a fresh root and returns the root."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return tmp_path

    return write
