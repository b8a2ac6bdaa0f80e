// Descriptions of the page messages (protos/encodings_v2_1.proto): layouts, and the tree of compressive encodings.

const encoding = () => ENCODING;
const COMPRESSION = { 1: ["scheme", "u32"], 2: ["level", "i32"] };
const FLAT = { 1: ["bits", "u64"], 2: ["data", COMPRESSION] };

export const ENCODING = {
  1: ["flat", FLAT],
  2: ["variable", { 1: ["offsets", encoding], 2: ["values", COMPRESSION] }],
  3: ["constant", { 1: ["value", "bytes"] }],
  4: ["outOfLine", { 1: ["bits", "u64"], 3: ["values", encoding] }],
  5: ["inline", { 1: ["bits", "u64"], 2: ["values", COMPRESSION] }],
  6: ["fsst", { 1: ["table", "bytes"], 2: ["values", encoding] }],
  7: ["dictionary", { 1: ["indices", encoding], 2: ["items", encoding], 3: ["count", "u32"] }],
  8: ["rle", { 1: ["values", encoding], 2: ["lengths", encoding] }],
  9: ["byteStreamSplit", { 1: ["values", encoding] }],
  10: ["general", { 1: ["compression", COMPRESSION], 3: ["values", encoding] }],
  11: ["fixedSizeList", { 1: ["items", "u64"], 2: ["values", encoding], 3: ["hasValidity", "bool"] }],
  12: ["packedStruct", { 1: ["bits", ["u64"]], 2: ["values", encoding] }],
  13: ["variablePackedStruct", { 1: ["fields", [{ 1: ["value", encoding], 2: ["bitsPerValue", "u64"], 3: ["bitsPerLength", "u64"] }]] }],
};

const MINI_BLOCK = {
  1: ["rep", ENCODING], 2: ["def", ENCODING], 3: ["values", ENCODING], 4: ["dictionary", ENCODING], 5: ["dictionaryItems", "u64"],
  6: ["layers", ["u32"]], 7: ["numBuffers", "u64"], 8: ["repetitionDepth", "u32"], 9: ["numItems", "u64"], 10: ["large", "bool"],
};
const CONSTANT = {
  5: ["layers", ["u32"]], 6: ["inline", "bytes"], 7: ["rep", ENCODING], 8: ["def", ENCODING], 9: ["numRep", "u64"], 10: ["numDef", "u64"],
};
const FULL_ZIP = {
  1: ["bitsRep", "u32"], 2: ["bitsDef", "u32"], 3: ["bitsPerValue", "u32"], 4: ["bitsPerOffset", "u32"], 5: ["numItems", "u32"],
  6: ["numVisible", "u32"], 7: ["values", ENCODING], 8: ["layers", ["u32"]],
};
export const LAYOUT = {
  1: ["miniBlock", MINI_BLOCK], 2: ["constant", CONSTANT], 3: ["fullZip", FULL_ZIP],
  4: ["blob", { 1: ["inner", () => LAYOUT], 2: ["layers", ["u32"]] }],
};
