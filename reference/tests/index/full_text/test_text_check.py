"""Tokens of a segment are held against the texts of rows."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.full_text import check
from lanceref.validate import validate
from pylanceref.query import DocumentGranularity

TEXTS = ["the quick brown fox", "fox", None, "", "quick quick fox", "dogs"]
LISTS = [["the fox", "dog"], [], None, ["", "fox"], ["fox", "fox"], [None]]


def _made(tmp_path, column, **parameters):
    uri = str(tmp_path / "t")
    dataset = pylanceref.write_dataset(pa.table({"c": column}), uri, max_rows_per_file=3)
    dataset.create_scalar_index("c", "INVERTED", **parameters)
    return pylanceref.dataset(uri)


def _told(dataset):
    return [one.clause for one in validate(dataset.uri, deep=True) if one.severity == "must"]


@pytest.mark.parametrize("with_position", [True, False])
@pytest.mark.parametrize("column", [TEXTS, LISTS])
def test_a_segment_of_its_texts_has_no_findings(tmp_path, column, with_position):
    """Of text and of lists, null and empty ones too, and of rows that moved or are gone."""
    dataset = _made(tmp_path, column, with_position=with_position)
    assert [] == _told(dataset)

    dataset.delete("_rowid = 1")
    dataset.optimize.compact_files(defer_index_remap=True)
    assert [] == _told(dataset)


def test_elements_of_lists_are_documents(tmp_path):
    """Each element lies at its place in the list."""
    assert [] == _told(
        _made(tmp_path, LISTS, document_granularity=DocumentGranularity.LIST_ELEMENT)
    )


@pytest.mark.parametrize("rows", [1, 4])
def test_tokens_of_another_row_are_told(tmp_path, monkeypatch, rows):
    """Rows are looked at few at a time; the first that is wrong is reported, and no further one."""
    dataset = _made(tmp_path, TEXTS)
    monkeypatch.setattr(check, "ROWS", rows)
    whole = check.gather

    def other(values, analyzer, *, list_elements):
        texts = [None if text is None else f"{text} zebra" for text in values.to_pylist()]
        return whole(pa.array(texts, pa.utf8()), analyzer, list_elements=list_elements)

    monkeypatch.setattr(check, "gather", other)
    assert ["L.index.segment.complete"] == _told(dataset)


def test_sums_know_tokens_their_number_and_their_places():
    """What differs in one of them has another sum."""
    found = {
        int(check._computed_sums(_documents(texts), 1, with_position=True)[0])
        for texts in (["a b"], ["b a"], ["a b b"], ["a"], ["b"], [None])
    }

    assert 6 == len(found)
    assert int(check._computed_sums(_documents([""]), 1, with_position=True)[0]) == 0


def _documents(texts):
    from lanceref.index.full_text.analyzer import Analyzer
    from lanceref.index.full_text.parameters import requested

    parameters = {"stem": False, "remove_stop_words": False}
    analysis = requested(parameters, json_documents=False).analysis
    values = pa.array(texts, pa.utf8())
    return check.gather(values, Analyzer(analysis), list_elements=False)
