// What loft report writes, opened by the tools that it is written for. sample_recording.cpp says what
// the recording holds. LOFT_EXPORTS is the folder with the files and the tools.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

const folder = process.env.LOFT_EXPORTS;
const require = createRequire(`${folder}/`);

test("pprof-format finds every sample and every reference", () => {
  const { Profile } = require("pprof-format");
  const profile = Profile.decode(gunzipSync(readFileSync(`${folder}/sample.pb.gz`)));
  const text = (index) => profile.stringTable.strings[Number(index)];
  assert.deepEqual(profile.sampleType.map((type) => `${text(type.type)}/${text(type.unit)}`),
    ["samples/count", "cpu-clock/nanoseconds"]);
  const sums = [0, 1].map((i) => profile.sample.reduce((sum, sample) => sum + Number(sample.value[i]), 0));
  assert.deepEqual(sums, [4, 4_000_000]);
  const places = new Map(profile.location.map((location) => [Number(location.id), location]));
  const functions = new Map(profile.function.map((one) => [Number(one.id), text(one.name)]));
  for (const sample of profile.sample) {
    assert.equal(sample.locationId.length, 3);
    for (const id of sample.locationId)
      assert.match(functions.get(Number(places.get(Number(id)).line[0].functionId)), /^app\+0x/);
  }
});

// The tool's own `load` gives its server half a second to start, which a busy machine may not have; and
// whoever asks too early removes the session, as if its server had died. So the server is started here, and
// asked when its log says that it is ready.
test("Firefox's profiler loads the profile and knows its threads", async () => {
  const program = join(folder, "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js");
  const sessions = mkdtempSync("/tmp/loft-firefox-"); // a socket's path is short
  const env = { ...process.env, HOME: sessions, PROFILER_CLI_SESSION_DIR: sessions };
  const ask = (...words) =>
    execFileSync(process.execPath, [program, ...words, "--session", "loft"], { env, encoding: "utf8" });
  const server = spawn(process.execPath, [program, "--daemon", `${folder}/sample.firefox.json`, "--session", "loft"],
    { env, stdio: "ignore" });
  try {
    await logged(server, join(sessions, "loft.log"), "Profile loaded successfully");
    const threads = ask("thread", "list");
    assert.match(threads, /first/);
    assert.match(threads, /second/);
    assert.match(ask("thread", "samples"), /app\+0x/);
  } finally {
    server.kill("SIGKILL");
    rmSync(sessions, { recursive: true });
  }
});

