// Compressive encodings (spec/31-codecs.md). A value is its bytes: Uint8Array, a boolean one byte 0 or 1, an item of a
// fixed-size list in an array of values, where null is null.

import { Unsupported, bit, demand, integer, integers, slice } from "./bytes.mjs";

export const MOST_BYTES = 2 ** 28; // limits of this reader: L.codec.limits.expansion
const MOST_DEPTH = 32; // L.codec.encoding.depth

// The arm of an encoding that is set, and what it holds.
function arm(encoding, places) {
  demand(encoding, "no encoding"); // L.codec.encoding.present
  const set = Object.entries(encoding);
  demand(set.length === 1, "an encoding of no arm"); // L.codec.encoding.present
  const [name, held] = set[0];
  demand(places.includes(name), `${name} in a place that does not allow it`); // L.codec.encoding.context
  demand(!held.data && !(name !== "fsst" && held.values?.scheme !== undefined), "a buffer with a compression of its own");
  return [name, held];
}

function flatBits(flat) {
  const bits = flat.bits ?? 0;
  demand(bits === 1 || (bits > 0 && bits % 8 === 0), `flat values of ${bits} bits`); // L.codec.flat.bits
  return bits;
}

function flatValues(bits, bytes, count) {
  demand(bytes.length === Math.ceil((bits * count) / 8), `${bytes.length} bytes for ${count} values of ${bits} bits`); // L.codec.flat.size
  if (bits === 1) return Array.from({ length: count }, (_, i) => Uint8Array.of(bit(bytes, i)));
  return Array.from({ length: count }, (_, i) => bytes.subarray((i * bits) / 8, ((i + 1) * bits) / 8));
}

// ---- Bitpacking ---------------------------------------------------------------------------------------------------

const ORDER = [0, 4, 2, 6, 1, 5, 3, 7];

function unpackBlock(typeBits, width, words) {
  const out = new Array(1024), lanes = 1024 / typeBits, size = typeBits / 8;
  const mask = (1n << BigInt(width)) - 1n;
  const word = (i) => {
    let value = 0n;
    for (let k = size - 1; k >= 0; k--) value = (value << 8n) | BigInt(words[i * size + k]);
    return value;
  };
  for (let lane = 0; lane < lanes; lane++)
    for (let row = 0; row < typeBits; row++) {
      let value = 0n;
      if (width > 0) {
        const at = Math.floor((row * width) / typeBits), shift = (row * width) % typeBits;
        value = word(at * lanes + lane) >> BigInt(shift);
        if (shift + width > typeBits) value |= word((at + 1) * lanes + lane) << BigInt(typeBits - shift);
      }
      const bytes = new Uint8Array(size);
      value &= mask;
      for (let k = 0; k < size; k++, value >>= 8n) bytes[k] = Number(value & 255n);
      out[ORDER[row >> 3] * 16 + (row % 8) * 128 + lane] = bytes;
    }
  return out;
}

function packedBits(bits) {
  demand([8, 16, 32, 64].includes(bits), `packed values of ${bits} bits`); // L.codec.bitpack.types
  return bits;
}

function inlineBitpacked(held, bytes, count) {
  const bits = packedBits(held.bits ?? 0);
  demand(count <= 1024, `${count} values packed inline`); // L.codec.bitpack.count
  const width = integer(bytes, 0, bits / 8, "width");
  demand(width <= bits, `a width of ${width}`); // L.codec.bitpack.width
  demand(bytes.length === bits / 8 + 128 * width, "a block of another size"); // L.codec.bitpack.payload
  return unpackBlock(bits, width, bytes.subarray(bits / 8)).slice(0, count);
}

function outOfLine(held, bytes, count) {
  const bits = packedBits(held.bits ?? 0);
  const width = held.values?.flat?.bits ?? 0;
  demand(held.values?.flat, "packed values that are not flat");
  demand(width <= bits, `a width of ${width}`); // L.codec.bitpack.width
  const whole = Math.floor(count / 1024), left = count % 1024, block = 128 * width, raw = (left * bits) / 8;
  const isRaw = left > 0 && bytes.length === whole * block + raw;
  const blocks = whole + (left > 0 && !isRaw ? 1 : 0);
  demand(isRaw || bytes.length === blocks * block, `${bytes.length} bytes packed out of line`); // L.codec.bitpack.out-of-line
  const out = [];
  for (let i = 0; i < blocks; i++) out.push(...unpackBlock(bits, width, bytes.subarray(i * block, (i + 1) * block)));
  if (isRaw) {
    const tail = flatValues(bits, bytes.subarray(whole * block), left);
    for (const value of tail) {
      let number = 0n;
      for (let k = value.length - 1; k >= 0; k--) number = (number << 8n) | BigInt(value[k]);
      demand(number >> BigInt(width) === 0n, "a raw value beyond the packed width"); // L.codec.bitpack.raw-tail
    }
    out.push(...tail);
  }
  return out.slice(0, count);
}

