// The report page in Debian's Chromium. sample_pages.cpp says what the pages hold.
// LOFT_PAGES is the folder of the pages, LOFT_NODE_MODULES the one that has playwright-core.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

const folder = process.env.LOFT_PAGES;
const { chromium } = createRequire(`${process.env.LOFT_NODE_MODULES}/`)("playwright-core");
const kKernels = {
  make_fock_matrix: [0.09, 4.1e9], add_constraint: [1.9, 31e9], "dgemm_kernel<double, 4, 12>": [6.4, 88e9],
  reduce: [0.125, 9.2e9], write_results: [0.004, 0.02e9],
};
const kWide = { width: 1100, height: 800 };
const kSlices = 3120, kSeconds = 6.42;

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());


const opened = new Map();

// A page that is ready, with everything it asked for or complained about. Opened once.
async function open(name) {
  const known = opened.get(name);
  if (known) return known;
  const context = await browser.newContext({ viewport: kWide });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const seen = { requests: [], complaints: [] };
  context.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => { if (message.type() === "error") seen.complaints.push(message.text()); });
  page.on("pageerror", (error) => seen.complaints.push(error.message));
  page.on("dialog", (dialog) => { seen.complaints.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  const address = `file://${folder}/${name}.html`;
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.ready), "true");
  opened.set(name, { page, seen, address });
  return opened.get(name);
}

// Until everything that was asked for has been drawn.
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// A test with the page as it is when it has just been opened.
async function withPage(name, body) {
  const { page, seen, address } = await open(name);
  await page.emulateMedia({ media: null, colorScheme: null, reducedMotion: null });
  await page.setViewportSize(kWide);
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    loft.state.set({ brush: null, view: loft.state.extent, picked: null, event: loft.state.events[0] ?? "", colour: loft.state.data.runs.length > 1 ? "run" : "function" });
    loft.roofline?.reset();
    for (const field of document.querySelectorAll("input")) {
      field.value = "";
      field.dispatchEvent(new Event("input"));
    }
  });
  await settle(page);
  await body(page);
  assert.deepEqual(seen.complaints, []);
  assert.deepEqual(seen.requests.filter((url) => url !== address), []);
}

// Where the corner of a drawing is, after scrolling it into view.
async function corner(page, selector) {
  const canvas = page.locator(`${selector} canvas:not(.under)`).first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  return [box.x, box.y, box];
}

const pixel = (page, selector, x, y) => page.evaluate(([where, px, py]) => {
  const canvas = document.querySelector(where);
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext("2d").getImageData(Math.round(px * ratio), Math.round(py * ratio), 1, 1).data];
}, [selector, x, y]);

// Where a part of all time stands, in pixels from the left edge of a drawing over time.
const across = (page, part) => page.evaluate((at) => {
  const { start, end } = loft.schedule.scale;
  return start + (end - start) * at;
}, part);

// Between two straight lines [x0, y0, x1, y1], by points along both.
function distance(a, b) {
  const along = ([x0, y0, x1, y1]) => Array.from({ length: 201 }, (_, k) => [x0 + ((x1 - x0) * k) / 200, y0 + ((y1 - y0) * k) / 200]);
  const others = along(b);
  return Math.min(...along(a).flatMap(([x, y]) => others.map(([u, v]) => Math.hypot(x - u, y - v))));
}

const tip = (page, part) => page.locator(`${part} .tip`).first();
const rows = (page) => page.locator("#table-0 tbody tr");
const column = (page, n) => page.locator(`#table-0 tbody tr td:nth-child(${n})`).allTextContents();

for (const name of ["empty", "runs", "full"])
  test(`the page '${name}' opens without a request or a complaint`, () => withPage(name, async () => {}));

