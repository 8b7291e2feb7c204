// Builds the report page into one template: node web/build.mjs [OUTPUT]
//
// esbuild makes one script and one style of what is in src/; both go into page.html together with
// their hashes, so that the page runs these two and nothing else. src/view/page.cpp puts data into
// the place that is left. The result is committed: building loft needs neither node nor esbuild.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const output = process.argv[2] ?? here("../src/view/page_template.html");

const build = (...what) => execFileSync("esbuild", [...what, "--minify", "--charset=utf8", "--log-level=warning"], { encoding: "utf8" }).trim();
const script = build(here("src/main.ts"), "--bundle", "--format=iife", "--target=es2022");
const style = build(here("page.css"));

// Nothing that ends the element early may stand inside one.
for (const text of [script, style])
  if (/<\/(script|style)/i.test(text)) throw new Error("the bundle would end its own element");

const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;
const parts = { script, style, script_hash: hash(script), style_hash: hash(style) };
const page = readFileSync(here("page.html"), "utf8").replace(/@(script|style|script_hash|style_hash)@/g, (_, part) => parts[part]);
writeFileSync(output, page);