// ---- Runs ---------------------------------------------------------------------------------------------------------

function runs(held, values, lengths, count) {
  const flat = held.values?.flat, lengthBits = held.lengths?.flat?.bits;
  demand(flat && [8, 16, 32, 64].includes(flat.bits) && lengthBits === 8, "runs of other than flat values"); // L.codec.rle.children
  demand(values.length === (lengths.length * flat.bits) / 8, "a length for each run"); // L.codec.rle.pairs
  const of = flatValues(flat.bits, values, lengths.length), out = [];
  lengths.forEach((length, i) => {
    for (let k = 0; k < length && out.length < count; k++) out.push(of[i]);
  });
  demand(out.length === count, "runs of fewer values than there are"); // L.codec.rle.sum
  return out;
}

// ---- Compression of buffers ---------------------------------------------------------------------------------------

const LZ4 = 1, ZSTD = 2;

function lz4(bytes, size) {
  const out = new Uint8Array(size);
  let at = 0, end = 0;
  const length = (start) => {
    let found = start;
    if (start === 15)
      for (let more = 255; more === 255; ) {
        demand(at < bytes.length, "an lz4 block that ends early");
        found += more = bytes[at++];
      }
    return found;
  };
  while (at < bytes.length) {
    const token = bytes[at++];
    const literals = length(token >> 4);
    demand(at + literals <= bytes.length && end + literals <= size, "an lz4 block of another size");
    out.set(bytes.subarray(at, at + literals), end);
    (at += literals), (end += literals);
    if (at === bytes.length) break; // the last sequence is literals alone
    const back = integer(bytes, at, 2, "lz4 offset");
    at += 2;
    const repeat = length(token & 15) + 4;
    demand(back > 0 && back <= end && end + repeat <= size, "an lz4 block of another size");
    for (let k = 0; k < repeat; k++, end++) out[end] = out[end - back];
  }
  demand(end === size, `an lz4 block of ${end} bytes that says ${size}`); // L.codec.general.size
  return out;
}

function decompress(compression, bytes) {
  const scheme = compression?.scheme ?? 0;
  demand(scheme === LZ4 || scheme === ZSTD, `the scheme ${scheme}`); // L.codec.general.scheme
  if (scheme === ZSTD) throw new Unsupported("zstd"); // Node.js 20 has no zstd
  const size = integer(bytes, 0, 4, "size before an lz4 block");
  demand(size <= MOST_BYTES && size <= 255 * bytes.length, `${size} bytes out of ${bytes.length}`); // L.codec.limits.expansion
  return lz4(bytes.subarray(4), size);
}

// ---- FSST ---------------------------------------------------------------------------------------------------------

function symbols(table) {
  demand(table?.length === 2312, "a symbol table of another size"); // L.codec.fsst.table
  demand(integer(table, 4, 4, "magic") === 0x46535354, "a symbol table without its magic");
  const count = table[0];
  const all = Array.from({ length: count }, (_, i) => {
    const size = table[8 + 8 * count + i];
    demand(size >= 1 && size <= 8, `a symbol of ${size} bytes`);
    return table.subarray(8 + 8 * i, 8 + 8 * i + size);
  });
  return { all, isOn: (table[3] & 1) === 1 };
}

function fsst({ all, isOn }, codes) {
  if (!isOn) return codes;
  const out = [];
  for (let at = 0; at < codes.length; at++) {
    if (codes[at] === 255) {
      demand(at + 1 < codes.length, "a value that ends after an escape"); // L.codec.fsst.escape
      out.push(codes[++at]);
    } else {
      demand(codes[at] < all.length, `the code ${codes[at]}`); // L.codec.fsst.code
      out.push(...all[codes[at]]);
    }
  }
  return Uint8Array.from(out);
}

// ---- Variable values ----------------------------------------------------------------------------------------------

// What the values of an encoding are: fixed, variable, list or packed.
export function kindOf(encoding, depth = 0) {
  demand(encoding && depth < MOST_DEPTH, "no encoding");
  const [[name, held] = []] = Object.entries(encoding);
  if (name === "general") return kindOf(held.values, depth + 1);
  if (["variable", "fsst"].includes(name)) return "variable";
  return { fixedSizeList: "fixedSizeList", packedStruct: "packed", variablePackedStruct: "packed" }[name] ?? "fixed";
}

function offsetBits(held) {
  const bits = held.offsets?.flat?.bits;
  demand(bits === 32 || bits === 64, "offsets that are not flat");
  return bits;
}

