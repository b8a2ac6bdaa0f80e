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
const { tableFromIPC, tableToIPC } = require("apache-arrow");
const about = join(home, "node_modules", "@lancedb", "lancedb", "package.json");
const { version } = JSON.parse(readFileSync(about, "utf-8"));

const stored = ["2.0", "2.1", "2.2"]; // its 2.3 is that of an older core
const versions = ["0.1", ...stored, "2.3"];
const scalars = ["BTREE", "BITMAP", "LABEL_LIST", "NGRAM", "ZONEMAP", "BLOOMFILTER", "INVERTED", "FM"];
const vectors = ["FLAT", "PQ", "SQ", "RQ", "HNSW_FLAT", "HNSW_PQ", "HNSW_SQ"].map((name) => `IVF_${name}`);
const indices = [...scalars, ...vectors];
const edits = ["delete", "update", "merge_insert"];
// Steps of a plan that ask an index.
const ASKED = /ScalarIndexQuery|MaterializeIndex|ANNSubIndex/;
// Types that the package apache-arrow has not, in which LanceDB answers, or cannot write to a file.
const lacking = ["large_list", "dictionary"];
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
    "dataset.take": { versions },
    "dataset.versions": {},
    "index.search": { types: indices, filter: true, text: true, nearest: true, scan: false },
    "write.dataset": { versions: stored, modes: ["create", "append", "overwrite"] },
    mutate: { verbs: [...edits, "add_columns", "drop_columns", "compact", "create_index"] },
  },
  types: { exclude: lacking },
  features: { exclude: ["blob"] },
  profiles: ["format", "unstable"],
};

class Unsupported extends Error {}

async function opened(request) {
  if (request.branch) throw new Unsupported("branches");
  const database = await lancedb.connect(dirname(request.uri));
  const table = await database.openTable(basename(request.uri, ".lance"));
  const at = request.version === undefined ? request.tag : Number(request.version);
  if (at !== undefined) await table.checkout(at);
  return table;
}

async function answered(query, request) {
  if (request.columns) query = query.select(request.columns);
  for (const name of request.with ?? []) {
    if (name !== "_rowid") throw new Unsupported(name);
    query = query.withRowId();
  }
  const found = await query.toArrow();
  writeFileSync(request.out, tableToIPC(found, "file"));
  return { out: request.out, num_rows: String(found.numRows) };
}

function narrowed(query, request) {
  if (request.filter) query = query.where(request.filter.sql);
  if (request.limit !== undefined) query = query.limit(Number(request.limit));
  if (request.offset !== undefined) query = query.offset(Number(request.offset));
  return query;
}

function textQuery(told) {
  const [[kind, given]] = Object.entries(told);
  const { query, column, columns, ...rest } = given;
  const operator = rest.operator?.toUpperCase();
  if (kind === "match") {
    const { fuzziness, max_expansions: maxExpansions, prefix_length: prefixLength } = rest;
    return new lancedb.MatchQuery(query, column, { operator, fuzziness, maxExpansions, prefixLength });
  }
  if (kind === "phrase") return new lancedb.PhraseQuery(query, column, { slop: rest.slop });
  if (kind === "multi_match") return new lancedb.MultiMatchQuery(query, columns, { operator });
  if (kind === "boost") {
    const negativeBoost = Number(rest.negative_boost ?? 0.5);
    return new lancedb.BoostQuery(textQuery(rest.positive), textQuery(rest.negative), { negativeBoost });
  }
  if (kind !== "boolean") throw new Unsupported(`queries of kind ${kind}`);
  const parts = Object.entries(given).flatMap(([occur, many]) =>
    many.map((one) => [occur.toUpperCase(), textQuery(one)]),
  );
  return new lancedb.BooleanQuery(parts);
}

function nearest(table, asked, useIndex) {
  const several = Array.isArray(asked.q[0]);
  let query = table.vectorSearch(several ? asked.q.map((one) => one.map(Number)) : asked.q.map(Number));
  query = query.column(asked.column).limit(Number(asked.k));
  if (asked.metric) query = query.distanceType(asked.metric);
  // Where no number is told: as few partitions as hold k rows, which is not LanceDB's default.
  query = asked.nprobes ? query.nprobes(asked.nprobes) : query.minimumNprobes(1).maximumNprobes(0);
  if (asked.refine !== undefined) query = query.refineFactor(Number(asked.refine));
  if (asked.ef !== undefined) query = query.ef(Number(asked.ef));
  if (asked.range) query = query.distanceRange(...asked.range.map(Number));
  return useIndex ? query : query.bypassVectorIndex();
}

