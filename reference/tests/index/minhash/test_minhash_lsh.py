"""MINHASHLSH: rows with much of a text in common."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import IndexRefused
from pylanceref.indices import IndexConfig

from ..tables import write
from .texts import PARAMETERS, SOURCE, TEXTS, alike, make, opened, some_text


def test_worked_statistics(tmp_path):
    """Of rows with a token."""
    dataset = make(["the quick brown fox", "", None, "..."], tmp_path)
    (found,) = dataset.index_statistics("s_idx")["indices"]
    assert found == {
        "type": "MinHashLsh",
        "num_docs": 1,
        "num_pages": 1,
        "num_hashes": 128,
        "num_bands": 16,
        "shingle_size": 3,
        "signature_version": 0,
    }
    (entry,) = dataset._snapshot.manifest.indices
    assert entry.index_details.type_url == "/lance.index.pb.MinHashLshIndexDetails"
    assert entry.index_version == 0


def test_other_columns_and_keywords(tmp_path):
    """Only text has tokens; parameters by keyword are passed over, as pylance does."""
    dataset = write(pa.table({"n": [1], "s": ["a"]}), tmp_path)
    with pytest.raises(ValueError, match="MINHASHLSH cannot index n"):
        dataset.create_scalar_index("n", "MINHASHLSH")
    dataset.create_scalar_index("s", "MINHASHLSH", num_hashes=64)
    assert opened(dataset).parameters.num_hashes == 128


@pytest.mark.parametrize("stable", [False, True])
def test_an_index_is_kept_up_to_date(tmp_path, stable):
    """With its own parameters: what is found stays what is found, however rows are covered."""
    parameters = PARAMETERS[1]
    options = {"max_rows_per_file": 200, "enable_stable_row_ids": stable}
    dataset = make(TEXTS, tmp_path, parameters, pa.large_string(), **options)
    table = dataset.to_table()
    dataset.delete("i % 7 = 2")
    dataset.insert(table.slice(0, 50))
    texts = [some_text() for _ in range(10)]

    def found() -> list[list[tuple[int, float]]]:
        return [
            sorted(alike(dataset, text, limit=900), key=lambda one: one[::-1]) for text in texts
        ]

    expected = found()
    assert any(expected)
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert len(dataset.list_indices()) == 2
    assert found() == expected
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    assert len(dataset.list_indices()) == 1
    assert found() == expected
    dataset.optimize.compact_files()
    assert found() == expected
    assert opened(dataset).parameters.num_hashes == 60


def test_segments_are_merged(tmp_path):
    """Built apart they find what one finds; of other parameters they are refused."""
    dataset = write(pa.table({"s": TEXTS, "i": range(600)}), tmp_path, max_rows_per_file=300)
    parts = [
        dataset.create_index_uncommitted("s", "MINHASHLSH", name="n", fragment_ids=[number])
        for number in (0, 1)
    ]
    dataset.commit_existing_index_segments("m", "s", parts)
    apart = [alike(dataset, text, limit=99) for text in TEXTS[:20] if text]
    other = dataset.create_index_uncommitted(
        "s", IndexConfig("minhashlsh", {"num_bands": 8}), name="o", fragment_ids=[1]
    )
    with pytest.raises(IndexRefused):
        dataset.merge_existing_index_segments([parts[0], other])
    merged = dataset.merge_existing_index_segments(parts)
    dataset.commit_existing_index_segments("m", "s", [merged])
    assert len(dataset.list_indices()) == 1
    assert [alike(dataset, text, limit=99) for text in TEXTS[:20] if text] == apart


def test_nothing_can_be_indexed(tmp_path):
    """Without a token, or without rows."""
    for number, values in enumerate(([], [None, ""])):
        index = opened(make(values, tmp_path / f"{number}"))
        assert (index.num_docs, index.num_pages) == (0, 0)
        assert len(index.all()[0]) == 0


@pytest.mark.oracle
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_the_oracle_writes_the_same_and_finds_the_same(tmp_path, parameters):
    """Columns, metadata and page table are equal; rows of both libraries from both tables."""
    import lance
    import lance.indices
    import lance.query

    made = {}
    table = pa.table({"s": TEXTS, "i": range(600)})
    configs = {lance: lance.indices.IndexConfig, pylanceref: IndexConfig}
    for library, config in configs.items():
        path = str(tmp_path / library.__name__)
        lance.write_dataset(table, path, max_rows_per_file=200)
        given = config("minhashlsh", dict(parameters))
        library.dataset(path).create_scalar_index("s", given)
        made[library] = path
    theirs, own = (opened(pylanceref.dataset(path)) for path in made.values())
    for name in ("_signatures", "_bands"):
        one, other = getattr(theirs, name), getattr(own, name)
        assert dict(one.metadata) == dict(other.metadata)
        assert all(one.read(column) == other.read(column) for column in one.names)
    assert theirs._last.tolist() == own._last.tolist()
    for path in made.values():
        pylanceref.dataset(path).delete("i % 7 = 2")
        lance.dataset(path).insert(table.slice(0, 50))
        for _ in range(40):
            scan: dict[str, object] = {"columns": ["i", "_distance"], "with_row_id": True}
            scan |= {"limit": SOURCE.choice([None, 1, 5, 900]), "offset": SOURCE.choice([None, 2])}
            if SOURCE.random() < 0.5:
                scan |= {"filter": "i % 3 = 1", "prefilter": SOURCE.random() < 0.5}
            text = some_text()
            expected, found = (
                library.dataset(path).to_table(
                    nearest=library.query.MinHashQuery(text, "s"),
                    fast_search=len(text) % 4 == 0,
                    **scan,
                )
                for library in (lance, pylanceref)
            )
            assert found.to_pydict() == expected.to_pydict()
