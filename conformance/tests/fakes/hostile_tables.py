"""Write the Arrow files that the hostile adapter hands over, to the folder of the first argument.

They are made once, apart from the adapter, which then needs no pyarrow.
"""

import sys
from pathlib import Path

import pyarrow as pa


def one(array, metadata=None):
    """Return a batch of one column."""
    return pa.record_batch([array], pa.schema([pa.field("items", array.type, metadata=metadata)]))


def extension(array, name, serialized):
    """Return a batch of a column of an extension type."""
    return one(array, {"ARROW:extension:name": name, "ARROW:extension:metadata": serialized})


def nested():
    """Return a batch of lists in lists, sixty deep."""
    array = pa.array([1])
    for _ in range(60):
        array = pa.ListArray.from_arrays(pa.array([0, len(array)], pa.int32()), array)
    return one(array)


def repeated():
    """Return a batch whose dictionary repeats one long value."""
    indices = pa.array([0] * 20_000, pa.int32())
    return one(pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 1_000_000])))


def batches():
    """Return each file as a batch, the times it is written, and a compression."""
    zeros = one(pa.nulls(2_000_000, pa.int64()))
    bad_text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    names = [f"column number {number}" for number in range(20_000)]
    pickle = b"cos\nsystem\n(S'touch PWNED'\ntR."
    shape = b'{"shape":[999999999,999999999]}'
    tensor = pa.array([[1, 2, 3]], pa.list_(pa.int8(), 3))
    return {
        "zstd-bomb": (zeros, 5, "zstd"),
        "lz4-bomb": (zeros, 5, "lz4"),
        "null-bomb": (one(pa.nulls(2**31 - 1)), 4, None),
        "batch-bomb": (one(pa.array([1])), 40_000, None),
        "dictionary-bomb": (repeated(), 1, None),
        "run-bomb": (one(pa.RunEndEncodedArray.from_arrays([2**31 - 1], ["x"])), 1, None),
        "wide": (pa.record_batch([pa.nulls(1)] * len(names), names), 1, None),
        "nested": (nested(), 1, None),
        "bad-text": (one(bad_text), 1, None),
        "zone": (one(pa.array([0], pa.timestamp("us", "Mars/Phobos"))), 1, None),
        "far-date": (one(pa.array([2**62], pa.timestamp("s"))), 1, None),
        "twice-named": (pa.record_batch([[1], [2]], ["a", "a"]), 1, None),
        "metadata": (one(pa.array([1]), {b"pandas": b"\xff\xfe", b"\xff": b"\0"}), 1, None),
        "pickle": (extension(pa.array([b"x"]), "arrow.py_extension_type", pickle), 1, None),
        "tensor": (extension(tensor, "arrow.fixed_shape_tensor", shape), 1, None),
        "long": (one(pa.array(range(300_000))), 1, None),
    }


def main(folder):
    """Write every file."""
    for name, (batch, times, compression) in batches().items():
        options = pa.ipc.IpcWriteOptions(compression=compression)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, batch.schema, options=options) as out:
            for _ in range(times):
                out.write_batch(batch)
        (folder / f"{name}.arrow").write_bytes(sink.getvalue())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
