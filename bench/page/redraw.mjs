// Redraws of the page 'million', part by part: node redraw.mjs FOLDER TIMES
//
import { createRequire } from "node:module";

const [, , folder] = process.argv;
const times = Number(process.argv[3] ?? 40);
const { chromium } = createRequire(`${folder}/`)("playwright-core");
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
page.setDefaultTimeout(300000);
const start = Date.now();
await page.goto(`file://${folder}/million.html`);
await page.waitForFunction(() => document.documentElement.dataset.ready);
console.log(`opened in ${((Date.now() - start) / 1000).toFixed(1)} s`);

// Time of the page's thread: what others take of the machine is not in it.
const client = await page.context().newCDPSession(page);
await client.send("Performance.enable", { timeDomain: "threadTicks" });
const threadTime = async () => 1000 * (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "ThreadTime").value;

async function measure(name, part, prepare = "") {
  await page.evaluate(prepare);
  const run = ([which, n, is_zoomed]) => Promise.resolve().then(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const redraws = [];
    for (let i = 0; i < n; ++i) {
      if (is_zoomed) loft[which].zoom(i % 2 ? 0.5 : 2);
      redraws.push(loft[which].redraw());
      await frame();
    }
    return redraws;
  });
  await page.evaluate(run, [part, 2, name.includes("zoomed")]);
  const before = await threadTime();
  const redraws = await page.evaluate(run, [part, times, name.includes("zoomed")]);
  const cpu = (await threadTime()) - before;
  const at = (share) => [...redraws].sort((a, b) => a - b)[Math.floor(share * (redraws.length - 1))].toFixed(1).padStart(8);
  console.log(`${at(0)} ${at(0.5)} ${(cpu / times).toFixed(1).padStart(8)}  ${name}`);
}

console.log("milliseconds per redraw: least, median, CPU time of the page's thread with its frame");
await measure("a million points", "roofline");
await measure("a million points, zoomed out and in", "roofline");
await measure("a million points, a stretch of time selected", "roofline", "loft.state.setBrush(1000, 2000)");
await measure("a hundred thousand slices", "schedule", "loft.state.set({ brush: null })");
await measure("a time line of 200,000 steps", "lines");
await measure("a flame graph of 17,000 frames", "flame");
await browser.close();
