// Page layouts of 2.1 and 2.2 (spec/30-pages-2.1.md): from the buffers of a page to its entries (levels and values),
// and from entries to rows.

import { Unsupported, demand, integer, integers, slice, utf8 } from "./bytes.mjs";
import { block, chunk, countBuffers, kindOf, levels, variableValue, zippedBytes, zippedValue } from "./codecs.mjs";

const MOST_LEVELS = 2 ** 22; // limits of this reader: L.page.limits.items, L.page.limits.levels
const ITEM = 1, LIST = 2, NULLABLE_ITEM = 3, NULLABLE_LIST = 4, EMPTY_LIST = 5, NULL_OR_EMPTY_LIST = 6;
const isListCode = (code) => code === LIST || code >= NULLABLE_LIST;

// The layers of a page from the leaf outward, with the definition levels that mean null and empty (0: none does).
function numbered(codes, path) {
  demand(codes.length > 0, "a page without layers"); // L.page.layers.present
  let next = 1, visible = null;
  const layers = codes.map((code) => {
    demand(code >= 1 && code <= 6, `the layer ${code}`); // L.page.layers.code
    const isList = isListCode(code);
    if (isList && visible === null) visible = next - 1;
    const nulls = [NULLABLE_ITEM, NULLABLE_LIST, NULL_OR_EMPTY_LIST].includes(code) ? next++ : 0;
    const empties = [EMPTY_LIST, NULL_OR_EMPTY_LIST].includes(code) ? next++ : 0;
    return { isList, nulls, empties };
  });
  // L.page.layers.path: one item or list layer for each step; a map is its list and its entries.
  const steps = path.map((field) => ["list", "map"].includes(field.type.kind)).reverse();
  demand(steps.length === layers.length && steps.every((isList, i) => isList === layers[i].isList), "layers of another path");
  const numLists = layers.filter(({ isList }) => isList).length;
  return { layers, numLists, highest: next - 1, visible: visible === null || numLists === 0 ? next - 1 : visible };
}

function checkLevels({ highest, numLists, visible }, rep, def) {
  let count = 0;
  for (let i = 0; i < def.length; i++) {
    demand(rep[i] <= numLists, `the repetition level ${rep[i]}`); // L.page.levels.rep-range
    demand(def[i] <= highest, `the definition level ${def[i]}`); // L.page.levels.def-range
    count += def[i] <= visible;
  }
  return count;
}

// ---- The kinds of layout: each gives {rep, def, values}, a value for each visible entry ------------------------------

function miniBlock(layout, page, shape, leaf, version) {
  const { buffers } = page, { numLists } = shape, numItems = layout.numItems ?? 0;
  demand(layout.values, "a mini-block page without values"); // L.page.miniblock.values-present
  demand((layout.large ?? false) === (version !== "2.1"), "has_large_chunk of another version"); // L.page.miniblock.large-chunk
  demand((layout.rep !== undefined) === numLists > 0, "repetition levels without lists, or lists without"); // L.page.miniblock.repetition
  const numBuffers = countBuffers(layout.values);
  demand((layout.numBuffers ?? 0) === numBuffers, `${layout.numBuffers} buffers of values`); // L.page.miniblock.num-buffers
  const hasDictionary = layout.dictionary !== undefined;
  demand(buffers.length === 2 + hasDictionary + (numLists > 0), `${buffers.length} buffers`); // L.page.miniblock.buffers
  demand(numItems <= MOST_LEVELS, `${numItems} items`); // L.page.limits.items
  const wordBytes = version === "2.1" ? 2 : 4;
  demand(buffers[0].length % wordBytes === 0, "a chunk table of another size"); // L.page.miniblock.table-size
  const words = integers(buffers[0], wordBytes, buffers[0].length / wordBytes, "chunk table");
  const rep = [], def = [], values = [];
  let at = 0, items = 0;
  words.forEach((word, i) => {
    const log = word & 15, size = (Math.floor(word / 16) + 1) * 8, isLast = i === words.length - 1;
    if (!isLast) demand(log >= 1 && log <= 15, `a log of ${log}`); // L.page.miniblock.log
    const count = isLast ? numItems - items : 2 ** log;
    if (isLast) demand(log === 0 || 2 ** log === count, "a last log of other values"); // L.page.miniblock.last-log
    demand(count >= 0 && count <= 32768 && items + count <= numItems, "items that are not those of the chunks"); // L.page.miniblock.num-items
    const found = oneChunk(layout, slice(buffers[1], at, size, "chunk"), count, numBuffers, shape, version, leaf);
    rep.push(...found.rep), def.push(...found.def), values.push(...found.values);
    (at += size), (items += count);
  });
  demand(at === buffers[1].length, "chunks of another size"); // L.page.miniblock.chunk-bytes
  demand(items === numItems, `${numItems} items in no chunk`);
  if (!hasDictionary) return { rep, def, values };
  const numDictionary = layout.dictionaryItems ?? 0;
  demand(numDictionary <= MOST_LEVELS, `${numDictionary} items of a dictionary`);
  const dictionary = block(layout.dictionary, buffers[2], numDictionary, true);
  demand(dictionary.length === numDictionary, "another number of items"); // L.page.dictionary.num-items
  demand(kindOf(layout.values) === "fixed", "lists or strings where indices belong"); // L.page.dictionary.index-width
  const bits = 8 * (values[0]?.length ?? 4);
  demand([8, 16, 32, 64].includes(bits), `indices of ${bits} bits`); // L.page.dictionary.index-width
  if (leaf.type.keyBits && values.length) demand(bits === leaf.type.keyBits, "indices of another width than the keys"); // L.page.dictionary.key-width
  const looked = values.map((value) => {
    const index = integer(value, 0, value.length, "index");
    demand(index < numDictionary, `the index ${index} of ${numDictionary} items`); // L.page.dictionary.index-range
    return dictionary[index];
  });
  return { rep, def, values: looked };
}

