"""Tables as early releases wrote them, and the bytes of those that are written now."""

from contextlib import nullcontext
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, OperationRefused, UnknownFlag
from lanceref.proto import table_pb2, transaction_pb2
from lanceref.storage import BytesSource, LocalStore
from lanceref.table import flags, lineage
from lanceref.table.deletions import encode_arrow, encode_bitmap, read_deletions
from lanceref.table.file_entries import duplicated_fields
from lanceref.table.manifest import encode_manifest, open_manifest
from pylanceref.dataset import dataset, write_dataset

from tests.table import manifests
from tests.table.manifests import minimal, parse
from tests.transactions import versions

B, Z = [0, 4, 8, 12], [0, 3, 6, 9]


def written_by(uri, release, edit):
    """Rewrite the latest manifest as that of a release, and after an edit."""
    manifest = pylanceref.dataset(uri)._snapshot.manifest
    message = manifest.message
    edit(message)
    message.writer_version.library, message.writer_version.version = "lance", release
    (path,) = Path(uri, "_versions").glob(f"{2**64 - 1 - manifest.version}.manifest")
    path.write_bytes(encode_manifest(message, manifest.transaction, [], manifest.dictionaries))


@pytest.fixture
def field_twice(tmp_path):
    """A table of 0.10.5 whose column b has the id of z, which was dropped before."""
    uri = str(tmp_path / "t")
    made = pylanceref.write_dataset(
        pa.table({"x": range(4)}), uri, data_storage_version="0.1", max_rows_per_file=2
    )
    for name, values in (("y", [1, 1, 1, 1]), ("z", Z)):
        made.add_columns(pa.table({name: pa.array(values, pa.int64())}).to_reader())
    made.drop_columns(["z"])
    made.add_columns(pa.table({"b": pa.array(B, pa.int64())}).to_reader())

    def edit(message):
        (field,) = [one for one in message.fields if one.name == "b"]
        last, field.id = field.id, 2
        for number, fragment in enumerate(message.fragments):
            held = pylanceref.dataset(uri, version=3)._snapshot.manifest.message.fragments[number]
            files = [*held.files]
            files += [file for file in fragment.files if last in file.fields]
            del fragment.files[:]
            fragment.files.extend(files)
            fragment.files[-1].fields[:] = [2]

    written_by(uri, "0.10.5", edit)
    return uri


@pytest.mark.parametrize("how", ["config", "delete", "append", "add", "drop", "index"])
def test_a_commit_gives_the_field_an_id_of_its_own(field_twice, how):
    """Any commit corrects the ids, and the values stay."""
    dataset = pylanceref.dataset(field_twice)
    wanted = B
    if how == "config":
        dataset.update_config({"a": "b"})
    elif how == "delete":
        dataset.delete("b = 4")
        wanted = [0, 8, 12]
    elif how == "append":
        pylanceref.write_dataset(dataset.to_table().slice(1, 1), dataset, mode="append")
        wanted = [*B, 4]
    elif how == "add":
        dataset.add_columns({"n": "b + 1"})
    elif how == "drop":
        dataset.drop_columns(["y"])
    else:
        dataset.create_scalar_index("x", "BTREE")
    after = pylanceref.dataset(field_twice)

    assert wanted == after.to_table()["b"].to_pylist()
    assert not duplicated_fields(after._snapshot.manifest.message.fragments)
    assert [4] == after.to_table(filter="b = 4")["b"].to_pylist() or how in ("delete", "append")
    assert [] == [one.clause for one in lanceref.validate(field_twice, deep=True)]


def test_a_dropped_field_is_held_by_the_last_file_alone(field_twice):
    """A dropped field loses its columns in all files but the last."""
    pylanceref.dataset(field_twice).drop_columns(["b"])
    message = pylanceref.dataset(field_twice)._snapshot.manifest.message

    assert not duplicated_fields(message.fragments)


def test_a_compaction_asks_for_another_commit_first(field_twice):
    """A compaction is refused, since its first commit would invalidate its second."""
    with pytest.raises(OperationRefused, match="corrects its id"):
        pylanceref.dataset(field_twice).optimize.compact_files()
    pylanceref.dataset(field_twice).update_config({"a": "b"})
    pylanceref.dataset(field_twice).optimize.compact_files()

    assert B == pylanceref.dataset(field_twice).to_table()["b"].to_pylist()


@pytest.mark.oracle
def test_the_oracle_reads_the_first_file_until_a_commit(field_twice):
    """D.table.field-in-two-files: after our commit the oracle reads what we read."""
    import lance

    assert Z == lance.dataset(field_twice).to_table()["b"].to_pylist()
    pylanceref.dataset(field_twice).update_config({"a": "b"})
    assert B == lance.dataset(field_twice).to_table()["b"].to_pylist()


