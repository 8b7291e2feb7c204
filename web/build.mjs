// Builds the pages, each into one file: node web/build.mjs [report|live OUTPUT]
//
// esbuild makes one script and one style of what is in src/; both go into the page together with
// their hashes, so that it runs these two and nothing else. src/view/page.cpp puts data into the
// place that the report leaves for them; the live page fetches its own. The results are committed:
// building loft needs neither node nor esbuild.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const pages = {
  report: { script: "src/main.ts", page: "page.html", output: here("../src/view/page_template.html") },
  live: { script: "src/live.ts", page: "live.html", output: here("../src/top/live_page.html") },
};

const build = (...what) => execFileSync("esbuild", [...what, "--minify", "--charset=utf8", "--log-level=warning"], { encoding: "utf8" }).trim();
const style = build(here("page.css"));
const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

function write({ script: entry, page, output }) {
  const script = build(here(entry), "--bundle", "--format=iife", "--target=es2022");
  // Nothing that ends the element early may stand inside one.
  for (const text of [script, style])
    if (/<\/(script|style)/i.test(text)) throw new Error("the bundle would end its own element");
  const parts = { script, style, script_hash: hash(script), style_hash: hash(style) };
  writeFileSync(output, readFileSync(here(page), "utf8").replace(/@(script|style|script_hash|style_hash)@/g, (_, part) => parts[part]));
}

const [chosen, output] = process.argv.slice(2);
if (chosen) write({ ...pages[chosen], output });
else Object.values(pages).forEach(write);