function oneChunk(layout, bytes, count, numBuffers, shape, version, leaf) {
  const sizeBytes = version === "2.1" ? 2 : 4;
  let at = 0;
  const number = (width) => integer(bytes, (at += width) - width, width, "chunk header"); // L.page.miniblock.chunk-header
  const numLevels = number(2);
  const repSize = layout.rep ? number(2) : 0, defSize = layout.def ? number(2) : 0;
  const sizes = Array.from({ length: numBuffers }, () => number(sizeBytes));
  const next = (size) => {
    at = Math.ceil(at / 8) * 8;
    return slice(bytes, (at += size) - size, size, "chunk buffer");
  };
  const hasLevels = layout.rep !== undefined || layout.def !== undefined;
  const isRight = !hasLevels ? numLevels === 0 : shape.numLists ? numLevels >= count : numLevels === count;
  demand(isRight, `${numLevels} levels for ${count} values`); // L.page.miniblock.num-levels
  const rep = levels(layout.rep, layout.rep ? next(repSize) : null, hasLevels ? numLevels : count, version);
  const def = levels(layout.def, layout.def ? next(defSize) : null, hasLevels ? numLevels : count, version);
  const held = sizes.map(next);
  const values = chunk(layout.values, () => held.shift(), count);
  demand(Math.ceil(at / 8) * 8 === bytes.length, "buffers that do not fill their chunk"); // L.page.miniblock.chunk-fill
  demand(checkLevels(shape, rep, def) === count, "values that are not those of the levels"); // L.page.miniblock.visible
  return { rep, def, values };
}

