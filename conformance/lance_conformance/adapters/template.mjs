// A complete adapter in Node.js, no packages needed: copy it, and put your reader where `open` is.
//
// The runner sends one JSON object per line on standard input and reads one per line from standard
// output: print nothing else there. Integers that may exceed 2^53 travel as decimal strings.
//
//     lance-conformance check-adapter -- node template.mjs
//     lance-conformance run -- node template.mjs

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

class Refusal extends Error {}

// YOUR READER GOES HERE. This toy reads the last 40 bytes of a file, which say where all else is.
function open(path) {
  const bytes = readFileSync(path);
  const size = bytes.length;
  if (size < 40) throw new Refusal(`${size} bytes, a footer has 40`);
  if (bytes.toString("latin1", size - 4) !== "LANC") throw new Refusal("does not end with LANC");
  const footer = bytes.subarray(size - 40);
  const starts = [0, 8, 16].map((at) => Number(footer.readBigUInt64LE(at))); // metadata, offsets
  if (Math.max(...starts) > size - 40) throw new Refusal("points out of the file");
  const [numGlobalBuffers, numColumns] = [footer.readUInt32LE(24), footer.readUInt32LE(28)];
  if (16 * (numGlobalBuffers + numColumns) > size) throw new Refusal("counts more than there is");
  const stored = `${footer.readUInt16LE(32)}.${footer.readUInt16LE(34)}`;
  return { version: stored === "0.3" ? "2.0" : stored, numGlobalBuffers };
}

const versions = ["2.0", "2.1", "2.2"];
const operations = {
  hello: () => ({
    protocol: 1,
    implementation: { name: "my-reader", version: "0.1", language: "javascript" },
    // What is not listed here is never asked for: claim more as you go.
    capabilities: { "file.inspect": { versions }, "file.read": { versions } },
  }),
  "file.inspect": ({ path }) => {
    const { version, numGlobalBuffers } = open(path);
    return { version, global_buffers: numGlobalBuffers };
  },
  "file.read": ({ path, out }) => {
    open(path);
    // With rows at hand write them to `out` (tableToIPC(table, "file") of apache-arrow, or examples/node/arrow.mjs),
    return { unsupported: "reading of rows is not written yet" }; // and return { out }. An honest gap, no failure.
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.op === "bye") break;
  let response;
  try {
    const ok = operations[request.op](request);
    response = ok.unsupported ? { unsupported: { feature: ok.unsupported } } : { ok };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error; // a bug of ours: the runner shows it as a crash
    response = { reject: { stage: "open", kind: "other", message: error.message } };
  }
  console.log(JSON.stringify({ id: request.id, ...response }));
}
