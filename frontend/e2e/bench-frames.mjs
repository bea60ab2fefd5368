// node e2e/bench-frames.mjs
// Measures the page while agents write, in Chromium: how evenly frames come, and how soon a
// letter that is typed is drawn. First with nobody at work, which is the limit, then with one
// channel, then with twenty, of which one is shown. Prints one line of JSON; times are in
// milliseconds.
import { launch } from "./browser.mjs";
import { startMock } from "./mock/server.mjs";

const SECONDS = 10;
const CHANNELS = 20;

// Runs in the page.
async function frames(seconds) {
  const box = document.querySelector("[data-prompt]");
  const between = [], letters = [];
  const next = () => new Promise((r) => requestAnimationFrame(r));
  const painted = () => new Promise((r) => {
    const c = new MessageChannel();
    c.port1.addEventListener("message", () => { c.port1.close(); r(); });
    c.port1.start();
    c.port2.postMessage(0);
  });
  let last = await next();
  const end = last + seconds * 1000;
  while (last < end) {
    const now = await next();
    between.push(now - last);
    last = now;
    if (between.length % 15 === 0) {
      const from = performance.now();
      box.focus();
      document.execCommand("insertText", false, "x");
      await next();
      await painted();
      letters.push(performance.now() - from);
      last = await next();
    }
  }
  const at = (list, p) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))];
  return { p50: at(between, 0.5), p95: at(between, 0.95), worst: Math.max(...between), over50: between.filter((x) => x > 50).length / between.length, key50: at(letters, 0.5), key95: at(letters, 0.95) };
}

const mock = await startMock({ speed: 1 });
mock.play.endless = true;
mock.play.max = CHANNELS;
mock.world.maxRuns = CHANNELS;
const channels = Array.from({ length: CHANNELS }, (_, i) => mock.world.addChannel(i === 0 ? "shown" : `worker ${i + 1}`, `/home/ana/src/worker-${i + 1}`));
const browser = await launch();
const out = {};
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on("pageerror", (e) => console.error(String(e)));
  await page.goto(mock.url);
  await page.getByRole("treeitem", { name: "shown" }).click();
  await page.getByText("Nothing here yet").waitFor();
  const measure = async (name) => {
    for (const [k, v] of Object.entries(await page.evaluate(`(${frames})(${SECONDS})`))) out[`${name}_${k}`] = Math.round(v * 100) / 100;
  };
  const begin = (list) => list.forEach((c, i) => mock.play.enqueue({ channel_id: c.channel_id, client_id: `${i}`.padStart(2, "0") + c.channel_id.slice(2), prompt: "write an essay" }));
  await measure("idle");
  begin(channels.slice(0, 1));
  await page.getByText("Paragraph 1.").first().waitFor();
  await measure("one");
  begin(channels.slice(1));
  await new Promise((r) => setTimeout(r, 3000));
  out.working = [...mock.world.runs.values()].filter((r) => r.state === "running").length;
  await measure("twenty");
} finally {
  await browser.close();
  await mock.close();
}
console.log(JSON.stringify(out));
process.exit(0);
