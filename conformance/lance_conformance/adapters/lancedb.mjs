// Adapter of LanceDB for Node.js: `node lancedb.mjs`, in the folder whose node_modules
// has @lancedb/lancedb and apache-arrow. The environment variable NODE_HOME names that folder where it
// is not the working directory.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";

const home = process.env.NODE_HOME ?? process.cwd();
const require = createRequire(join(home, "index.js"));
const lancedb = require("@lancedb/lancedb");
const { tableToIPC } = require("apache-arrow");
const about = join(home, "node_modules", "@lancedb", "lancedb", "package.json");
const { version } = JSON.parse(readFileSync(about, "utf-8"));

const versions = ["0.1", "2.0", "2.1", "2.2"];
// Types that the package apache-arrow has not, in which LanceDB answers, or cannot write to a file.
const lacking = ["large_list", "large_list<item: struct<x: int32>>", "dictionary"];
const HELLO = {
  protocol: 1,
  implementation: {
    name: "lancedb-node",
    version,
    language: "javascript, rust",
    homepage: "https://lancedb.com",
    issues: "https://github.com/lancedb/lancedb/issues",
  },
  capabilities: {
    "dataset.read": { versions, projection: ["top"], filter: true, limit: true },
    "dataset.versions": {},
  },
  types: { exclude: lacking },
  features: { exclude: ["blob"] },
  profiles: ["format", "unstable"],
};

class NotClaimed extends Error {}

async function opened(request) {
  if (request.branch) throw new NotClaimed("branches");
  const database = await lancedb.connect(dirname(request.uri));
  const table = await database.openTable(basename(request.uri, ".lance"));
  const at = request.version === undefined ? request.tag : Number(request.version);
  if (at !== undefined) await table.checkout(at);
  return table;
}

const operations = {
  hello: async () => HELLO,
  "dataset.read": async (request) => {
    const table = await opened(request);
    let query = table.query();
    if (request.columns) query = query.select(request.columns);
    if (request.filter) query = query.where(request.filter.sql);
    for (const name of request.with ?? []) {
      if (name !== "_rowid") throw new NotClaimed(name);
      query = query.withRowId();
    }
    if (request.limit !== undefined) query = query.limit(Number(request.limit));
    if (request.offset !== undefined) query = query.offset(Number(request.offset));
    const found = await query.toArrow();
    writeFileSync(request.out, tableToIPC(found, "file"));
    return { out: request.out, num_rows: String(found.numRows), version: String(await table.version()) };
  },
  "dataset.versions": async (request) => {
    const table = await opened(request);
    const told = (await table.listVersions()).map((one) => ({ version: String(one.version) }));
    return { versions: told, latest: String(await table.version()) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.op === "bye") break;
  let response;
  try {
    response = { ok: await operations[request.op](request) };
  } catch (error) {
    const message = String(error?.message ?? error);
    response = { reject: { stage: "unknown", message } };
    if (error instanceof NotClaimed) response = { unsupported: { feature: message } };
    else if (/panicked|\bpanic\b/i.test(message)) response.panicked = true;
  }
  process.stdout.write(JSON.stringify({ id: request.id, ...response }) + "\n");
}
process.exit(0);
