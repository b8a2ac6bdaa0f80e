"""Shard snapshot: which flushed generations of a shard are read (face).

Has the names of pylance's `ShardSnapshot`.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING
from uuid import UUID

from lanceref.core.arguments import unsigned
from lanceref.index.mem_wal.shard_manifest import shard_folder

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset


class ShardSnapshot:
    """What of a shard is to be read. Raises TypeError, ValueError for an id that is none."""

    def __init__(self, shard_id: str) -> None:
        self._shard = UUID(_text(shard_id, "shard_id"))
        self._spec_id, self._current = 0, 0
        self._sstables: list[tuple[int, str]] = []

    @property
    def shard_id(self) -> str:
        """The shard."""
        return str(self._shard)

    @property
    def num_sstables(self) -> int:
        """How many flushed generations are read."""
        return len(self._sstables)

    def with_spec_id(self, spec_id: int) -> ShardSnapshot:
        """Say by which spec the table is sharded. Raises TypeError, OverflowError."""
        if not 0 <= index(spec_id) < 2**32:
            raise OverflowError("out of range integral type conversion attempted")
        self._spec_id = spec_id
        return self

    def with_current_generation(self, generation: int) -> ShardSnapshot:
        """Say which generation is being written. Raises TypeError, OverflowError."""
        self._current = unsigned(generation)
        return self

    def with_sstable(self, generation: int, path: str) -> ShardSnapshot:
        """Add a flushed generation, a folder of the shard. Raises TypeError, OverflowError."""
        self._sstables.append((unsigned(generation), _text(path, "path")))
        return self

    def opened(self, dataset: LanceDataset) -> list[tuple[int, LanceDataset]]:
        """Return the named generations, and the table of each. Raises TableNotFound."""
        from pylanceref.dataset import dataset as opened

        folder = f"{dataset.uri}/{shard_folder(self._shard)}"
        return [(number, opened(f"{folder}/{path}")) for number, path in self._sstables]

    def __repr__(self) -> str:
        """Show what is read."""
        return (
            f"_ShardSnapshot(shard_id='{self._shard}', current_gen={self._current}, "
            f"sstables={self.num_sstables})"
        )


def _text(value: str, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(
            f"argument '{name}': '{type(value).__name__}' object is not an instance of 'str'"
        )
    return value