def test_fragments_of_one_id_are_read(tmp_path):
    """Duplicate fragment ids of release 0.16 are read, and of later ones refused."""
    uri = str(tmp_path / "t")
    pylanceref.write_dataset(pa.table({"x": range(4)}), uri, max_rows_per_file=2)

    def edit(message):
        message.fragments[1].id = 0

    written_by(uri, "0.16.1", edit)
    assert [0, 1, 2, 3] == pylanceref.dataset(uri).to_table()["x"].to_pylist()
    assert "L.table.fragments.ids" in [one.clause for one in lanceref.validate(uri)]
    written_by(uri, "0.17.0", lambda message: None)
    with pytest.raises(FormatError, match="id used twice"):
        pylanceref.dataset(uri)


ROWS = pa.table({"a": range(10)})


class _Early(versions.SizedPast):
    """A past of files that have ten rows, of which 3 and 4 are deleted."""

    def num_rows(self, before, fragment):
        return 10

    def deleted(self, before, fragment):
        return np.array([3, 4])


EDIT = {"config_updates": {"update_entries": [{"key": "k", "value": "v"}]}}


def test_a_version_that_is_not_that_of_the_files_is_corrected():
    """A stated 0.1 above files of 2.0 is corrected by the next commit."""
    files = versions.files(0, 1, 2) | {"file_major_version": 0, "file_minor_version": 3}
    stated = {"file_format": "lance", "version": "0.1"}
    before = versions.table(
        0, fragments=[manifests.fragment(0, files)], max_fragment_id=None, data_format=stated
    )
    after = versions.after(before, past=_Early(), update_config=EDIT)

    assert "0.1" == before.storage_version
    assert "2.0" == after.storage_version


@pytest.mark.parametrize("old", ["2.0", "2.2"])
def test_an_overwrite_or_restore_brings_its_own_format(tmp_path, old):
    """Overwrite and restore change between 0.1 and 2.x, also without rows."""
    path = str(tmp_path / "t")
    write_dataset(ROWS, path, data_storage_version=old)
    write_dataset(ROWS, path, mode="overwrite", data_storage_version="0.1")
    assert "0.1" == dataset(path).data_storage_version
    dataset(path, 1).restore()
    assert old == dataset(path).data_storage_version
    dataset(path, 2).restore()
    assert "0.1" == dataset(path).data_storage_version
    write_dataset(ROWS, path, mode="append")
    assert 2 * ROWS.num_rows == dataset(path).count_rows()
    write_dataset(ROWS.slice(0, 0), path, mode="overwrite", data_storage_version=old)
    write_dataset(ROWS.slice(0, 0), path, mode="overwrite", data_storage_version="0.1")
    assert "0.1" == dataset(path).data_storage_version


def _without(path, strip):
    """Write two fragments, delete two rows, and strip the latest manifest."""
    made = write_dataset(ROWS, path, max_rows_per_file=6)
    made.delete("a in (1, 8)")
    name = LocalStore(path)
    found = sorted(name.list("_versions"))[0]
    manifest = open_manifest(name.open(f"_versions/{found}"), Context(found))
    for fragment in manifest.message.fragments:
        strip(fragment)
    data = encode_manifest(manifest.message, manifest.transaction, [], {})
    (path / "_versions" / found).write_bytes(data)


def _strip(fragment):
    fragment.physical_rows = 0
    fragment.deletion_file.num_deleted_rows = 0
    for file in fragment.files:
        file.file_size_bytes = 0


def test_rows_are_read_where_the_counts_are_missing(tmp_path):
    """Counts, rows and filters come from the files, and an append states the counts."""
    _without(tmp_path, _strip)
    found = dataset(tmp_path)

    assert [0, 2, 3, 4, 5, 6, 7, 9] == found.to_table()["a"].to_pylist()
    assert (8, 3) == (found.count_rows(), found.count_rows("a < 4"))
    assert 2 == found.stats.dataset_stats()["num_deleted_rows"]
    write_dataset(ROWS, tmp_path, mode="append")
    stated = [one.metadata for one in dataset(tmp_path).get_fragments()]
    assert [(6, 1), (4, 1), (10, 0)] == [(one.physical_rows, one.num_deletions) for one in stated]
    assert all(file.file_size_bytes for one in stated for file in one.files)


TRANSACTION = transaction_pb2.Transaction(read_version=1, uuid="u", append={})