function cut(bytes, offsets, start) {
  offsets.forEach((offset, i) => {
    demand(offset >= (i ? offsets[i - 1] : start) && offset <= bytes.length, "offsets that fall or leave the buffer"); // L.codec.variable.offsets
  });
  demand(offsets[0] === start, "offsets that begin elsewhere");
  return offsets.slice(1).map((end, i) => bytes.subarray(offsets[i], end));
}

function variableInChunk(held, bytes, count) {
  const width = offsetBits(held) / 8;
  const table = slice(bytes, 0, width * (count + 1), "offsets"); // L.codec.variable.table
  return cut(bytes, integers(table, width, count + 1, "offsets"), table.length);
}

function variableBlock(held, bytes, count) {
  offsetBits(held);
  let bits = integer(bytes, 0, 4, "header"), width = bits / 8, start, head;
  if (bits > 255) { // the old header: u8 bits, u32 count, u32 start
    (bits = bytes[0]), (width = bits / 8), (head = 9), (start = integer(bytes, 5, 4, "header"));
    demand(integer(bytes, 1, 4, "header") === count, "a header of another count");
  } else (head = 4 + width), (start = integer(bytes, 4, bits === 64 ? 8 : 4, "header"));
  demand(bits === 32 || bits === 64, `offsets of ${bits} bits`); // L.codec.variable.header
  demand(start === head + width * (count + 1), "bytes that begin elsewhere");
  const offsets = integers(slice(bytes, head, width * (count + 1), "offsets"), width, count + 1, "offsets");
  return cut(bytes.subarray(start), offsets, 0);
}

// ---- The three places ---------------------------------------------------------------------------------------------

const CHUNK = ["flat", "variable", "inline", "fsst", "rle", "byteStreamSplit", "general", "fixedSizeList", "packedStruct"];

// Number of value buffers of a chunk (L.page.miniblock.num-buffers).
export function countBuffers(encoding) {
  const [name, held] = arm(encoding, [...CHUNK, "constant"]);
  if (name === "rle") return 2;
  if (name === "constant") return 0;
  if (name === "fixedSizeList") return (held.hasValidity ? 1 : 0) + countBuffers(held.values);
  return ["fsst", "general"].includes(name) ? countBuffers(held.values) : 1;
}

// The values of a chunk; `take` gives its buffers one after the other.
export function chunk(encoding, take, count, depth = 0, places = CHUNK) {
  demand(depth < MOST_DEPTH, "encodings nested too deep");
  const [name, held] = arm(encoding, places);
  if (name === "flat") return flatValues(flatBits(held), take(), count);
  if (name === "variable") return variableInChunk(held, take(), count);
  if (name === "inline") return inlineBitpacked(held, take(), count);
  if (name === "rle") return runs(held, take(), take(), count);
  if (name === "fsst") {
    const table = symbols(held.table);
    return chunk(held.values, take, count, depth + 1, ["variable"]).map((codes) => fsst(table, codes));
  }
  if (name === "byteStreamSplit") {
    const bits = flatBits(held.values?.flat ?? {}), bytes = take(), width = bits / 8;
    demand(bits % 8 === 0 && bytes.length === width * count, "streams of another size"); // L.codec.byte-stream-split.size
    return Array.from({ length: count }, (_, j) => Uint8Array.from({ length: width }, (_, i) => bytes[i * count + j]));
  }
  if (name === "general") {
    let first = true;
    const taken = () => (first ? ((first = false), decompress(held.compression, take())) : take());
    return chunk(held.values, taken, count, depth + 1);
  }
  if (name === "packedStruct") return flatValues(rowBits(held), take(), count);
  if (name === "constant") return new Array(count).fill(null);
  const items = listItems(held, count);
  const bitmap = held.hasValidity ? take() : null;
  if (bitmap) demand(bitmap.length === Math.ceil((count * items) / 8), "a bitmap of another size"); // L.codec.fixed-size-list.bitmap
  const found = chunk(held.values, take, count * items, depth + 1, [...CHUNK, "constant"]);
  return grouped(found, items, bitmap && ((i) => bit(bitmap, i)), held);
}

function listItems(held, count) {
  const items = held.items ?? 0;
  demand(items >= 1, "a fixed-size list of no items"); // L.codec.fixed-size-list.items
  demand(items * count <= MOST_BYTES, `${count} lists of ${items} items`); // L.codec.limits.expansion
  return items;
}

function grouped(values, items, isValid, held) {
  if (held.values?.constant) {
    demand(isValid && held.values.constant.value === undefined, "null items with a value, or no bitmap"); // L.codec.fixed-size-list.all-null
    values.forEach((_, i) => demand(!isValid(i), "a valid item that has no value"));
  }
  const shown = isValid ? values.map((value, i) => (isValid(i) ? value : null)) : values;
  return Array.from({ length: values.length / items }, (_, i) => shown.slice(i * items, (i + 1) * items));
}