test("points are where the data says", () => withPage("full", async (page) => {
  const places = await page.evaluate(() => [[0.01, 1e8], [0.1, 1e9], [1, 1e10]].map((v) => loft.roofline.placeOf(...v)));
  for (const axis of [0, 1]) {
    const steps = [places[1][axis] - places[0][axis], places[2][axis] - places[1][axis]];
    assert.ok(Math.abs(steps[0] - steps[1]) < 1e-6 && steps[0] * (axis ? -1 : 1) > 20, "decades are of one length");
  }
  const [left, top] = await corner(page, "#roofline");
  for (const [name, [intensity, flops]] of Object.entries(kKernels)) {
    const [x, y] = await page.evaluate((v) => loft.roofline.placeOf(...v), [intensity, flops]);
    await page.mouse.move(left + x, top + y);
    assert.equal(await tip(page, "#roofline").locator("bdi").first().textContent(), name);
  }
  const words = await tip(page, "#roofline").textContent();
  assert.match(words, /modelled/);
  assert.match(words, /~20\.0 MFLOP\/s/);
  assert.match(words, /~0\.00400 FLOP\/B/);
  assert.match(words, /DRAM bandwidth, 24\.0 % of it/);
}));

test("hardly an operation does not push all others into a corner", () => withPage("hardly_any", async (page) => {
  const [[kernel], [edge]] = await page.evaluate(() =>
    [loft.roofline.placeOf(0.5, 10e9), [loft.roofline.width]]);
  assert.ok(kernel > 0.3 * edge && kernel < 0.9 * edge, `the kernel is at ${kernel} of ${edge}`);
  const [other] = await page.evaluate(() => loft.roofline.placeOf(5e-8, 400));
  assert.ok(other < 0, "the interpreter is outside");
  assert.match(await page.locator("#roofline > .note").textContent(), /1 with hardly any lie outside of this view/);
}));

test("marks and roofs are drawn in their colours at their places", () => withPage("full", async (page) => {
  await page.mouse.move(0, 0);
  const drawing = "#roofline canvas:not(.under)";
  const [x, y] = await page.evaluate(() => loft.roofline.placeOf(0.09, 4.1e9));
  const near = (seen, wanted) => wanted.every((part, i) => Math.abs(seen[i] - part) <= 6);
  assert.ok(near(await pixel(page, drawing, x, y), [0x00, 0x72, 0xb2]), "the heaviest function has the first colour");
  // The L1 roof: 380 GB/s times the intensity.
  for (const intensity of [0.01, 0.05, 0.15]) {
    const [rx, ry] = await page.evaluate((i) => loft.roofline.placeOf(i, 380e9 * i), intensity);
    assert.ok(near((await pixel(page, drawing, rx, ry)).slice(0, 3), [0x00, 0x72, 0xb2]), `L1 roof at ${intensity}`);
  }
  const [tx, ty] = await page.evaluate(() => loft.roofline.placeOf(2, 102.4e9));
  const line = await Promise.all([-1, 0, 1].map((dy) => pixel(page, drawing, tx, ty + dy)));
  assert.ok(line.some((seen) => near(seen.slice(0, 3), [0x1b, 0x1d, 0x1f]) && seen[3] > 150), "the top roof");
}));

test("what is not known is never 0", () => withPage("full", async (page) => {
  const [known, placed] = await page.evaluate(() => {
    const { points } = loft.state.data;
    const i = points.name.findIndex((name) => points.texts[name] === "parse_input");
    return [[points.intensity[i], points.flops_per_second[i]].map(Number.isNaN), loft.roofline.notPlaced];
  });
  assert.deepEqual([known, placed], [[true, true], 1]);
  await page.locator("#table-0 input").fill("helper_7");
  const cells = await rows(page).first().locator("td").allTextContents();
  assert.deepEqual(cells.slice(0, 5), ["helper_7", "0.01 %", "—", "—", "1"]);
  const [left, top] = await corner(page, "#time");
  await page.mouse.move(left + (await across(page, 0.615)), top + 30);  // within the gap
  assert.match(await tip(page, "#time").textContent(), /performancenot known/);
}));

