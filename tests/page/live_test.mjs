// The page of `loft top --listen` in Debian's Chromium, fed by a loft that runs.
// LOFT_PROGRAM is loft, LOFT_NODE_MODULES the folder that has playwright-core.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

const { chromium } = createRequire(`${process.env.LOFT_NODE_MODULES}/`)("playwright-core");
let browser, loft, address;

before(async () => {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  loft = spawn(process.env.LOFT_PROGRAM, ["top", "--batch", "--format", "none", "-i", "100", "--listen", "127.0.0.1:0",
    "-e", "context-switches,cycles"], { stdio: ["ignore", "ignore", "pipe"] });
  address = await new Promise((resolve, reject) => {
    let notes = "";
    loft.stderr.on("data", (piece) => {
      notes += piece;
      const found = notes.match(/http:\/\/[0-9.]+:[0-9]+\//);
      if (found) resolve(found[0]);
    });
    loft.on("exit", (status) => reject(new Error(`loft ended with ${status}: ${notes}`)));
  });
});
after(async () => {
  loft?.kill();
  await browser?.close();
});

test("samples move the page, which asks nobody else", async () => {
  const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
  const complaints = [], requests = [];
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(address);
  await page.waitForFunction(() => Number(document.documentElement.dataset.samples) >= 3, null, { timeout: 60000 });
  const rows = await page.$$eval("#cores tbody tr", (found) => found.map((row) => row.firstChild.textContent));
  const cores = (await (await fetch(new URL("metrics", address))).text()).match(/^loft_core_up\{/gm).length;
  assert.equal(rows.length, cores);
  const head = await page.$$eval("#cores th", (found) => found.map((cell) => cell.textContent));
  assert.ok(head.includes("context-switches /s"), head.join());
  assert.ok(head.includes("cycles /s"), head.join());
  assert.match(await page.textContent("[role=status]"), /cores, .* since the start/);
  assert.deepEqual(complaints, []);
  assert.ok(requests.every((url) => url.startsWith(address) || url.startsWith("data:")), requests.join());
  if (process.env.LOFT_SCREENSHOT) await page.screenshot({ path: process.env.LOFT_SCREENSHOT, fullPage: true });
});

test("the page says when loft has gone", async () => {
  const page = await browser.newPage();
  await page.goto(address);
  await page.waitForFunction(() => Number(document.documentElement.dataset.samples) >= 1, null, { timeout: 60000 });
  loft.removeAllListeners("exit");
  loft.kill();
  await page.waitForFunction(() => document.querySelector("[role=status]").textContent.includes("lost"), null, { timeout: 60000 });
});
