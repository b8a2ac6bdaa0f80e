// Bytes of a file that are not trusted: every read is checked against what is there, and what is wrong is a Refusal.

export class Refusal extends Error {}
export class Unsupported extends Error {}

export function demand(holds, message) {
  if (!holds) throw new Refusal(message);
}

// `size` bytes from `start`; both may be of any size that a file states.
export function slice(bytes, start, size, what) {
  demand(start >= 0 && size >= 0 && start + size <= bytes.length, `${what}: ${size} bytes at ${start} of ${bytes.length}`);
  return bytes.subarray(start, start + size);
}

// A little-endian unsigned integer of `width` bytes as a number; beyond 2^53 it is no size of anything.
export function integer(bytes, at, width, what) {
  const found = slice(bytes, at, width, what);
  let value = 0;
  for (let i = width - 1; i >= 0; i--) value = value * 256 + found[i];
  demand(value <= Number.MAX_SAFE_INTEGER, `${what}: ${value} is more than there is`);
  return value;
}

export function integers(bytes, width, count, what) {
  demand(bytes.length === width * count, `${what}: ${bytes.length} bytes for ${count} integers of ${width}`);
  return Array.from({ length: count }, (_, i) => integer(bytes, i * width, width, what));
}

export const bit = (bytes, i) => (bytes[i >> 3] >> (i & 7)) & 1;

// ---- Protocol buffers (chapter 10, Messages) ---------------------------------------------------------------------

function varint(bytes, at) {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    demand(at + i < bytes.length, "a varint ends outside its message");
    value |= BigInt(bytes[at + i] & 127) << BigInt(7 * i);
    if (bytes[at + i] < 128) return [BigInt.asUintN(64, value), at + i + 1];
  }
  throw new Refusal("a varint of more than ten bytes");
}

const VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5;
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8(bytes, what) {
  try {
    return text.decode(bytes);
  } catch {
    throw new Refusal(`${what} is not UTF-8`);
  }
}

function scalar(kind, value) {
  if (kind === "bool") return value !== 0n;
  if (kind === "i32") return Number(BigInt.asIntN(32, value));
  if (kind === "u32") return Number(BigInt.asUintN(32, value));
  if (kind === "u64") return Number(value); // positions and counts: exact up to 2^53, and refused above where they are used
  return value; // "big"
}

// A message by its description `{number: [name, kind]}`: kind is bool, i32, u32, u64, string, bytes or another
// description, in a list where the field is repeated. Unknown numbers are passed over (L.wire.unknown-field); a known
// number with another wire type is damage (L.wire.message).
export function message(bytes, fields, depth = 0) {
  demand(depth < 64, "messages nested too deep");
  const found = {};
  for (const [name, kind] of Object.values(fields)) if (Array.isArray(kind)) found[name] = [];
  for (let at = 0; at < bytes.length; ) {
    let tag, value;
    [tag, at] = varint(bytes, at);
    const number = Number(tag >> 3n), wire = Number(tag & 7n);
    demand(number > 0, "a field of number 0");
    if (wire === VARINT) [value, at] = varint(bytes, at);
    else if (wire === FIXED64) (value = slice(bytes, at, 8, "a field")), (at += 8);
    else if (wire === FIXED32) (value = slice(bytes, at, 4, "a field")), (at += 4);
    else if (wire === BYTES) {
      let size;
      [size, at] = varint(bytes, at);
      value = slice(bytes, at, Number(size), "a field");
      at += Number(size);
    } else throw new Refusal(`wire type ${wire}`);
    if (!(number in fields)) continue;
    const [name, kind] = fields[number];
    const one = Array.isArray(kind) ? kind[0] : kind;
    const numeric = ["bool", "i32", "u32", "u64", "big"].includes(one);
    const add = (item) => (Array.isArray(kind) ? found[name].push(item) : (found[name] = item));
    if (numeric && wire === BYTES && Array.isArray(kind)) {
      for (let i = 0; i < value.length; ) {
        let item;
        [item, i] = varint(value, i);
        add(scalar(one, item));
      }
      continue;
    }
    demand(wire === (numeric ? VARINT : BYTES), `field ${name} has wire type ${wire}`);
    if (numeric) add(scalar(one, value));
    else if (one === "string") add(utf8(value, name));
    else if (one === "bytes") add(value);
    else {
      const inner = message(value, typeof one === "function" ? one() : one, depth + 1);
      // A message that comes twice is merged field by field.
      if (!Array.isArray(kind) && found[name]) Object.assign(found[name], inner);
      else add(inner);
    }
  }
  return found;
}
