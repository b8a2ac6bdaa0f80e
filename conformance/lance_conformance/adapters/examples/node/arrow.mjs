// An Arrow IPC file of one record batch, written by hand: of values as columns.mjs gives them.

import { Builder } from "./flatbuffer.mjs";

const V5 = 4, SCHEMA = 1, RECORD_BATCH = 3;
const UNITS = { s: 0, ms: 1, us: 2, ns: 3 };
const NAMES = {
  null: 1, Int: 2, FloatingPoint: 3, binary: 4, string: 5, bool: 6, decimal: 7, date: 8, time: 9, timestamp: 10, list: 12,
  struct: 13, fixed_size_binary: 15, fixed_size_list: 16, map: 17, duration: 18, large_binary: 19, large_string: 20,
  large_list: 21, json: 19,
};

// The union member of a type, and its fields.
function typeOf(type) {
  const { name, bits } = type, integer = /^(u?)int/.exec(name);
  if (integer) return [NAMES.Int, { 0: [4, bits], 1: [1, integer[1] ? 0 : 1] }];
  if (["halffloat", "float", "double"].includes(name)) return [NAMES.FloatingPoint, { 0: [2, { 16: 0, 32: 1, 64: 2 }[bits]] }];
  if (name === "decimal") return [NAMES.decimal, { 0: [4, type.precision], 1: [4, type.scale], 2: [4, bits] }];
  if (name === "date32" || name === "date64") return [NAMES.date, { 0: [2, bits === 32 ? 0 : 1] }];
  if (name === "time32" || name === "time64") return [NAMES.time, { 0: [2, UNITS[type.unit]], 1: [4, bits] }];
  if (name === "timestamp") return [NAMES.timestamp, { 0: [2, UNITS[type.unit]], ...(type.zone === "-" ? {} : { 1: ["text", type.zone] }) }];
  if (name === "duration") return [NAMES.duration, { 0: [2, UNITS[type.unit]] }];
  if (name === "fixed_size_binary") return [NAMES.fixed_size_binary, { 0: [4, type.bytes] }];
  if (name === "lance.bfloat16") return [NAMES.fixed_size_binary, { 0: [4, 2] }];
  if (name === "fixed_size_list") return [NAMES.fixed_size_list, { 0: [4, type.dimension] }];
  if (name === "map") return [NAMES.map, { 0: [1, 0] }];
  return [NAMES[name], {}];
}

// Children of a field; the item of a fixed-size list has no field of its own.
const childrenOf = ({ type, children }) =>
  type.kind === "fixedSizeList" && type.item ? [{ name: "item", nullable: true, type: type.item, children: [] }] : children;

function fieldTable(builder, field) {
  const children = builder.vector(childrenOf(field).map((child) => fieldTable(builder, child)));
  const name = builder.string(field.name), [union, fields] = typeOf(field.type);
  for (const value of Object.values(fields)) if (value[0] === "text") value.splice(0, 2, "place", builder.string(value[1]));
  const type = builder.table(fields);
  return builder.table({ 0: ["place", name], 1: [1, field.nullable ? 1 : 0], 2: [1, union], 3: ["place", type], 5: ["place", children] });
}

const schemaTable = (builder, fields) =>
  builder.table({ 0: [2, 0], 1: ["place", builder.vector(fields.map((field) => fieldTable(builder, field)))] });

// Nodes and buffers of a column, depth first.
function collect(field, values, nodes, buffers) {
  const { type } = field, count = values.length, isNull = (value) => value === null || value === undefined;
  const nulls = type.kind === "null" ? count : values.filter(isNull).length;
  nodes.push([[8, count], [8, nulls]]);
  if (type.kind === "null") return;
  buffers.push(nulls ? bitmap(values.map((value) => !isNull(value))) : new Uint8Array());
  if (type.kind === "fixed" && type.bits === 1) return void buffers.push(bitmap(values.map((value) => !isNull(value) && value[0] === 1)));
  if (type.kind === "fixed") {
    const width = type.bits / 8, data = new Uint8Array(width * count);
    values.forEach((value, i) => isNull(value) || data.set(value, i * width));
    return void buffers.push(data);
  }
  const children = childrenOf(field);
  if (type.kind === "struct") {
    return children.forEach((child, i) => collect(child, values.map((value) => (isNull(value) ? null : value.fields[i])), nodes, buffers));
  }
  if (type.kind === "fixedSizeList") {
    const items = values.flatMap((value) => (isNull(value) ? new Array(type.dimension).fill(null) : value));
    return collect(children[0], items, nodes, buffers);
  }
  const isLarge = type.kind === "variable" ? type.width === 64 : type.name === "large_list";
  const ends = new (isLarge ? BigInt64Array : Int32Array)(count + 1);
  let end = 0;
  values.forEach((value, i) => {
    if (!isNull(value)) end += value.length;
    ends[i + 1] = isLarge ? BigInt(end) : end;
  });
  buffers.push(new Uint8Array(ends.buffer));
  const present = values.filter((value) => !isNull(value));
  if (type.kind === "variable") buffers.push(new Uint8Array(Buffer.concat(present)));
  else collect(children[0], present.flat(1), nodes, buffers);
}

function bitmap(flags) {
  const bytes = new Uint8Array(Math.ceil(flags.length / 8));
  flags.forEach((flag, i) => flag && (bytes[i >> 3] |= 1 << (i & 7)));
  return bytes;
}

const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 7)]);

function framed(build, header, bodyLength = 0) {
  const builder = new Builder(), place = build(builder);
  const message = builder.finish(builder.table({ 0: [2, V5], 1: [1, header], 2: ["place", place], 3: [8, bodyLength] }));
  const bytes = padded(message), prefix = Buffer.alloc(8);
  prefix.writeInt32LE(-1, 0);
  prefix.writeInt32LE(bytes.length, 4);
  return Buffer.concat([prefix, bytes]);
}

export function arrowFile(fields, columns, length) {
  const nodes = [], buffers = [];
  fields.forEach((field, i) => collect(field, columns[i], nodes, buffers));
  const body = buffers.map(padded);
  let at = 0;
  const places = body.map((bytes, i) => [[8, (at += bytes.length) - bytes.length], [8, buffers[i].length]]);
  const schema = framed((builder) => schemaTable(builder, fields), SCHEMA);
  const batch = framed((builder) => {
    const [nodeVector, bufferVector] = [builder.structs(nodes), builder.structs(places)];
    return builder.table({ 0: [8, length], 1: ["place", nodeVector], 2: ["place", bufferVector] });
  }, RECORD_BATCH, at);
  const magic = Buffer.from("ARROW1\0\0", "latin1"), start = magic.length + schema.length;
  const builder = new Builder(), table = schemaTable(builder, fields);
  const [dictionaries, batches] = [builder.structs([]), builder.structs([[[8, start], [4, batch.length], [4, 0], [8, at]]])];
  const footer = builder.finish(builder.table({ 0: [2, V5], 1: ["place", table], 2: ["place", dictionaries], 3: ["place", batches] }));
  const end = Buffer.alloc(8), size = Buffer.alloc(4);
  end.writeInt32LE(-1, 0);
  size.writeInt32LE(footer.length, 0);
  return Buffer.concat([magic, schema, batch, ...body, end, footer, size, Buffer.from("ARROW1", "latin1")]);
}
