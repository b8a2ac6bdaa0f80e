// Tables (spec/40-table.md): the latest manifest, its fragments, their data files by field ids, deleted rows.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Refusal, Unsupported, demand, integer, message, slice } from "./bytes.mjs";
import { read } from "./columns.mjs";
import { FIELD, MOST_ROWS, fieldTree, open } from "./container.mjs";
import { arrowRows, roaring } from "./deletions.mjs";
import { leavesOf, parseType } from "./types.mjs";

export const KNOWN_FLAGS = 3n;
const FILE = {
  1: ["path", "string"], 2: ["fields", ["i32"]], 3: ["columns", ["i32"]], 4: ["major", "u32"], 5: ["minor", "u32"],
  6: ["size", "u64"], 7: ["baseId", "u32"],
};
const DELETION = { 1: ["type", "u32"], 2: ["readVersion", "big"], 3: ["id", "big"], 4: ["count", "u64"], 7: ["baseId", "u32"] };
const FRAGMENT = { 1: ["id", "big"], 2: ["files", [FILE]], 3: ["deletions", DELETION], 4: ["rows", "u64"], 11: ["overlays", [{}]] };
const MANIFEST = {
  1: ["fields", [FIELD]], 2: ["fragments", [FRAGMENT]], 3: ["version", "u64"], 6: ["indexSection", "u64"], 9: ["flags", "big"],
  11: ["maxFragmentId", "u32"], 13: ["writer", {}], 15: ["format", { 1: ["name", "string"], 2: ["version", "string"] }],
  18: ["bases", [{}]],
};

function latest(folder) {
  const names = readdirSync(join(folder, "_versions")).filter((name) => /^\d+\.manifest$/.test(name));
  demand(names.length > 0, "no manifest");
  const isV2 = names.map((name) => name.length === 29);
  demand(isV2.every((one) => one === isV2[0]), "names of two schemes"); // L.table.naming.one-scheme
  const numbers = names.map((name) => BigInt(name.split(".")[0]));
  const chosen = numbers.reduce((best, one) => ((isV2[0] ? one < best : one > best) ? one : best)); // L.table.naming.latest
  return join(folder, "_versions", names[numbers.indexOf(chosen)]);
}

function manifest(bytes) {
  demand(bytes.length >= 16, `${bytes.length} bytes, a manifest has 16`); // L.table.manifest.size
  const end = bytes.length - 16;
  demand(String.fromCharCode(...bytes.subarray(-4)) === "LANC", "does not end with LANC"); // L.table.manifest.magic
  const at = integer(bytes, end, 8, "footer"); // L.table.manifest.footer
  demand(at + 4 <= end, "a section after the footer"); // L.table.manifest.section
  const size = integer(bytes, at, 4, "section");
  demand(at + 4 + size === end, "a section that does not end at the footer"); // L.table.manifest.end
  const found = message(slice(bytes, at + 4, size, "manifest"), MANIFEST); // L.table.manifest.message
  const unknown = (found.flags ?? 0n) & ~KNOWN_FLAGS;
  demand(unknown === 0n, `the reader flags ${unknown}`); // L.table.flags.unknown-reader-bit
  demand(found.format === undefined || found.format.name === "lance", "another file format"); // L.table.format.file-format
  const version = found.format?.version ?? "0.1";
  demand(["0.1", "2.0", "2.1", "2.2", "2.3"].includes(version), `the format ${version}`); // L.table.format.version
  if (!["2.1", "2.2"].includes(version)) throw new Unsupported(version);
  return { ...found, version };
}