function fullZip(layout, page, shape, version) {
  const { buffers, rows } = page, { numLists } = shape, { bitsRep = 0, bitsDef = 0, numItems = 0, values: encoding } = layout;
  demand(encoding, "a full-zip page without values"); // L.page.fullzip.values-present
  demand((layout.bitsPerValue === undefined) !== (layout.bitsPerOffset === undefined), "neither bits of values nor of offsets"); // L.page.fullzip.details
  const isVariable = layout.bitsPerOffset !== undefined;
  demand(bitsRep <= 16 && bitsDef <= 16, "levels of more than 16 bits"); // L.page.fullzip.control-bits
  demand(bitsRep > 0 === numLists > 0, "repetition without lists, or lists without"); // L.page.fullzip.repetition
  demand(buffers.length === (isVariable || numLists ? 2 : 1), `${buffers.length} buffers`); // L.page.fullzip.buffers
  const control = [0, 1, 2, 4, 4][Math.ceil((bitsRep + bitsDef) / 8)]; // L.page.fullzip.control-word
  let valueBytes = 0, lengthBytes = 0;
  if (isVariable) {
    demand([32, 64].includes(layout.bitsPerOffset), `lengths of ${layout.bitsPerOffset} bits`);
    lengthBytes = layout.bitsPerOffset / 8;
  } else {
    const bits = layout.bitsPerValue;
    demand(bits > 0 && bits % 8 === 0, `${bits} bits a value`); // L.page.fullzip.value-bits
    const isFlag = encoding.flat?.bits === 1; // a boolean takes one byte
    valueBytes = bits / 8;
    demand(valueBytes === (isFlag ? 1 : zippedBytes(encoding)), "values of another width"); // L.page.leaf.width
  }
  const data = buffers[0], rep = [], def = [], values = [];
  demand(numItems <= MOST_LEVELS, `${numItems} items`); // L.page.limits.items
  for (let at = 0; at < data.length || (control + valueBytes === 0 && rep.length < numItems); ) {
    const word = integer(data, at, control, "control word");
    at += control;
    const definition = word % 2 ** bitsDef, repetition = Math.floor(word / 2 ** bitsDef);
    rep.push(repetition), def.push(definition);
    demand(definition <= shape.highest && repetition <= numLists, "a level that is not defined");
    if (definition > shape.visible) continue;
    if (isVariable) {
      if (definition > 0) values.push(null);
      else {
        const size = integer(data, at, lengthBytes, "length");
        values.push(variableValue(encoding, slice(data, at + lengthBytes, size, "value"))); // L.page.fullzip.length
        at += lengthBytes + size;
      }
    } else {
      const bytes = slice(data, at, valueBytes, "value"); // L.page.fullzip.size
      values.push(encoding.flat?.bits === 1 ? bytes : zippedValue(encoding, bytes));
      at += valueBytes;
    }
  }
  demand(rep.length === numItems, `${numItems} items, ${rep.length} entries`); // L.page.fullzip.num-items
  demand(checkLevels(shape, rep, def) === (layout.numVisible ?? 0), "another number of visible items"); // L.page.fullzip.num-visible
  if (!numLists) demand(rep.length === rows, "entries that are not the rows");
  return { rep, def, values };
}

function constant(layout, page, shape, leaf, version) {
  const { buffers, rows } = page, { inline } = layout, { numLists } = shape;
  const isNull = inline === undefined && (buffers.length === 0 || buffers.length === 2);
  demand(inline === undefined ? buffers.length <= 3 : [0, 2].includes(buffers.length), `${buffers.length} buffers`); // L.page.constant.form
  const hasCodecs = layout.rep !== undefined || layout.def !== undefined;
  if (version === "2.1") demand(isNull && !hasCodecs, "a value in a constant page of 2.1"); // L.page.constant.only-null
  const levelBuffers = buffers.length >= 2 ? buffers.slice(-2) : [];
  if (!isNull) demand(!hasCodecs, "compressed levels next to a value"); // L.page.constant.raw-levels
  const read = (bytes, encoding, count) => {
    if (!bytes || bytes.length === 0) return null;
    if (encoding) {
      demand(count <= MOST_LEVELS, `${count} levels`); // L.page.limits.levels
      return levels(encoding, bytes, count, version);
    }
    demand(bytes.length % 2 === 0, "levels of two bytes"); // L.page.constant.level-bytes
    return integers(bytes, 2, bytes.length / 2, "levels");
  };
  let rep = read(levelBuffers[0], layout.rep, layout.numRep ?? 0), def = read(levelBuffers[1], layout.def, layout.numDef ?? 0);
  demand((rep !== null) === numLists > 0, "repetition levels without lists, or lists without"); // L.page.constant.repetition
  const count = rep?.length ?? def?.length ?? rows;
  demand((rep?.length ?? count) === count && (def?.length ?? count) === count && (numLists || count === rows), "another number of levels"); // L.page.constant.level-count
  rep ??= new Array(count).fill(numLists);
  if (def === null) {
    // Without buffers all is null, but for structs without fields; the layers say at which level.
    const outermost = isEmptyStruct(leaf) ? null : shape.layers.findLast(({ nulls }) => nulls > 0);
    demand(!isNull || outermost || isEmptyStruct(leaf) || numLists === 0, "nulls that no layer has");
    def = new Array(count).fill(isNull && levelBuffers.length === 0 ? (outermost?.nulls ?? 0) : 0);
  }
  const visible = checkLevels(shape, rep, def);
  const value = isNull ? null : constantValue(inline ?? buffers[0], leaf, inline !== undefined);
  return { rep, def, values: new Array(visible).fill(value), isAllNull: isNull };
}