test("a brush on time selects the slices of that time", () => withPage("full", async (page) => {
  const [left, top] = await corner(page, "#time");
  await page.mouse.move(left + (await across(page, 0.25)), top + 40);
  await page.mouse.down();
  await page.mouse.move(left + (await across(page, 0.4)), top + 40, { steps: 4 });
  await page.mouse.up();
  const brush = await page.evaluate(() => loft.state.choices.brush);
  assert.ok(Math.abs(brush[0] - 0.25 * kSeconds) < 0.02 && Math.abs(brush[1] - 0.4 * kSeconds) < 0.02);
  const step = kSeconds / kSlices;
  let wanted = 0;
  for (let i = 0; i < kSlices; ++i) if (i * step < brush[1] && i * step + step > brush[0]) ++wanted;
  assert.match(await page.locator("#brush").textContent(), new RegExp(`: ${wanted} of 3,120 slices`));
  await settle(page);
  const [inside, dim] = await page.evaluate(() => {
    const canvas = document.querySelectorAll("#roofline canvas.under")[1];
    const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let coloured = 0, pale = 0;
    for (const one of data) if (one === 0xffe6e4e2) ++pale; else if (one !== 0) ++coloured;
    return [coloured, pale];
  });
  assert.ok(inside > 500 && dim > 1000, `${inside} coloured, ${dim} pale pixels`);
  await page.getByRole("button", { name: "show it alone" }).click();
  assert.deepEqual(await page.evaluate(() => loft.state.choices.view), brush);
  await page.getByRole("button", { name: "all time" }).click();
  assert.equal(await page.evaluate(() => loft.state.choices.brush), null);
}));

test("colours can follow function, thread or time", () => withPage("full", async (page) => {
  const colours = () => page.evaluate(() => {
    const canvas = document.querySelectorAll("#roofline canvas.under")[1];
    const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(data).size;
  });
  const byFunction = await colours();
  await page.locator('#roofline [data-value="time"]').click();
  await settle(page);
  assert.ok((await colours()) > 2 * byFunction, "time has many shades");
  assert.equal(await page.locator("#roofline .ramp").count(), 1);
  await page.locator('#roofline [data-value="thread"]').click();
  assert.deepEqual(await page.locator("#roofline .legend bdi").allTextContents(), ["solver 4242", "worker 4243", "logger 4244"]);
}));

test("the table is searched and sorted, unknown values last", () => withPage("full", async (page) => {
  const status = page.locator("#table-0 [role=status]");
  assert.equal(await status.textContent(), "126");
  await page.locator("#table-0 input").fill("FOCK");
  assert.equal(await status.textContent(), "1 of 126");
  assert.deepEqual(await column(page, 1), ["make_fock_matrix"]);
  await page.locator("#table-0 input").fill("");
  const performance = page.locator("#table-0 th").nth(2).locator("button");
  await performance.click();
  assert.deepEqual((await column(page, 3)).slice(0, 7),
    ["88.0 GFLOP/s", "31.0 GFLOP/s", "9.20 GFLOP/s", "4.10 GFLOP/s", "900 MFLOP/s", "~20.0 MFLOP/s", "—"]);
  await performance.click();
  assert.deepEqual((await column(page, 3)).slice(0, 2), ["~20.0 MFLOP/s", "900 MFLOP/s"]);
  assert.equal(await page.locator("#table-0 th").nth(2).getAttribute("aria-sort"), "ascending");
  await page.locator("#table-0 .more").click();
  assert.equal(await rows(page).count(), 126);
}));

