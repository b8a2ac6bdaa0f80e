// A reader of Lance files of 2.1 and 2.2 in Node.js, no packages needed, written from spec/ and protos/ alone.
//
//     lance-conformance run -- node adapter.mjs
//
// It reads data files, and tables of such files with deleted rows. It refuses at the stage `open` whatever is wrong, and knows the reader flags 1 and 2 (as 3) only.

import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { arrowFile } from "./arrow.mjs";
import { Refusal, Unsupported } from "./bytes.mjs";
import { read } from "./columns.mjs";
import { footer, open } from "./container.mjs";
import { KNOWN_FLAGS, readTable } from "./table.mjs";

const versions = ["2.1", "2.2"];

// Writes the chosen columns, which are all without a choice.
function write(out, columns, fields, rows, length) {
  const chosen = columns ?? fields.map(({ name }) => name);
  const places = chosen.map((name) => fields.findIndex((field) => field.name === name));
  writeFileSync(out, arrowFile(places.map((i) => fields[i]), places.map((i) => rows[i]), length));
  return { out, num_rows: String(length) };
}

const operations = {
  hello: () => ({
    protocol: 1,
    implementation: { name: "example-node", version: "0.1", language: "javascript" },
    capabilities: {
      "file.inspect": { versions },
      "file.read": { versions, projection: ["top"] },
      "dataset.read": { versions, projection: ["top"] },
    },
    types: { exclude: ["json"] }, // a table shows it as text
    encodings: { exclude: ["zstd", "variable_packed_struct"] },
    features: { exclude: ["blob", "branch", "tag", "version", "row-id", "row-address"] },
    flags: { reader_known: String(KNOWN_FLAGS) },
  }),
  "file.inspect": ({ path }) => {
    const { version, buffers } = footer(readFileSync(path));
    return { version, global_buffers: buffers.length };
  },
  "file.read": ({ path, out, columns }) => {
    const opened = open(readFileSync(path));
    return write(out, columns, opened.fields, read(opened), opened.length);
  },
  "dataset.read": ({ uri, out, columns }) => {
    const { fields, rows, length } = readTable(uri);
    return write(out, columns, fields, rows, length);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.op === "bye") break;
  let response;
  try {
    response = { ok: operations[request.op](request) };
  } catch (error) {
    if (error instanceof Unsupported) response = { unsupported: { feature: error.message } };
    else if (error instanceof Refusal) response = { reject: { stage: "open", kind: "other", message: error.message } };
    else if (error.code === "ENOENT") response = { reject: { stage: "open", kind: "not_found", message: "no such file" } };
    else throw error; // a bug of ours: the runner shows it as a crash
  }
  console.log(JSON.stringify({ id: request.id, ...response }));
}