const isEmptyStruct = (leaf) => leaf.type.kind === "struct" && leaf.children.length === 0;

function constantValue(bytes, leaf, isInline) {
  const { type } = leaf;
  demand(["fixed", "variable"].includes(type.kind) && !type.keyBits && !leaf.isPacked, "a constant of another type"); // L.page.constant.value-type
  if (isInline) {
    demand(type.kind === "fixed" && bytes.length === Math.ceil(type.bits / 8) && bytes.length <= 32, "an inline value of another width"); // L.page.constant.inline-size
    return type.bits === 1 ? Uint8Array.of(bytes[0] & 1) : bytes;
  }
  const count = integer(bytes, 0, 4, "value buffer"), sizes = integers(slice(bytes, 4, 4 * count, "sizes"), 4, count, "sizes");
  demand(count === (type.kind === "fixed" ? 1 : 2), `${count} buffers of one value`); // L.page.constant.value-buffer
  demand(4 + 4 * count + sizes.reduce((a, b) => a + b, 0) === bytes.length, "a value buffer of another size");
  const last = bytes.subarray(bytes.length - sizes[count - 1]);
  if (type.kind === "fixed") {
    demand(last.length === Math.ceil(type.bits / 8), "a value of another width");
    return type.bits === 1 ? Uint8Array.of(last[0] & 1) : last;
  }
  const width = type.width / 8, ends = integers(bytes.subarray(4 + 4 * count, bytes.length - last.length), width, 2, "offsets");
  demand(ends[0] === 0 && ends[1] === last.length, "offsets of another value");
  return last;
}

function blob(layout, page, leaf, version, opened) {
  demand(leaf.isBlob && leaf.type.name === "large_binary", "a blob page of another column"); // L.page.blob.column
  const inner = layout.inner?.miniBlock;
  demand(inner && inner.layers.length === 1 && inner.layers[0] === ITEM, "an inner layout that is no mini-block of one layer"); // L.page.blob.inner
  const described = { type: { kind: "fixed", bits: 128 }, children: [] };
  const shape = numbered(inner.layers, [described]);
  const { values } = miniBlock(inner, page, shape, described, version);
  const outer = numbered(layout.layers ?? [], opened.path);
  if (outer.numLists) throw new Unsupported("blob"); // L.page.layout.blob
  const rep = [], def = [], found = [];
  for (const value of values) {
    demand(value.length === 16, "a descriptor of another size");
    const position = integer(value, 0, 8, "position"), size = integer(value, 8, 8, "size");
    const isNull = size === 0 && position > 0;
    const definition = isNull ? Math.floor(position / 65536) : 0;
    if (isNull) demand(position % 65536 === 0 && definition >= 1 && definition <= outer.highest, "a null of no layer"); // L.page.blob.null
    rep.push(0), def.push(definition);
    found.push(isNull ? null : slice(opened.file, position, size, "blob")); // L.page.blob.payload
  }
  return { rep, def, values: found, shape: outer };
}

// ---- From entries to rows --------------------------------------------------------------------------------------------

// The values of one column, a row each: null, bytes, an array of a list, or {child} of a struct on the way to the leaf.
export function columnRows(path, pages, opened) {
  const leaf = path[path.length - 1], { version } = opened;
  const scale = path.reduce((all, { type }) => (type.kind === "fixedSizeList" && type.item === null ? all * type.dimension : all), 1);
  const rows = [];
  for (const page of pages) {
    const [[kind, layout] = []] = Object.entries(page.layout);
    demand(kind, "a page of no layout"); // L.page.layout.present
    demand(page.rows % scale === 0, "rows that are not whole lists"); // L.page.layout.scale
    let found, shape;
    if (kind === "blob") (found = blob(layout, page, leaf, version, { path, file: opened.file })), ({ shape } = found);
    else {
      shape = numbered(layout.layers, path);
      checkKind(layout, leaf);
      if (kind === "miniBlock") found = miniBlock(layout, page, shape, leaf, version);
      else if (kind === "fullZip") found = fullZip(layout, page, shape, version);
      else found = constant(layout, page, shape, leaf, version);
      if (leaf.isBlob) demand(found.isAllNull || page.rows === 0 || kind === "constant", "a blob column without a blob page");
    }
    found.values.forEach((value, i) => checkLeaf(value, leaf));
    if (leaf.type.kind === "null") demand(found.isAllNull ?? false, "values in a column of nulls");
    const made = fold(path, shape, found);
    demand(made.length * scale === page.rows, `${made.length} rows, not ${page.rows}`); // L.page.levels.rows
    for (const row of made) rows.push(row);
  }
  return rows;
}