// Waits until the log of a server has these words.
async function logged(server, log, words) {
  for (const end = Date.now() + 120_000; ;) {
    const text = existsSync(log) ? readFileSync(log, "utf8") : "";
    if (text.includes(words)) return;
    if (server.exitCode !== null || Date.now() > end)
      assert.fail(`the server is not ready, exit status ${server.exitCode}; its log: ${text}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

// The built app of speedscope and the profile, for a browser.
function serve() {
  const app = join(folder, "node_modules/speedscope/dist/release");
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "/index.html" : request.url.split("?")[0];
    const file = name === "/profile.json" ? `${folder}/sample.speedscope.json` : join(app, name);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    response.end(readFileSync(file));
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

test("speedscope shows the profile", { skip: !existsSync("/usr/bin/chromium") && "chromium is not installed" }, async () => {
  const server = await serve();
  const here = `http://127.0.0.1:${server.address().port}/`;
  const { chromium } = require("playwright-core");
  let browser;
  try {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
      args: ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"] });
    const page = await browser.newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
    await page.goto(`${here}#profileURL=${encodeURIComponent(`${here}profile.json`)}`);
    await page.getByText("first 1 (cpu-clock) (1/2)").waitFor({ timeout: 60000 });
    assert.match(await page.title(), /sample\.data/);
    assert.deepEqual(complaints, []);
  } finally {
    await browser?.close();
    server.close();
  }
});

// The queries of docs/scale.md, in order, by their first words.
function queries() {
  const found = readFileSync(process.env.LOFT_QUERIES, "utf8").matchAll(/^-- (.*)\n([^;`]*);/gm);
  return [...found].map(([, title, text]) => ({ title, text }));
}

function close(a, b, what) {
  assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${what}: ${a} against ${b}`);
}

// What a query gives must be what loft report says.
function check_job(title, rows, job) {
  if (title.startsWith("stragglers")) {
    assert.deepEqual(rows.map((row) => [row.rank, row.node]), job.stragglers.map((one) => [one.rank, one.node]));
    rows.forEach((row, i) => close(row.factor, job.stragglers[i].factor, `rank ${row.rank}`));
  } else if (title.startsWith("ranks by")) {
    const busiest = [...job.rank_list].sort((a, b) => b.load - a.load || a.rank - b.rank).slice(0, 3);
    assert.deepEqual(rows.map((row) => row.rank), busiest.map((one) => one.rank));
    rows.forEach((row, i) => close(row.seconds, busiest[i].load, `rank ${row.rank}`));
  } else if (title.startsWith("functions by")) {
    assert.equal(rows[0].function, job.functions[0].name);
    close(rows[0].cost, job.functions[0].cost, rows[0].function);
  } else {
    assert.match(title, /^share of MPI/);
    assert.equal(rows.length, job.rank_list.length);
    rows.forEach((row, i) => close(row.percent / 100, job.rank_list[i].mpi_share, `rank ${row.rank}`));
  }
}

const duckdb = join(folder, "duckdb/node_modules/@duckdb/node-api");
test("DuckDB reads the Parquet file of a job, and its queries agree with loft report", { skip: !existsSync(duckdb) && "DuckDB cannot be had" }, async () => {
  const { DuckDBInstance } = require(duckdb);
  const database = await (await DuckDBInstance.create(":memory:")).connect();
  const all = async (text) => (await database.runAndReadAll(text)).getRowObjectsJson();
  const numbers = (row) => Object.fromEntries(Object.entries(row).map(([key, value]) =>
    [key, key === "node" || key === "function" ? value : Number(value)]));
  await database.run(`CREATE VIEW job AS SELECT * FROM '${folder}/job.parquet'`);
  await database.run(`CREATE TABLE same AS SELECT * FROM read_csv('${folder}/job.csv', all_varchar = true, nullstr = '\\0')`);
  const [{ other }] = await all(`SELECT count(*) AS other FROM
    (SELECT job, step::VARCHAR, node, rank::VARCHAR, state, function, "binary", (mpi::INT)::VARCHAR, metric, unit, kind, value::VARCHAR
      FROM job EXCEPT ALL SELECT * FROM same)`);
  assert.equal(Number(other), 0, "rows of the Parquet file that the CSV file lacks");
  const [{ n, m }] = await all("SELECT (SELECT count(*) FROM job) AS n, (SELECT count(*) FROM same) AS m");
  assert.equal(n, m);
  const job = JSON.parse(readFileSync(`${folder}/job.json`, "utf8"));
  assert.deepEqual(job.stragglers.map((one) => one.rank).sort(), [103, 203, 3]);
  const asked = queries();
  assert.equal(asked.length, 4);
  for (const { title, text } of asked) check_job(title, (await all(text)).map(numbers), job);
});

const sqlite = existsSync("/usr/bin/sqlite3");
test("SQLite reads the SQL file of a job, and its queries agree with loft report", { skip: !sqlite && "sqlite3 is not installed" }, () => {
  rmSync(`${folder}/job.db`, { force: true });
  const run = (...words) => execFileSync("sqlite3", ["-batch", `${folder}/job.db`, ...words], { encoding: "utf8" });
  run(`.read ${folder}/job.sql`);
  const job = JSON.parse(readFileSync(`${folder}/job.json`, "utf8"));
  for (const { title, text } of queries()) check_job(title, JSON.parse(run("-json", text) || "[]"), job);
});