test("the code of a function follows the function that is picked", () => withPage("full", async (page) => {
  const lines = () => page.locator("#code tbody tr").allTextContents();
  assert.match(await page.locator("#code .note").first().textContent(), /solver: ~61\.0 % of the time/);
  const before = await lines();
  assert.match(before[0], /9 instructions that took no time/);
  assert.match(before[1], /~100\.0 %fock\.c:12.*f\[i\] \+= product\(a, b\);/);
  assert.match(before[2], /~90\.0 %1,000,000\+24vaddsd xmm0, xmm0, xmm1★ ~80\.0 % its result, which waits for \+20/);
  assert.equal(await page.locator("#code tr.held").count(), 1);
  // What it waits for was left out: it is shown and has the focus.
  await page.locator("#code tr.held .goto").click();
  assert.match(await page.evaluate(() => document.activeElement.textContent), /1,000,000\+20vmovsd xmm1/);
  const opened = await lines();
  assert.equal(opened.length, 13);
  assert.ok(opened.some((line) => /fock\.h:3 in product.*return a \* b;/.test(line)));
  await page.locator("#table-0 tbody tr", { hasText: "reduce" }).click();
  assert.equal(await page.locator('#code [aria-pressed="true"]').textContent(), "reduce");
  assert.match((await lines())[0], /9 instructions/);
  await page.locator("#code .quiet button").focus();
  await page.keyboard.press("Enter");
  assert.equal((await lines()).length, 13);
}));

test("the flame graph zooms and finds", () => withPage("full", async (page) => {
  const [left, top] = await corner(page, "#flame");
  const [x, y] = await page.evaluate(() => loft.flame.placeOf("solve(Matrix const&)"));
  await page.mouse.move(left + x, top + y);
  assert.match(await tip(page, "#flame").textContent(), /solve\(Matrix const&\).*12\.200 s, 95\.3 %/);
  await page.mouse.click(left + x, top + y);
  assert.equal(await page.evaluate(() => loft.flame.shownRoot), "solve(Matrix const&)");
  await page.locator("#flame input").fill("fock");
  assert.equal(await page.locator("#found").textContent(), `found: ${(100 * 11.9 * 0.61 / 12.8).toFixed(1)} %`);
  await page.locator("#flame canvas").focus();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => loft.flame.shownRoot), "all");
}));

test("the schedule says who ran where", () => withPage("full", async (page) => {
  const [left, top] = await corner(page, "#schedule");
  const step = (kSeconds * 2) / 420;  // two CPUs; slice 20 of CPU 1 is number 41: thread (2 + 41) % 3
  const time = 20.4 * step;
  await page.mouse.move(left + (await across(page, time / (kSeconds - step * 0.07))), top + 30);
  const seen = await tip(page, "#schedule").textContent();
  assert.match(seen, /^CPU 1/);
  assert.match(seen, /threadworker 4243/);
  await page.locator('#schedule [data-value="thread"]').click();
  assert.equal(await page.evaluate(() => loft.schedule.lanes.keys.length), 3);
}));

test("a recording shows one event at a time, the one with stacks first", () => withPage("recording", async (page) => {
  const heads = () => page.locator("#table-0 th").allTextContents();
  assert.deepEqual(await heads(), ["function", "binary", "self", "samples"]);
  assert.equal(await rows(page).count(), 6, "read_input has no cycles");
  await page.locator('#table-0 [data-value="page-faults"]').click();
  assert.deepEqual(await column(page, 1), ["read_input"]);
  assert.equal(await page.locator('#flame [aria-pressed="true"]').textContent(), "page-faults");
  await page.locator('#flame [data-value="cycles"]').click();
  assert.equal(await rows(page).count(), 6);
  for (const width of [1400, 800]) {
    await page.setViewportSize({ width, height: 800 });
    await settle(page);
    const [inner, outer] = await page.evaluate(() => {
      const box = document.querySelector("#table-0 .wide");
      return [box.scrollWidth, box.clientWidth];
    });
    assert.ok(inner <= outer, `the table is ${inner} wide in ${outer} at ${width}`);
  }
}));

test("a broken chain of 120 frames does not make the flame graph high", () => withPage("recording", async (page) => {
  const height = await page.evaluate(() => document.querySelector("#flame .scroll").clientHeight);
  assert.ok(height < 18 * 9, `${height} pixels`);
  assert.notEqual(await page.evaluate(() => loft.flame.placeOf("make_fock_matrix")), null);
  await page.evaluate(() => { document.querySelector("#flame .scroll").scrollTop = 1e6; });
  await settle(page);
  assert.ok((await page.evaluate(() => document.querySelector("#flame .scroll").scrollTop)) > 1800, "it can be scrolled to");
}));