// The kind of the values that a layout describes (L.page.leaf.kind).
function checkKind({ values, dictionary }, leaf) {
  if (!values) return;
  const wanted = leaf.isPacked ? "packed" : leaf.type.kind;
  const found = kindOf(dictionary ?? values);
  demand(found === wanted, `${found} values of a ${wanted} type`);
}

function checkLeaf(value, leaf) {
  if (value === null || value === undefined) return;
  const { type } = leaf;
  if (leaf.isPacked) return demand(value instanceof Uint8Array, "a packed row"); // L.page.leaf.kind
  if (type.kind === "fixedSizeList") {
    demand(Array.isArray(value) && value.length === type.dimension, "a list of another dimension"); // L.page.leaf.dimension
    return value.forEach((item) => checkLeaf(item, { type: type.item }));
  }
  demand(value instanceof Uint8Array, "values of another kind"); // L.page.leaf.kind
  if (type.kind === "fixed") demand(value.length === Math.ceil(type.bits / 8), "values of another width"); // L.page.leaf.width
  else demand(type.kind === "variable", "values of another kind");
  if (type.name === "string" || type.name === "large_string") utf8(value, "a string"); // L.page.leaf.utf8
}

// Entries become units, each an entry or a fixed-size list of structs: that one's entries are repeated for each of its
// elements, so `dimension` elements are one unit with the levels of the first. A slot is a list of units.
function units(path, { rep, def, values }, shape) {
  let next = 0, found = def.map((definition, i) => {
    const isVisible = definition <= shape.visible;
    return { rep: rep[i], def: definition, isVisible, value: isVisible ? values[next++] : null };
  });
  for (let depth = path.length - 1, listsBelow = 0; depth >= 0; depth--) {
    const { type } = path[depth];
    if (["list", "map"].includes(type.kind)) listsBelow++;
    if (type.kind !== "fixedSizeList" || type.item !== null) continue;
    const elements = cut(found, listsBelow);
    demand(elements.length % type.dimension === 0, "slots that are not whole lists"); // L.page.levels.fsl-group
    found = [];
    for (let i = 0; i < elements.length; i += type.dimension) {
      const held = elements.slice(i, i + type.dimension);
      found.push({ rep: held[0][0].rep, def: held[0][0].def, elements: held });
    }
  }
  return found;
}

// The parts of a slot that begin at repetition levels of `least` or more.
function cut(slot, least) {
  const parts = [];
  slot.forEach((unit, i) => (i === 0 || unit.rep >= least ? parts.push([unit]) : parts[parts.length - 1].push(unit)));
  return parts;
}

// The rows of a page, layer by layer from the outermost (chapter 30, Levels).
function fold(path, shape, found) {
  const build = (depth, slot, r) => {
    const field = path[depth], { type } = field, { isList, nulls, empties } = shape.layers[path.length - 1 - depth];
    const [first] = slot, isAlone = slot.length === 1;
    if (nulls && first.def === nulls) {
      demand(isAlone, "a null of several entries"); // L.page.levels.special-alone
      return null;
    }
    if (empties && first.def === empties) {
      demand(isAlone, "an empty list of several entries");
      return [];
    }
    if (isList) return cut(slot, r - 1).map((part) => build(depth + 1, part, r - 1));
    if (depth === path.length - 1) {
      demand(isAlone && first.isVisible, "an entry without a value");
      return isEmptyStruct(field) ? { isEmpty: true } : first.value;
    }
    if (type.kind !== "fixedSizeList") return { child: build(depth + 1, slot, r) };
    demand(isAlone && first.elements, "a fixed-size list of several entries");
    return first.elements.map((element) => build(depth + 1, element, r));
  };
  const all = units(path, found, shape);
  if (all.length === 0) return [];
  demand(all[0].rep === shape.numLists, "a first entry that begins no row"); // L.page.levels.first-entry
  return cut(all, shape.numLists).map((row) => build(0, row, shape.numLists));
}