function rowBits(held) {
  const bits = held.bits.reduce((sum, one) => sum + one, 0);
  demand(held.bits.every((one) => one > 0 && one % 8 === 0) && flatBits(held.values?.flat ?? {}) === bits, "fields that do not fill their row"); // L.codec.packed-struct.bits
  return bits;
}

// One buffer of levels or dictionary items. Runs are in these, in those from 2.2 on.
export function block(encoding, bytes, count, hasRuns, depth = 0) {
  demand(depth < MOST_DEPTH, "encodings nested too deep");
  const places = ["flat", "variable", "inline", "outOfLine", "general", "fixedSizeList", ...(hasRuns ? ["rle"] : [])];
  const [name, held] = arm(encoding, places);
  if (name === "flat") return flatValues(flatBits(held), bytes, count);
  if (name === "variable") return variableBlock(held, bytes, count);
  if (name === "inline") return inlineBitpacked(held, bytes, count);
  if (name === "outOfLine") return outOfLine(held, bytes, count);
  if (name === "general") return block(held.values, decompress(held.compression, bytes), count, hasRuns, depth + 1);
  if (name === "rle") {
    const size = integer(bytes, 0, 8, "size of the values"); // L.codec.rle.frame
    return runs(held, slice(bytes, 8, size, "values"), bytes.subarray(8 + size), count);
  }
  const size = zippedBytes(encoding);
  demand(bytes.length === size * count, "values of another size"); // L.codec.fixed-size-list.size
  return Array.from({ length: count }, (_, i) => zippedValue(encoding, bytes.subarray(i * size, (i + 1) * size)));
}

// 16-bit levels; absent levels are all 0. The number of levels was held against the bytes by the caller or the limit.
export function levels(encoding, bytes, count, version) {
  if (!encoding) return new Array(count).fill(0);
  const bitsOf = ({ flat, outOfLine: packed, inline, general, rle }) =>
    flat?.bits ?? packed?.bits ?? inline?.bits ?? (general ? bitsOf(general.values ?? {}) : rle?.values?.flat?.bits);
  demand(bitsOf(encoding) === 16, "levels that have not 16 bits"); // L.codec.encoding.levels
  return block(encoding, bytes, count, version !== "2.1").map((value) => value[0] | (value[1] << 8));
}

const ZIPPED = ["flat", "fixedSizeList", "packedStruct"];

// Bytes of one value of fixed width in a full-zip entry.
export function zippedBytes(encoding, depth = 0, places = ZIPPED) {
  demand(depth < MOST_DEPTH, "encodings nested too deep");
  const [name, held] = arm(encoding, places);
  if (name === "constant") return 0;
  if (name === "packedStruct") return rowBits(held) / 8;
  if (name === "flat") {
    flatBits(held);
    return held.bits / 8;
  }
  const items = listItems(held, 1);
  const bytes = items * zippedBytes(held.values, depth + 1, [...ZIPPED, "constant"]);
  demand(Number.isInteger(bytes), "items that do not fill bytes"); // L.codec.fixed-size-list.whole-bytes
  return (held.hasValidity ? bitmapBytes(held) : 0) + bytes;
}

const bitmapBytes = (held) => Math.ceil(held.items / 8);

// One value of fixed width: bitmaps of all levels from the outermost, then the items.
export function zippedValue(encoding, bytes) {
  const [name, held] = arm(encoding, [...ZIPPED, "constant"]);
  if (name !== "fixedSizeList") return name === "constant" ? null : bytes;
  const levelsOf = [];
  let inner = encoding;
  for (let count = 1; inner.fixedSizeList; inner = inner.fixedSizeList.values) {
    count *= inner.fixedSizeList.items;
    levelsOf.push({ held: inner.fixedSizeList, count });
  }
  let at = 0;
  for (const level of levelsOf) {
    if (!level.held.hasValidity) continue;
    const size = Math.ceil(level.count / 8), bitmap = bytes.subarray(at, at + size);
    level.isValid = (i) => bit(bitmap, i);
    at += size;
  }
  const { count } = levelsOf[levelsOf.length - 1];
  let values = inner.constant ? new Array(count).fill(null) : flatValues(flatBits(inner.flat ?? {}), bytes.subarray(at), count);
  for (const level of levelsOf.reverse()) values = grouped(values, level.held.items, level.isValid, level.held);
  return values[0];
}

// One value of variable width after its length.
export function variableValue(encoding, bytes, depth = 0) {
  demand(depth < MOST_DEPTH, "encodings nested too deep");
  const [name, held] = arm(encoding, ["variable", "fsst", "general", "variablePackedStruct"]);
  if (name === "fsst") return fsst(symbols(held.table), variableValue(held.values, bytes, depth + 1));
  if (name === "general") return variableValue(held.values, decompress(held.compression, bytes), depth + 1);
  if (name === "variablePackedStruct") throw new Unsupported("variable_packed_struct");
  return bytes;
}