function checkFragments({ fragments, maxFragmentId, version }) {
  fragments.forEach(({ id = 0n, files, rows = 0, overlays }, i) => {
    demand(i === 0 || id > (fragments[i - 1].id ?? 0n), "fragments that do not rise"); // L.table.fragments.ids, .order
    demand(id < 2n ** 32n && rows < 2 ** 32, "a fragment beyond a row address"); // L.table.fragments.address
    demand(maxFragmentId === undefined || id <= BigInt(maxFragmentId), "a fragment above max_fragment_id"); // L.table.fragments.max-id
    demand(overlays.length === 0, "overlays without their flag"); // L.table.flags.content
    const seen = new Set();
    for (const file of files) {
      const parts = (file.path ?? "").split("/");
      demand(file.path && !file.path.startsWith("/") && !parts.includes("..") && !parts.includes(""), `the path ${file.path}`); // L.table.datafile.path
      demand(file.baseId === undefined, "a base path without its flag"); // L.table.base.resolves
      demand(`${file.major ?? 0}.${file.minor ?? 0}` === version, `a file of ${file.major}.${file.minor}`); // L.table.datafile.version
      demand(file.columns.length === file.fields.length, "a column for each field"); // L.table.datafile.indices
      const columns = file.columns.filter((column) => column !== -1);
      demand(columns.every((column) => column >= 0) && new Set(columns).size === columns.length, "a column that is used twice");
      for (const field of file.fields) {
        demand(field >= -5 && field !== -1, `the field ${field}`); // L.table.datafile.field-id
        demand(field < 0 || !seen.has(field), "a field in two files"); // L.table.datafile.once
        seen.add(field);
      }
    }
  });
}

function file(path, wanted) {
  let bytes;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error.code === "ENOENT") throw new Refusal("a file that is named is missing"); // L.table.files.exist
    throw error;
  }
  demand(!wanted || wanted === bytes.length, `${bytes.length} bytes, not ${wanted}`); // L.table.datafile.size
  return bytes;
}

function deleted(folder, fragment, numRows) {
  if (!fragment.deletions) return new Set();
  const { type = 0, readVersion = 0n, id = 0n, count = 0, baseId } = fragment.deletions;
  demand(type <= 1, `the type ${type}`); // L.table.deletions.type
  demand(baseId === undefined, "a base path without its flag");
  const name = `${fragment.id ?? 0n}-${readVersion}-${id}.${type ? "bin" : "arrow"}`; // L.table.deletions.name
  const bytes = file(join(folder, "_deletions", name));
  const rows = type ? roaring(bytes) : arrowRows(bytes), gone = new Set(rows);
  demand(gone.size === rows.length, "a row that is listed twice"); // L.table.deletions.arrow-distinct
  demand(!count || count === rows.length, `${rows.length} rows, not ${count}`); // L.table.deletions.count
  demand(rows.every((row) => row < numRows), "a row beyond the fragment"); // L.table.deletions.range
  return gone;
}

// Keep of a field what a data file holds of it: fields without a column in any file are null.
function columnsOf(field, found) {
  const ids = leavesOf(field).map((path) => path[path.length - 1].id);
  return ids.map((id) => found.get(id));
}

// The fields of the latest version and its live rows, a list for each field.
export function readTable(folder) {
  demand(statSync(folder, { throwIfNoEntry: false })?.isDirectory(), "no such table");
  const head = manifest(readFileSync(latest(folder)));
  checkFragments(head);
  const fields = fieldTree(head.fields);
  fields.forEach((field) => parseType(field, head.version));
  const rows = fields.map(() => []);
  for (const fragment of head.fragments) {
    const held = new Map(); // leaf id -> {pages, opened}
    let numRows = head.writer === undefined && fragment.deletions ? 0 : (fragment.rows ?? 0);
    for (const { path, fields: ids, columns, size } of fragment.files) {
      const opened = open(file(join(folder, "data", path), size), { hasSchema: false });
      demand(opened.version === head.version, "a file of another version");
      demand(!numRows || numRows === opened.length, `${opened.length} rows of ${numRows}`); // L.table.fragments.rows
      numRows = opened.length;
      ids.forEach((id, i) => {
        if (id < 0 || columns[i] === -1) return; // L.table.datafile.tombstone
        demand(columns[i] < opened.pages.length, `the column ${columns[i]}`);
        held.set(id, { pages: opened.pages[columns[i]], opened });
      });
    }
    demand(numRows <= MOST_ROWS, `${numRows} rows`); // L.table.limits.no-file
    const gone = deleted(folder, fragment, numRows);
    fields.forEach((field, at) => {
      const columns = columnsOf(field, held);
      let values;
      if (columns.every((one) => one === undefined)) values = new Array(numRows).fill(null); // L.table.datafile.missing-field
      else {
        if (columns.includes(undefined)) throw new Unsupported("several-data-files");
        [values] = read({ version: head.version, file: columns[0].opened.file, length: numRows, fields: [field], pages: columns.map((one) => one.pages) });
      }
      values.forEach((value, row) => gone.has(row) || rows[at].push(value));
    });
  }
  return { fields, rows, length: rows[0]?.length ?? 0, version: head.version };
}