def test_the_worked_manifest_is_written_back_byte_for_byte():
    """The transaction section is at 0, the manifest after it, the footer has its position."""
    parsed = manifests.parse(manifests.WORKED)
    message = table_pb2.Manifest()
    message.CopyFrom(parsed.message)
    message.transaction_section = 99

    assert manifests.WORKED == encode_manifest(message, parsed.transaction, (), {})


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_a_null_in_a_field_that_has_none_is_refused(tmp_path, version):
    """Also beside a deleted row, but not where its own is deleted."""
    uri, rows = str(tmp_path / "t"), [{"x": 1}, {"x": None}, {"x": 3}]
    made = write_dataset(pa.table({"k": range(3), "n": rows}), uri, data_storage_version=version)
    for deleted in (0, 1):
        made.delete(f"k = {deleted}")
        written_by(uri, "14.0.2", lambda message: setattr(message.fields[2], "nullable", False))
        for read in (dataset(uri).to_table, lambda: dataset(uri).take([0])):
            with nullcontext() if deleted else pytest.raises(FormatError, match="nullable"):
                assert {"x": 3} == read()["n"].to_pylist()[-1]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_dictionaries_come_back(values):
    """Values of a 0.1 dictionary are at the head, and their field has the position."""
    fields = [{"name": "d", "id": 3, "parent_id": -1, "logical_type": "dict:string:int32:false"}]
    message = manifests.minimal(
        fields=fields, data_format={"file_format": "lance", "version": "0.1"}
    )

    parsed = manifests.parse(encode_manifest(message, TRANSACTION, (), {3: pa.array(values)}))

    assert {3: values} == {key: array.to_pylist() for key, array in parsed.dictionaries.items()}


def test_a_writer_bit_we_do_not_know_is_refused():
    """L.table.flags.writer-refuses: such a version opens, and no commit follows it."""
    parsed = parse(minimal(writer_feature_flags=1 << 20))

    with pytest.raises(UnknownFlag, match=r"L\.table\.flags\.writer-refuses"):
        flags.check_writable(parsed.message, parsed.place)


def test_a_bitmap_has_no_runs():
    """1 and 3 in golden bytes; nine thousand rows in a row are one bitset container."""
    golden = "3a30000001000000000001001000000001000300"

    assert bytes.fromhex(golden) == encode_bitmap(np.array([1, 3]))
    assert 8208 == len(encode_bitmap(np.arange(9000)))


@given(st.lists(st.integers(0, 2**32 - 2), unique=True, max_size=30).map(sorted))
def test_any_deleted_rows_come_back(rows):
    """Any rows are read back from both forms."""
    for data, name in (
        (encode_arrow(np.array(rows)), "d.arrow"),
        (encode_bitmap(np.array(rows)), "d.bin"),
    ):
        assert rows == read_deletions(BytesSource(data, name), Context("d")).tolist()


CTX = Context("m.manifest")
PLACE = CTX.at(76, 121)


def _back(data: bytes) -> list[int]:
    ids = lineage.decode_row_ids(data, None, CTX, PLACE)
    return ids.at(np.arange(ids.count)).tolist()


@pytest.mark.parametrize(
    ("ids", "held"),
    [
        (range(100), "0a040a021064"),
        (range(100, 200), "0a070a05086410c801"),
        ([9, 10, 11, 200], "0a10220e0a0c08091208000001000200bf00"),
    ],
)
def test_the_smallest_segment_is_written(ids, held):
    """Golden bytes of ranges, and of ids too far apart for holes or a bitmap."""
    assert bytes.fromhex(held) == lineage.encode_ids(np.array(ids, np.uint64))


@pytest.mark.parametrize(
    ("ids", "arm"),
    [
        ([], "range"),
        ([7], "range"),
        ([1, 2, 4, 5, 6], "range_with_bitmap"),
        ([*range(50), *range(51, 200)], "range_with_holes"),
        ([*range(5), *range(6, 32)], "range_with_holes"),
        ([*range(5), *range(6, 24)], "range_with_bitmap"),
        ([0, 31], "range_with_bitmap"),
        ([0, 32], "sorted_array"),
        ([2, 1], "array"),
        ([3, 3], "array"),
    ],
)
def test_the_form_follows_the_sizes(ids, arm):
    """The smallest form wins: 24 bytes and 4 a hole, an eighth a slot, or 2 a value."""
    assert arm == lineage.encode_segment(np.array(ids, np.uint64)).WhichOneof("segment")


@given(st.lists(st.integers(0, 2**64 - 2), max_size=40))
def test_any_ids_come_back(ids):
    """Any ids are read back in their order."""
    assert ids == _back(lineage.encode_ids(np.array(ids, np.uint64)))


@given(st.lists(st.integers(1, 5), max_size=60))
def test_any_versions_come_back(versions):
    """Any row versions are read back; equal neighbours are one run."""
    data = lineage.encode_runs(np.array(versions, np.uint64))
    decoded = lineage.decode_versions(data, len(versions), CTX, PLACE)

    assert versions == decoded.at(np.arange(len(versions))).tolist()
