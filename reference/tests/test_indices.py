"""Descriptions of indices: the names that pylance's module has."""

import pylanceref.indices
import pytest
from pylanceref.indices import IndexConfig


def test_models_are_imported_when_they_are_asked_for():
    """The names are those of the modules they live in; another one there is not."""
    from pylanceref.indices import IndicesBuilder
    from pylanceref.vector_models import IvfModel, PqModel

    assert pylanceref.indices.IndicesBuilder is IndicesBuilder
    assert (pylanceref.indices.IvfModel, pylanceref.indices.PqModel) == (IvfModel, PqModel)
    assert set(pylanceref.indices.__all__) <= set(dir(pylanceref.indices)) | {
        "IndicesBuilder",
        "IvfModel",
        "PqModel",
    }
    with pytest.raises(AttributeError, match="Nobody"):
        _ = pylanceref.indices.Nobody


@pytest.mark.oracle
def test_the_same_types_may_be_asked_to_be_merged():
    """By the names that the oracle has."""
    import lance.indices

    theirs = lance.indices.SupportedDistributedIndices
    ours = pylanceref.indices.SupportedDistributedIndices
    assert {one.name: one.value for one in theirs} == {one.name: one.value for one in ours}


def test_a_configuration_without_parameters_has_none():
    """Each has a dictionary of its own."""
    one, other = IndexConfig("btree"), IndexConfig("btree")
    assert one == other
    assert one.parameters == {}
    assert one.parameters is not other.parameters
