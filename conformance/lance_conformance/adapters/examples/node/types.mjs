// Types of fields (spec/10-file-container.md, Schema): what a logical type says, and which columns a field owns.
//
// A parsed type is {name, kind, bits, ...}; kinds are null, fixed (bits a value), variable (width of offsets), struct, list,
// map and fixedSizeList (dimension, and an item type or, of structs, a child field). `isPacked` and `isBlob` come from metadata.

import { Unsupported, demand } from "./bytes.mjs";

const FIXED = {
  int8: 8, int16: 16, int32: 32, int64: 64, uint8: 8, uint16: 16, uint32: 32, uint64: 64, bool: 1, halffloat: 16, float: 32,
  double: 64, "date32:day": 32, "date64:ms": 64, "time32:s": 32, "time32:ms": 32, "time64:us": 64, "time64:ns": 64,
  "duration:s": 64, "duration:ms": 64, "duration:us": 64, "duration:ns": 64, "lance.bfloat16": 16,
};
const VARIABLE = { string: 32, binary: 32, large_string: 64, large_binary: 64, json: 64 };

// The first part after the name is the unit, the last one the dimension; a zone or an item may hold colons.
function parse(logicalType) {
  const [name, ...rest] = logicalType.split(":");
  if (logicalType in FIXED) return { name, unit: rest[0], kind: "fixed", bits: FIXED[logicalType] };
  if (logicalType in VARIABLE) return { name, kind: "variable", width: VARIABLE[logicalType] };
  if (logicalType === "null" || logicalType === "struct" || logicalType === "map") return { name, kind: name };
  if (/^(large_)?list(\.struct)?$/.test(logicalType)) return { name: name.split(".")[0], kind: "list" };
  const count = (word) => (demand(/^-?\d{1,9}$/.test(word ?? ""), `the type ${logicalType}`), Number(word));
  if (name === "timestamp" && ["s", "ms", "us", "ns"].includes(rest[0]) && rest.length > 1)
    return { name, unit: rest[0], zone: rest.slice(1).join(":"), kind: "fixed", bits: 64 };
  if (name === "decimal" && ["128", "256"].includes(rest[0]))
    return { name, precision: count(rest[1]), scale: count(rest[2]), kind: "fixed", bits: Number(rest[0]) };
  if (name === "fixed_size_binary") return { name, bytes: count(rest[0]), kind: "fixed", bits: 8 * count(rest[0]) };
  if (name === "fixed_size_list") {
    const dimension = count(rest[rest.length - 1]), item = rest.slice(0, -1).join(":");
    demand(dimension >= 1 || item !== "struct", "a fixed-size list of structs of no dimension"); // L.page.layers.dimension
    return { name, kind: "fixedSizeList", dimension, item: item === "struct" ? null : parse(item) };
  }
  if (name === "dict" && rest.length === 3) {
    const keys = parse(rest[1]);
    demand(keys.kind === "fixed" && /^u?int/.test(keys.name), `keys of ${rest[1]}`);
    return { ...parse(rest[0]), keyBits: keys.bits };
  }
  demand(false, `the type ${logicalType}`); // L.file.schema.logical-type
}

export function parseType(field, version) {
  field.type = parse(field.logicalType);
  const { kind, item } = field.type;
  const says = (...keys) => keys.map((key) => field.metadata.get(key)).find((told) => told !== undefined)?.toLowerCase() === "true";
  field.isPacked = kind === "struct" && says("packed", "lance-encoding:packed");
  field.isBlob = kind === "variable" && says("lance-encoding:blob");
  const wanted = { list: 1, map: 1, fixedSizeList: item === null ? 1 : 0 }[kind];
  if (kind !== "struct") demand(field.children.length === (wanted ?? 0), `${field.children.length} children of a ${kind}`); // L.file.schema.children
  field.children.forEach((child) => parseType(child, version));
  if (kind === "map") {
    const [entries] = field.children;
    const isPair = entries.type.kind === "struct" && entries.children.length === 2 && !entries.children[0].nullable;
    demand(isPair, "a map without a struct of key and value");
  }
  if (version === "2.1") demand(kind !== "map" && !(kind === "fixedSizeList" && item === null), `${kind} before 2.2`);
  if (kind === "struct" && field.metadata.has("ARROW:extension:name") && field.metadata.get("ARROW:extension:name") === "lance.blob.v2")
    throw new Unsupported("blob");
}

const isLeaf = ({ type, isPacked, children }) =>
  isPacked || ["null", "fixed", "variable"].includes(type.kind) || (type.kind === "struct" && children.length === 0) ||
  (type.kind === "fixedSizeList" && type.item !== null);

// The leaves of a field, each with the path of fields to it, outermost first.
export function leavesOf(field, path = []) {
  const here = [...path, field];
  return isLeaf(field) ? [here] : field.children.flatMap((child) => leavesOf(child, here));
}

export const isLeafField = isLeaf;

// Bits of a value of a leaf that has a fixed width, as it lies in a chunk; null of others.
export function bitsOf(type) {
  if (type.kind === "fixed") return type.bits;
  if (type.kind !== "fixedSizeList") return null;
  const item = bitsOf(type.item);
  return item === null ? null : item * type.dimension;
}
