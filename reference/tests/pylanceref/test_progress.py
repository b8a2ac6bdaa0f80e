"""Hooks of a write, called as by the oracle."""

import json

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused
from pylanceref import write_dataset
from pylanceref.metadata import FragmentMetadata
from pylanceref.progress import FileSystemFragmentWriteProgress, FragmentWriteProgress
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


def test_a_hook_that_fails_ends_the_write(tmp_path):
    """The error of a hook ends the write, and no file is left."""

    class Failing(_Hooks):
        def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
            raise KeyError("x")

    with pytest.raises(KeyError):
        write_fragments(TABLE, tmp_path, progress=Failing())
    with pytest.raises(DataRefused, match="begin"):
        write_fragments(TABLE, tmp_path, progress=5)  # type: ignore[arg-type]
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_files_say_what_goes_on(tmp_path):
    """The one that says that it goes on is removed at the end."""
    notes = tmp_path / "notes"

    class Looking(FileSystemFragmentWriteProgress):
        def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
            going_on = json.loads((notes / "fragment_0.in_progress").read_text())
            assert going_on == {"fragment_id": 0, "metadata": {"k": "v"}}
            super().complete(fragment, **kwargs)

    write_dataset(TABLE, tmp_path / "t", progress=Looking(f"file://{notes}", {"k": "v"}))
    assert [path.name for path in notes.iterdir()] == ["fragment_0.json"]


@pytest.mark.oracle
def test_hooks_are_called_as_the_oracle_calls_them(tmp_path):
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
