"""The map of the reference: each entry that it names exists."""

import importlib
import re

import pytest
from lint_layers import FOLDERS
from sources import ROOT

MAP = (ROOT / "reference" / "README.md").read_text(encoding="utf-8").split("## Which chapter")[1]
ENTRIES = sorted(set(re.findall(r"`([a-z_0-9]+\.[A-Za-z_0-9.]+)`", MAP)))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_a_module_or_a_name_in_one(entry):
    """Modules are named from `lanceref` on, functions and classes after their module."""
    try:
        importlib.import_module(f"lanceref.{entry}")
    except ModuleNotFoundError:
        home, _, name = entry.rpartition(".")
        assert hasattr(importlib.import_module(f"lanceref.{home}"), name)


def test_every_folder_is_on_the_map():
    """But the generated messages."""
    assert [] == [folder for folder in FOLDERS if folder != "proto" and f"`{folder}`" not in MAP]