function configOf(type) {
  const { Index } = lancedb;
  if (type === "BTREE") return Index.btree();
  if (type === "BITMAP") return Index.bitmap();
  if (type === "LABEL_LIST") return Index.labelList();
  if (type === "INVERTED") return Index.fts();
  throw new Unsupported(`making ${type}`);
}

const VERBS = {
  delete: (table, args) => table.delete(args.predicate),
  update: (table, args) => table.update({ valuesSql: args.updates, where: args.where }),
  merge_insert: (table, args) => {
    let builder = table.mergeInsert(args.on);
    if (args.when_matched === "update_all") builder = builder.whenMatchedUpdateAll();
    if (args.when_not_matched === "insert_all") builder = builder.whenNotMatchedInsertAll();
    if (args.when_not_matched_by_source === "delete") builder = builder.whenNotMatchedBySourceDelete();
    return builder.execute(tableFromIPC(readFileSync(args.input)));
  },
  add_columns: (table, args) =>
    table.addColumns(Object.entries(args.expressions).map(([name, valueSql]) => ({ name, valueSql }))),
  drop_columns: (table, args) => table.dropColumns(args.columns),
  compact: (table, args) => {
    if (Object.keys(args).length) throw new Unsupported("options of compaction");
    return table.optimize();
  },
  create_index: (table, args) =>
    table.createIndex(args.column, { config: configOf(args.type), name: args.name }),
};

const operations = {
  hello: async () => HELLO,
  "dataset.read": async (request) => {
    const table = await opened(request);
    const body = await answered(narrowed(table.query(), request), request);
    return { ...body, version: String(await table.version()) };
  },
  "dataset.take": async (request) => {
    const table = await opened(request);
    if (request.rowaddrs) throw new Unsupported("rows by address");
    const query = request.offsets
      ? table.takeOffsets(request.offsets.map(Number))
      : table.takeRowIds(request.rowids.map(BigInt));
    return { ...(await answered(query, request)), version: String(await table.version()) };
  },
  "dataset.versions": async (request) => {
    const table = await opened(request);
    const told = (await table.listVersions()).map((one) => ({ version: String(one.version) }));
    return { versions: told, latest: String(await table.version()) };
  },
  "index.search": async (request) => {
    const useIndex = request.use_index ?? true;
    if (!useIndex && !request.nearest) throw new Unsupported("a scan past the index");
    const table = await opened(request);
    let query = request.nearest ? nearest(table, request.nearest, useIndex) : table.query();
    if (request.text) {
      const limit = Math.max(1, await table.countRows());
      query = query.fullTextSearch(textQuery(request.text)).limit(limit);
    }
    query = narrowed(query, request);
    const body = await answered(query, request);
    return request.text ? body : { ...body, used: ASKED.test(await query.explainPlan()) };
  },
  "write.dataset": async (request) => {
    const rows = tableFromIPC(readFileSync(request.input));
    const { enable_stable_row_ids: stable, ...others } = request.options ?? {};
    if (request.mode === "append") {
      if (request.version) throw new Unsupported("a file version of rows that are appended");
      const table = await opened({ uri: request.uri });
      await table.add(rows);
      return { version: String(await table.version()) };
    }
    if (Object.keys(others).length) throw new Unsupported(`options ${Object.keys(others)}`);
    const storageOptions = stable ? { new_table_enable_stable_row_ids: "true" } : {};
    const options = { mode: request.mode, dataStorageVersion: request.version, storageOptions };
    const database = await lancedb.connect(dirname(request.uri));
    const table = await database.createTable(basename(request.uri, ".lance"), rows, options);
    return { version: String(await table.version()) };
  },
  mutate: async (request) => {
    const table = await opened({ uri: request.uri });
    await VERBS[request.verb](table, request.args ?? {});
    return { version: String(await table.version()) };
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
    if (error instanceof Unsupported) response = { unsupported: { feature: message } };
    else if (/panicked|\bpanic\b/i.test(message)) response.panicked = true;
  }
  process.stdout.write(JSON.stringify({ id: request.id, ...response }) + "\n");
}
process.exit(0);
