"""Hooks of a write."""

import json
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from pylanceref import dataset, write_dataset
from pylanceref.fragment import LanceFragment
from pylanceref.metadata import FragmentMetadata
from pylanceref.progress import (
    FileSystemFragmentWriteProgress,
    FragmentWriteProgress,
    IndexProgress,
    NoopFragmentWriteProgress,
)
from pylanceref.write import write_fragments

TABLE = pa.table({"a": [1, 2, 3]})


class _Hooks(FragmentWriteProgress):
    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int | None, int]] = []

    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        self._note("begin", fragment)

    def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        self._note("complete", fragment)

    def _note(self, what: str, fragment: FragmentMetadata) -> None:
        self.seen.append((what, fragment.id, fragment.physical_rows, len(fragment.files)))


def test_every_fragment_is_told_of(tmp_path) -> None:
    """Before its file is written, and with the file once it is."""
    hooks = _Hooks()
    write_dataset(TABLE, tmp_path, progress=hooks, max_rows_per_file=2)

    kinds = [(what, files) for what, _, _, files in hooks.seen]
    assert kinds == [("begin", 0), ("complete", 1)] * 2
    assert [rows for what, _, rows, _ in hooks.seen if what == "complete"] == [2, 1]


def test_a_hook_that_fails_ends_the_write(tmp_path) -> None:
    """No file is left."""

    class Failing(NoopFragmentWriteProgress):
        def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
            raise KeyError("x")

    with pytest.raises(KeyError):
        write_fragments(TABLE, tmp_path, progress=Failing())
    with pytest.raises(DataRefused, match="begin"):
        write_fragments(TABLE, tmp_path, progress=5)  # type: ignore[arg-type]
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_files_say_what_goes_on(tmp_path) -> None:
    """The one that says that it goes on is removed at the end."""
    notes = tmp_path / "notes"

    class Looking(FileSystemFragmentWriteProgress):
        def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
            going_on = json.loads((notes / "fragment_0.in_progress").read_text())
            assert going_on == {"fragment_id": 0, "metadata": {"k": "v"}}
            super().complete(fragment, **kwargs)

    write_dataset(TABLE, tmp_path / "t", progress=Looking(f"file://{notes}", {"k": "v"}))
    assert [path.name for path in notes.iterdir()] == ["fragment_0.json"]


def test_a_fragment_that_is_written_alone_is_told_of_with_its_file(tmp_path) -> None:
    """Before it is written already, and by the id it is to have."""
    hooks = _Hooks()
    made = LanceFragment.create(str(tmp_path), TABLE, fragment_id=7, progress=hooks)

    assert [(what, number, files) for what, number, _, files in hooks.seen] == [
        ("begin", 7, 1),
        ("complete", 7, 1),
    ]
    assert made.id == 7


@pytest.mark.parametrize(
    ("completed", "total", "share"), [(1, 4, 0.25), (5, 4, 1.0), (None, 4, None), (1, None, None)]
)
def test_the_share_that_is_done_is_known_where_both_numbers_are(completed, total, share) -> None:
    """It is at most 1; of nothing there is no share."""
    assert IndexProgress("progress", "read", completed, total).fraction == share
    assert IndexProgress("progress", "read", completed, 0).fraction is None


def _indexed(tmp_path, index_type, callback, **arguments):
    """Return a table of texts and vectors, with an index whose build is reported."""
    rows = range(300)
    vectors = pa.array([[float(row % 7), float(row)] for row in rows], pa.list_(pa.float32(), 2))
    data = pa.table({"text": [f"word{row % 5}" for row in rows], "v": vectors})
    table = write_dataset(data, tmp_path / "t", max_rows_per_file=200)
    if index_type == "INVERTED":
        table.create_scalar_index("text", index_type, progress_callback=callback)
    else:
        table.create_index("v", index_type, progress_callback=callback, **arguments)
    return table


def test_a_build_of_words_is_told_in_stages(tmp_path) -> None:
    """Rows of each fragment are counted as they become documents."""
    told: list[IndexProgress] = []
    _indexed(tmp_path, "INVERTED", told.append)

    assert list(dict.fromkeys(one.stage for one in told)) == [
        "load_data",
        "tokenize_docs",
        "copy_partitions",
        "write_metadata",
    ]
    documents = [one for one in told if one.stage == "tokenize_docs"]
    assert [one.completed for one in documents] == [0, 200, 300, 300]
    assert {one.unit for one in documents} == {"rows"}


def test_a_build_over_vectors_is_told_in_stages(tmp_path) -> None:
    """All rows are shuffled, all partitions merged."""
    told: list[IndexProgress] = []
    _indexed(tmp_path, "IVF_FLAT", told.append, num_partitions=3)

    ends = {one.stage: (one.completed, one.total) for one in told if one.event == "complete"}
    assert list(ends) == ["train_ivf", "train_quantizer", "shuffle", "merge_partitions"]
    assert ends["shuffle"] == (300, 300)
    assert ends["merge_partitions"] == (3, 3)


@pytest.mark.parametrize(
    ("stage", "index_type", "kept"),
    [
        ("start:train_ivf", "IVF_FLAT", False),
        ("start:merge_partitions", "IVF_FLAT", False),
        ("complete:merge_partitions", "IVF_FLAT", True),
        ("progress:tokenize_docs", "INVERTED", False),
        ("complete:write_metadata", "INVERTED", True),
    ],
)
def test_who_listens_may_end_a_build_until_all_is_written(
    tmp_path, stage, index_type, kept
) -> None:
    """Then no index is there, and no file of it; what comes later changes nothing."""

    def listen(told: IndexProgress) -> None:
        if f"{told.event}:{told.stage}" == stage:
            raise RuntimeError("enough")

    with nullcontext() if kept else pytest.raises(RuntimeError, match="enough"):
        _indexed(tmp_path, index_type, listen)
    assert dataset(tmp_path / "t").has_index == kept
    assert any((tmp_path / "t" / "_indices").rglob("*")) == kept


def test_who_listens_can_be_called(tmp_path) -> None:
    """As pylance wants it."""
    with pytest.raises(ValueError, match="must be callable"):
        _indexed(tmp_path, "INVERTED", 5)


@pytest.mark.oracle
@pytest.mark.parametrize("index_type", ["INVERTED", "BTREE"])
def test_stages_of_a_build_are_those_of_the_oracle(tmp_path, index_type) -> None:
    """With the same numbers."""
    import lance

    rows = range(300)
    data = pa.table({"a": [f"word{row % 5}" for row in rows]})
    found = []
    for library in (lance, pylanceref):
        told: list[object] = []
        path = str(tmp_path / library.__name__)
        table = library.write_dataset(data, path, max_rows_per_file=200)
        table.create_scalar_index("a", index_type, progress_callback=told.append)
        fields = ("event", "stage", "completed", "total", "unit")
        found.append([tuple(getattr(one, name) for name in fields) for one in told])
    assert found[0] == found[1]


@pytest.mark.oracle
def test_hooks_are_called_as_the_oracle_calls_them(tmp_path: Path) -> None:
    """Same calls in the same order; it does not tell of the end of a last file that is not full."""
    import lance
    from lance.progress import FragmentWriteProgress as Theirs

    class Adapted(_Hooks, Theirs):
        pass

    found = []
    for library, hooks in ((lance.write_dataset, Adapted()), (write_dataset, _Hooks())):
        root = str(tmp_path / type(hooks).__name__)
        library(TABLE, root, progress=hooks, max_rows_per_file=1)
        found.append([(what, number, files) for what, number, _, files in hooks.seen])
    assert found[0] == found[1]
