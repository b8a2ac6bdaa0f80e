"""A store that fails at any call: the table stays as it was, nothing is lost, work can go on."""

import errno

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.storage import LocalStore

CALLS = ("open", "create", "list", "put", "put_if_absent", "write", "close")
"""Methods of a store and of its sinks that count and may fail."""

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


class Faulty:
    """A store or sink of which call number `fail_at` (from 0) fails before it does anything."""

    def __init__(self, inner, fail_at, made=None):
        self._inner, self._fail_at, self.made = inner, fail_at, [] if made is None else made

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if name not in CALLS:
            return found

        def call(*arguments):
            self.made.append(name)
            if len(self.made) == self._fail_at + 1:
                raise OSError(errno.EIO, "the disk is gone")
            done = found(*arguments)
            return Faulty(done, self._fail_at, self.made) if name == "create" else done

        return call


@pytest.mark.parametrize("version", ["0.1", "2.2"])
def test_a_write_that_fails_anywhere_loses_nothing(tmp_path, monkeypatch, version):
    """Every call fails in turn: the append is whole or did not happen, and the next succeeds."""
    calls, outcomes, store = 0, set(), None
    while store is None or len(store.made) >= calls:
        uri = str(tmp_path / str(calls))
        pylanceref.write_dataset(TABLE, uri, data_storage_version=version)
        store = Faulty(LocalStore(uri), calls)
        with monkeypatch.context() as patch:
            patch.setattr("pylanceref.write.open_table", lambda *_, store=store: store)
            try:
                pylanceref.write_dataset(TABLE, uri, mode="append", max_rows_per_file=2)
                is_refused = False
            except OSError:
                is_refused = True
        rows = pylanceref.dataset(uri).to_table().to_pylist()
        outcomes.add((is_refused, len(rows)))
        assert rows in (TABLE.to_pylist(), TABLE.to_pylist() * 2)
        after = pylanceref.write_dataset(TABLE, uri, mode="append")
        assert len(rows) + 3 == after.count_rows()
        assert [] == [one for one in lanceref.validate(uri) if one.severity == "must"]
        calls += 1

    assert calls > 20
    assert {(True, 3), (False, 6)} <= outcomes
