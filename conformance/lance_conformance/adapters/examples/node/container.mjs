// The file container of 2.1 and 2.2 (spec/10-file-container.md): footer, tables, column metadata, schema.

import { Unsupported, demand, integer, message, slice } from "./bytes.mjs";
import { LAYOUT } from "./messages.mjs";
import { parseType, leavesOf } from "./types.mjs";

export const FIELD = {
  2: ["name", "string"], 3: ["id", "i32"], 4: ["parentId", "i32"], 5: ["logicalType", "string"], 6: ["nullable", "bool"],
  9: ["extension", "string"], 10: ["metadata", [{ 1: ["key", "string"], 2: ["value", "bytes"] }]],
};
const DESCRIPTOR = { 1: ["schema", { 1: ["fields", [FIELD]] }], 2: ["length", "u64"] };
const DIRECT = { 1: ["indirect", {}], 2: ["direct", { 1: ["encoding", "bytes"] }], 3: ["none", {}] };
const ANY = { 1: ["url", "string"], 2: ["value", "bytes"] };
const PAGE = {
  1: ["offsets", ["u64"]], 2: ["sizes", ["u64"]], 3: ["length", "u64"], 4: ["encoding", DIRECT], 5: ["priority", "u64"],
};
const COLUMN = { 1: ["encoding", DIRECT], 2: ["pages", [PAGE]] };

const VERSIONS = { "0.3": "2.0", "2.0": "2.0", "2.1": "2.1", "2.2": "2.2", "2.3": "2.3" };
export const MOST_ROWS = 2 ** 24; // a limit of this reader (L.file.pages.length)

function any(encoding, what) {
  demand(encoding?.direct, `${what}: the encoding is not stored direct`); // L.file.pages.encoding, L.file.columns.encoding
  const { url = "", value = new Uint8Array() } = message(encoding.direct.encoding ?? new Uint8Array(), ANY);
  return { name: url.slice(url.lastIndexOf("/") + 1), value };
}

export function fieldTree(listed) {
  const byId = new Map(), top = [];
  for (const field of listed) {
    const node = {
      name: field.name ?? "", id: field.id ?? 0, logicalType: field.logicalType ?? "", nullable: field.nullable ?? false,
      metadata: new Map(field.metadata.map(({ key = "", value }) => [key, new TextDecoder().decode(value)])), children: [],
    };
    demand(node.id >= 0 && !byId.has(node.id), `field id ${node.id} is used twice or negative`); // L.file.schema.unique-ids
    const parent = field.parentId ?? 0;
    if (parent === -1) top.push(node);
    else {
      demand(byId.has(parent), `the parent ${parent} is not listed before its field`); // L.file.schema.parent-first
      byId.get(parent).children.push(node);
    }
    byId.set(node.id, node);
  }
  const names = top.map(({ name }) => name);
  demand(new Set(names).size === names.length && !names.some((name) => name.includes(".")), "names used twice or with a dot");
  return top;
}

export function footer(file) {
  demand(file.length >= 40, `${file.length} bytes, a footer has 40`); // L.file.footer.size
  const end = file.length - 40, tail = slice(file, end, 40, "footer");
  demand(String.fromCharCode(...tail.subarray(36)) === "LANC", "does not end with LANC"); // L.file.footer.magic
  const [metadataStart, cmo, gbo] = [0, 8, 16].map((at) => integer(tail, at, 8, "footer"));
  const [numBuffers, numColumns] = [integer(tail, 24, 4, "footer"), integer(tail, 28, 4, "footer")];
  const version = VERSIONS[`${integer(tail, 32, 2, "footer")}.${integer(tail, 34, 2, "footer")}`];
  demand(version, "a version that is not known"); // L.file.footer.version
  demand(metadataStart <= cmo, "column metadata after its table"); // L.file.footer.column-metadata-start
  demand(cmo + 16 * numColumns === gbo, "the column table does not end at the buffer table"); // L.file.footer.cmo-start
  demand(gbo + 16 * numBuffers <= end, "the buffer table reaches into the footer"); // L.file.footer.gbo-start
  demand(numBuffers >= 1, "no global buffer"); // L.file.footer.num-global-buffers
  const table = (at, count) =>
    Array.from({ length: count }, (_, i) => [integer(file, at + 16 * i, 8, "table"), integer(file, at + 16 * i + 8, 8, "table")]);
  const columns = table(cmo, numColumns), buffers = table(gbo, numBuffers);
  for (const [at, size] of columns) demand(at >= metadataStart && at + size <= cmo, "column metadata out of place"); // L.file.cmo.entry
  for (const [at, size] of buffers) {
    demand(at + size <= metadataStart, "a global buffer out of place"); // L.file.gbo.entry
    demand(at % 64 === 0, `a global buffer at ${at}`); // L.file.alignment.buffers
  }
  return { version, columns, buffers };
}

// The schema, the length and the pages of every column, in the order of the schema's leaves.
// The leaves of a file of a table are found by the manifest (`hasSchema` false): its own schema is not looked at.
export function open(file, { hasSchema = true } = {}) {
  const { version, columns, buffers } = footer(file);
  if (version !== "2.1" && version !== "2.2") throw new Unsupported(version);
  const [at, size] = buffers[0];
  const { schema, length = 0 } = message(slice(file, at, size, "descriptor"), DESCRIPTOR);
  demand(schema, "no schema"); // L.file.globals.descriptor
  const fields = fieldTree(schema.fields);
  for (const field of fields) parseType(field, version);
  const leaves = fields.flatMap((field) => leavesOf(field));
  if (hasSchema) demand(leaves.length === columns.length, `${columns.length} columns for ${leaves.length} leaves`); // L.file.schema.num-columns
  const pages = columns.map(([start, bytes]) => {
    const column = message(slice(file, start, bytes, "column metadata"), COLUMN);
    demand(any(column.encoding, "column").name === "lance.encodings.ColumnEncoding", "another column encoding");
    return column.pages.map((page) => {
      const { length: rows = 0, offsets, sizes } = page;
      demand(rows <= MOST_ROWS, `a page of ${rows} rows`);
      demand(offsets.length === sizes.length, "a size for each buffer"); // L.file.pages.extents-pair
      offsets.forEach((offset, i) => {
        demand(offset % 64 === 0, `a buffer at ${offset}`); // L.file.alignment.buffers
        demand(offset + sizes[i] <= at, "a buffer after the file descriptor"); // L.file.pages.extent
      });
      const { name, value } = any(page.encoding, "page");
      demand(name === "lance.encodings21.PageLayout", `a page of ${name}`); // L.file.pages.type-url
      const data = offsets.map((offset, i) => slice(file, offset, sizes[i], "buffer"));
      return { rows, buffers: data, layout: message(value, LAYOUT) };
    });
  });
  return { version, length, fields, pages, file, dataEnd: at };
}
