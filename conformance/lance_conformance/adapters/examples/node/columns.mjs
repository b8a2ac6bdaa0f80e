// Columns of a file put together to rows of its fields: leaves of one field agree on the structure above them.

import { Unsupported, demand } from "./bytes.mjs";
import { columnRows } from "./pages.mjs";
import { isLeafField, leavesOf } from "./types.mjs";

// The value of a field in a row, out of those that its leaves give. A struct becomes {fields: [value, ...]}.
function merge(field, found) {
  if (isLeafField(field)) return field.type.kind === "struct" && !field.isPacked && found[0] !== null ? { fields: [] } : found[0];
  const isNull = found[0] === null;
  demand(found.every((one) => (one === null) === isNull), "columns that do not agree on what is null"); // L.page.siblings.validity
  if (isNull) return null;
  if (field.type.kind === "struct") {
    let next = 0;
    const inner = found.map(({ child }) => child);
    return { fields: field.children.map((child) => merge(child, inner.slice(next, (next += leavesOf(child).length)))) };
  }
  demand(found.every((one) => one.length === found[0].length), "columns that do not agree on a list"); // L.page.siblings.offsets
  return found[0].map((_, i) => merge(field.children[0], found.map((one) => one[i])));
}

function checkNulls(field, value) {
  if (value === null) return demand(field.nullable, `a null in ${field.name}`); // L.page.required.null
  if (field.type.kind === "struct" && !field.isPacked) field.children.forEach((child, i) => checkNulls(child, value.fields[i]));
  if (field.type.kind === "list") value.forEach((item) => checkNulls(field.children[0], item));
}

// A packed row cut into its fields (`packed_struct`): bytes in field order, without padding.
function unpacked(field, value) {
  if (value === null) return null;
  let at = 0;
  const fields = field.children.map(({ type }) => {
    if (type.kind !== "fixed") throw new Unsupported("packed_struct");
    const size = Math.ceil(type.bits / 8);
    return value.subarray(at, (at += size));
  });
  demand(at === value.length, "fields that do not fill their row"); // L.codec.packed-struct.bits
  return { fields };
}

// The rows of every top-level field.
export function read(opened) {
  let next = 0;
  return opened.fields.map((field) => {
    const paths = leavesOf(field);
    const found = paths.map((path) => columnRows(path, opened.pages[next++], opened));
    demand(found.every(({ length }) => length === found[0].length), "columns of one field with other rows"); // L.page.siblings.rows
    demand(found[0].length === opened.length, `${found[0].length} rows of ${opened.length}`); // L.file.descriptor.length
    const rows = found[0].map((_, row) => merge(field, found.map((one) => one[row])));
    rows.forEach((value) => checkNulls(field, value));
    return field.isPacked ? rows.map((value) => unpacked(field, value)) : rows;
  });
}
