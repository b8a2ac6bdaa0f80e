"""Fixtures that tests of pylance's names share."""

import importlib

import pytest


@pytest.fixture(params=[pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
def maker(request):
    """The module of the oracle, then ours: both have to do the same."""
    return importlib.import_module(request.param)
