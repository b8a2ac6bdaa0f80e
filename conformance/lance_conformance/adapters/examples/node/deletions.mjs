// Deleted rows (spec/45-deletions-row-ids.md): Roaring bitmaps, and Arrow files of one column of row offsets.

import { Unsupported, bit, demand, integer, slice, utf8 } from "./bytes.mjs";

const MOST_ROWS = 2 ** 24; // a limit of this reader: L.table.limits.bitmap, L.table.limits.deletions

// The values of a portable 32-bit Roaring bitmap, ascending.
export function roaring(bytes) {
  const cookie = integer(bytes, 0, 4, "cookie"), hasRuns = (cookie & 0xffff) === 12347;
  demand(hasRuns || cookie === 12346, `the cookie ${cookie}`); // L.table.roaring.cookie
  const count = hasRuns ? Math.floor(cookie / 65536) + 1 : integer(bytes, 4, 4, "containers");
  demand(count <= 65536, `${count} containers`);
  let at = hasRuns ? 4 : 8;
  const take = (size) => slice(bytes, (at += size) - size, size, "container"); // L.table.roaring.containers
  const runs = hasRuns ? take(Math.ceil(count / 8)) : new Uint8Array(Math.ceil(count / 8));
  const heads = take(4 * count);
  if (!hasRuns || count >= 4) take(4 * count); // where the containers begin: they follow one another
  const values = [];
  let last = -1;
  const add = (value) => {
    demand(values.length === 0 || value > values[values.length - 1], "values that do not rise"); // L.table.roaring.order
    values.push(value);
    demand(values.length <= MOST_ROWS, "more values than this reader takes");
  };
  for (let i = 0; i < count; i++) {
    const key = integer(heads, 4 * i, 2, "key"), base = key * 65536;
    demand(key > last, "keys that do not rise"); // L.table.roaring.order
    last = key;
    const size = integer(heads, 4 * i + 2, 2, "cardinality") + 1, before = values.length;
    if (bit(runs, i)) {
      const numRuns = integer(take(2), 0, 2, "runs"), held = take(4 * numRuns);
      for (let k = 0; k < numRuns; k++) {
        const start = integer(held, 4 * k, 2, "run"), length = integer(held, 4 * k + 2, 2, "run");
        demand(start + length < 65536, "a run beyond its container");
        for (let v = start; v <= start + length; v++) add(base + v);
      }
    } else if (size <= 4096) {
      const held = take(2 * size);
      for (let k = 0; k < size; k++) add(base + integer(held, 2 * k, 2, "value"));
    } else {
      const held = take(8192);
      for (let v = 0; v < 65536; v++) if (bit(held, v)) add(base + v);
    }
    demand(values.length - before === size, "a container of another cardinality");
  }
  demand(at === bytes.length, "bytes after the last container"); // L.table.roaring.end
  return values;
}

// ---- Arrow files: flatbuffers, as far as one column needs them -------------------------------------------------------

// A table at a place: a field is read by its slot, 0 where it is absent.
function table(bytes, at) {
  const signed = integer(bytes, at, 4, "table"), back = signed > 2 ** 31 ? signed - 2 ** 32 : signed;
  const vtable = at - back, size = integer(bytes, vtable, 2, "vtable");
  const place = (slot) => {
    if (4 + 2 * slot + 2 > size) return 0;
    const offset = integer(bytes, vtable + 4 + 2 * slot, 2, "vtable");
    return offset && at + offset;
  };
  const follow = (start) => start + integer(bytes, start, 4, "place");
  return {
    number: (slot, width) => (place(slot) ? integer(bytes, place(slot), width, "number") : 0),
    inner: (slot) => (place(slot) ? table(bytes, follow(place(slot))) : null),
    text: (slot) => {
      if (!place(slot)) return "";
      const start = follow(place(slot));
      return utf8(slice(bytes, start + 4, integer(bytes, start, 4, "text"), "text"), "a name");
    },
    vector: (slot) => {
      if (!place(slot)) return { count: 0, start: 0 };
      const start = follow(place(slot));
      return { count: integer(bytes, start, 4, "vector"), start: start + 4 };
    },
  };
}

const INT = 2, BLOCK = 24;

// The row offsets of an `.arrow` deletion file: its footer names the schema and where the batches lie.
export function arrowRows(bytes) {
  const isMagic = (at) => String.fromCharCode(...bytes.subarray(at, at + 6)) === "ARROW1";
  demand(bytes.length >= 18 && isMagic(0) && isMagic(bytes.length - 6), "does not begin and end with ARROW1"); // L.table.deletions.arrow-magic
  const size = integer(bytes, bytes.length - 10, 4, "footer");
  const held = slice(bytes, bytes.length - 10 - size, size, "footer"), footer = table(held, integer(held, 0, 4, "root"));
  const fields = footer.inner(1)?.vector(1);
  demand(fields?.count === 1, "not one column"); // L.table.deletions.arrow
  const field = table(held, fields.start + integer(held, fields.start, 4, "field")), type = field.inner(3);
  demand(field.text(0) === "row_id" && field.number(2, 1) === INT && type, "a column that is not row_id");
  demand(type.number(0, 4) === 32 && !type.number(1, 1), "a column that is not uint32");
  const blocks = footer.vector(3), rows = [];
  for (let i = 0; i < blocks.count; i++) {
    const [at, metadataSize, bodySize] = [[0, 8], [8, 4], [16, 8]].map(([more, width]) => integer(held, blocks.start + BLOCK * i + more, width, "block"));
    const metadata = slice(bytes, at + 8, metadataSize - 8, "batch"), body = slice(bytes, at + metadataSize, bodySize, "body");
    const batch = table(metadata, integer(metadata, 0, 4, "root")).inner(2);
    demand(batch, "a message without a batch");
    const count = batch.number(0, 8), nodes = batch.vector(1), buffers = batch.vector(2);
    demand(rows.length + count <= MOST_ROWS, `${count} rows`); // L.table.limits.deletions
    if (batch.inner(3)) throw new Unsupported("zstd");
    demand(nodes.count === 1 && buffers.count === 2, "buffers of another column");
    demand(integer(metadata, nodes.start + 8, 8, "nulls") === 0, "a null among the rows");
    const [start, length] = [16, 24].map((more) => integer(metadata, buffers.start + more, 8, "buffer"));
    demand(length >= 4 * count, "fewer bytes than rows");
    const data = slice(body, start, 4 * count, "rows");
    for (let k = 0; k < count; k++) rows.push(integer(data, 4 * k, 4, "row"));
  }
  return rows;
}