test("callers and callees add up to the function between them", () => withPage("recording", async (page) => {
  await page.locator("#table-0 tbody tr", { hasText: "add_constraint" }).click();
  const sides = () => page.locator("#callers table").allTextContents();
  assert.match((await sides())[0], /100\.0 %2\.856 ssolve\(Matrix const&\)$/);
  assert.match((await sides())[1], /100\.0 %2\.856 sitself$/);
  await page.locator("#callers .link").first().click();
  assert.match(await page.locator("#callers .subject").textContent(), /solve\(Matrix const&\)12\.200 s, 95\.0 % with all/);
  assert.match((await sides())[1], /^its time goes to59\.5 %7\.259 smake_fock_matrix/);
  await page.getByRole("button", { name: "back" }).click();
  assert.match(await page.locator("#callers .subject").textContent(), /^add_constraint/);
}));

test("lanes of threads bear their names", () => withPage("recording", async (page) => {
  await page.locator('#schedule [data-value="thread"]').click();
  await settle(page);
  const margin = await page.evaluate(() => loft.schedule.scale.start);
  const wide = await page.evaluate(() => {
    const g = document.createElement("canvas").getContext("2d");
    g.font = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
    return g.measureText("a-worker 4243").width;
  });
  assert.ok(margin > wide + 6, `${margin} pixels for ${wide}`);
}));

test("words of roofs cross no line and no other words", () => withPage("full", async (page) => {
  for (const width of [1400, 800, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await settle(page);
    const { names, roofs } = await page.evaluate(() => loft.roofline.roofWords);
    assert.ok(names.length >= 7, `${names.length} names at ${width}`);
    // Letters are some 9 pixels high: the middle of words is 5 or more away from lines, 10 from other words.
    names.forEach((words, i) => {
      for (const roof of roofs) assert.ok(distance(words, roof) >= 5, `a line through words at ${width}`);
      for (const other of names.slice(i + 1)) assert.ok(distance(words, other) >= 10, `words over words at ${width}`);
    });
  }
}));

test("ranks of a job are called so and have the colour of their node", () => withPage("ranks", async (page) => {
  await page.evaluate(() => loft.state.set({ colour: "node" }));
  assert.deepEqual(await page.locator("#roofline .legend bdi").allTextContents(), ["node17", "node18"]);
  const [left, top] = await corner(page, "#roofline");
  const [x, y] = await page.evaluate(() => loft.roofline.placeOf(0.2, 4e9));
  await page.mouse.move(left + x, top + y);
  assert.match(await tip(page, "#roofline").textContent(), /rank 0.*nodenode17/);
  assert.doesNotMatch(await page.locator("body").textContent(), /thread \d/);
}));

test("several runs share one drawing", () => withPage("runs", async (page) => {
  assert.deepEqual(await page.locator("#roofline .legend bdi").allTextContents(), ["before", "after"]);
  const [left, top] = await corner(page, "#roofline");
  const [x, y] = await page.evaluate(() => loft.roofline.placeOf(0.21, 1.7 * 11.8e9));
  await page.mouse.move(left + x, top + y);
  assert.match(await tip(page, "#roofline").textContent(), /runafter/);
}));

test("hostile names stay text", () => withPage("hostile", async (page) => {
  const evil = `</script><img src=x onerror="document.title='owned'">`;
  assert.equal(await page.title(), `${evil} · loft`);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.evaluate(() => document.querySelectorAll("script").length), 0);
  assert.equal(await page.locator("h1").textContent(), evil);
  const names = await column(page, 1);
  assert.ok(names.includes(evil) && names.includes("__proto__") && names.includes("<!--<script>"));
  assert.ok(names.includes("\\u202egnp.elif"), "a turned direction is written out");
  assert.ok(names.includes("שלום"), "letters of other scripts stay letters");
  assert.ok(names.some((text) => text.includes("\\x1b[31mred")) && names.some((text) => text.includes("\\xff\\xfe")));
  assert.ok((await page.locator("#code code").allTextContents()).includes(evil), "so do lines of source");
  assert.equal(await page.evaluate(() => ({}).polluted ?? Object.keys(Object.prototype).length), 0);
  const [left, top] = await corner(page, "#roofline");
  const [x, y] = await page.evaluate(() => loft.roofline.placeOf(0.1, 1e9));
  await page.mouse.move(left + x, top + y);
  assert.equal(await tip(page, "#roofline").locator("bdi").first().textContent(), evil);
}));

test("the page follows the system into the dark and back", () => withPage("full", async (page) => {
  await page.emulateMedia({ colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(18, 20, 22)");
  const isDark = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--scheme"));
  await page.getByLabel("colour scheme").click();
  assert.match(await isDark(), /light/);
  await page.getByLabel("colour scheme").click();
  assert.match(await isDark(), /dark/);
  await page.getByLabel("colour scheme").click();
  await page.emulateMedia({ colorScheme: "light" });
  assert.match(await isDark(), /light/);
}));

test("paper is light, without what only a screen can do", () => withPage("full", async (page) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.locator("nav").isVisible(), false);
  assert.equal(await page.locator("#roofline canvas:not(.under)").isVisible(), true);
  // Axes and ticks stand in the one canvas that every printer keeps.
  const left = () => page.evaluate(() => {
    const canvas = document.querySelector("#roofline canvas:not(.under)");
    return canvas.getContext("2d").getImageData(0, 0, 50, canvas.height).data.some((one) => one !== 0);
  });
  assert.equal(await left(), false);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await left(), true);
  assert.equal(await page.evaluate(() => loft.roofline.width), 700);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await left(), false);
}));

for (const name of ["full", "hostile"])
  test(`the page '${name}' fits a narrow window`, () => withPage(name, async (page) => {
    await page.setViewportSize({ width: 360, height: 700 });
    await settle(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
    const [, , box] = await corner(page, "#roofline");
    assert.ok(box.width > 280 && box.width < 360);
  }));

test("everything can be reached and used with the keyboard", () => withPage("full", async (page) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.locator("h1").click();
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
  const reached = new Set();
  for (let i = 0; i < 90; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => `${document.activeElement.tagName} ${document.activeElement.closest("section,header")?.id}`));
  }
  for (const wanted of ["A ", "CANVAS roofline", "CANVAS time", "CANVAS schedule", "CANVAS flame", "INPUT flame", "DIV code", "BUTTON code", "INPUT table-0", "BUTTON table-0"])
    assert.ok(reached.has(wanted), `${wanted} is reached by Tab`);
  await page.locator("#roofline canvas:not(.under)").focus();
  const span = () => page.evaluate(() => loft.roofline.axes.x.to - loft.roofline.axes.x.from);
  const whole = await span();
  await page.keyboard.press("+");
  assert.ok(Math.abs((await span()) / whole - 0.8) < 1e-9);
  await page.keyboard.press("0");
  assert.equal(await span(), whole);
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  assert.match(await page.locator("#spoken").textContent(), /^make_fock_matrix: .*4\.10 GFLOP\/s/);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => loft.state.choices.picked), "make_fock_matrix");
  assert.equal(await page.locator('#table-0 tr[aria-selected="true"]').count(), 1);
  await page.locator("#time canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  assert.notEqual(await page.evaluate(() => loft.state.choices.brush), null);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => loft.state.choices.brush), null);
}));

test("a million points and a hundred thousand slices are drawn", () => withPage("million", async (page) => {
  const seen = await page.evaluate(() => {
    const times = [0, 1, 2].map(() => loft.roofline.redraw() + loft.schedule.redraw());
    const canvas = document.querySelectorAll("#roofline canvas.under")[1];
    const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return { count: loft.state.data.points.count, drawn: data.filter((one) => one !== 0).length, times };
  });
  assert.equal(seen.count, 1000007);
  assert.ok(seen.drawn > 50000, `${seen.drawn} pixels`);
  console.log(`roofline and schedule redrawn in ${seen.times.map((one) => one.toFixed(0)).join(", ")} ms`);
}));
