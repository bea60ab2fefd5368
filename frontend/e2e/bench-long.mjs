// node e2e/bench-long.mjs
// Measures what is very long, in Chromium, beside the same in short: a review of 20,000 lines
// in one hunk and in 2,000 of them, side by side and in one column, and a message of 5 MB. Of each it
// takes the time until it is drawn, from a key to its frame, and the time between frames while
// it is scrolled. Prints one line of JSON; times are in milliseconds.
import { launch } from "./browser.mjs";
import { startMock } from "./mock/server.mjs";

const LINES = 19_800; // the most that Loop shows, with the heads of hunks

const line = (i) => (i % 3 === 0 ? `-\told := table[${i}].call(ctx, "one", ${i})` : i % 3 === 1 ? `+\tfresh := table[${i}].call(ctx, "two", ${i})` : ` \tif err := check(fresh, ${i}); err != nil {`);
function hunk(id, from, n) {
  const lines = Array.from({ length: n }, (_, i) => line(i));
  const size = (sign) => lines.filter((l) => l[0] !== sign).length;
  return { id, staged: false, old: from, old_size: size("+"), new: from, new_size: size("-"), section: `func part${id}()`, lines: lines.map((l) => `${l}\n`).join("") };
}
const FILES = [
  { path: "other.go", kind: "M", hunks: [hunk("r", 1, 200)] },
  { path: "short.go", kind: "M", hunks: [hunk("s", 1, 200)] },
  { path: "one.go", kind: "M", hunks: [hunk("o", 1, LINES)] },
  { path: "many.go", kind: "M", hunks: Array.from({ length: LINES / 9 }, (_, i) => hunk(`m${i}`, 1 + i * 20, 9)) },
];

// Runs in the page: does something, then waits until something is drawn.
async function drawn(act, done) {
  const next = () => new Promise((r) => requestAnimationFrame(r));
  const painted = () => new Promise((r) => {
    const c = new MessageChannel();
    c.port1.addEventListener("message", () => { c.port1.close(); r(); });
    c.port1.start();
    c.port2.postMessage(0);
  });
  const from = performance.now();
  act();
  do await next(); while (!done() && performance.now() - from < 120_000);
  await painted();
  return performance.now() - from;
}

// Runs in the page: scrolls an element for some seconds, a screen in twelve frames.
async function scrolled(el, seconds) {
  const next = () => new Promise((r) => requestAnimationFrame(r));
  const between = [];
  let last = await next();
  const end = last + seconds * 1000;
  let by = el.clientHeight / 12;
  while (last < end) {
    el.scrollTop += by;
    if (el.scrollTop <= 0 || el.scrollTop + el.clientHeight >= el.scrollHeight - 1) by = -by;
    const now = await next();
    between.push(now - last);
    last = now;
  }
  const at = (p) => between.toSorted((a, b) => a - b)[Math.min(between.length - 1, Math.floor(between.length * p))];
  return { p95: at(0.95), worst: Math.max(...between) };
}

const mock = await startMock({ speed: 1 });
mock.reviews.files = FILES;
const say = (name, text) => {
  const ch = mock.world.addChannel(name, `/home/ana/src/${name}`);
  const one = (id, content, is_bot) => mock.world.emit("message.created", ch.channel_id, `r-${name}`, { msg_id: id, content, is_bot });
  one("p", "Print everything.", false);
  one("lines", text, true);
  one("end", `That was everything of ${name}.`, true);
};
const TEXT = "A line of the message that is rather long, as a whole, with `code` in it.\n\n";
say("brief", TEXT.repeat(70));
say("endless", TEXT.repeat(Math.ceil((5 << 20) / TEXT.length)));
const browser = await launch();
const out = {};
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 950 } });
  page.on("pageerror", (e) => console.error(String(e)));
  await page.goto(mock.url);
  const figure = (name, ms) => { out[name] = Math.round(ms * 100) / 100; if (process.env.DEBUG) console.error(name, out[name]); };
  const timed = (act, done) => page.evaluate(`(${drawn})(${act}, ${done})`);
  const press = (selector, key) => `() => document.querySelector(${JSON.stringify(selector)}).dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, bubbles: true, cancelable: true }))`;

  for (const name of ["brief", "endless", "brief", "endless"]) { // the second time counts, when the scripts are compiled
    const row = await page.getByRole("treeitem", { name }).elementHandle();
    await row.evaluate((el) => { window.row = el; });
    figure(`${name}_drawn`, await timed("() => window.row.click()", `() => document.body.innerText.includes("That was everything of ${name}.")`));
    const keys = [];
    for (let i = 0; i < 20; i++) keys.push(await timed(`() => { const box = document.querySelector("[data-prompt]"); box.focus(); document.execCommand("insertText", false, "x"); }`, "() => true"));
    figure(`${name}_key`, keys.toSorted((a, b) => a - b)[10]);
    await page.getByRole("textbox", { name: /prompt|message/i }).first().fill("").catch(() => undefined);
  }

  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("review of what");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Review", exact: true });
  await panel.waitFor();
  for (const look of ["Split", "Unified"]) {
    await panel.getByRole("radio", { name: look }).click();
    for (const f of FILES.slice(1)) {
      const name = f.path.replace(".go", "");
      await panel.getByRole("option", { name: /other/ }).click(); // from the same one to each
      await panel.getByRole("heading", { name: "other.go" }).waitFor();
      await panel.locator(".review-code").first().waitFor();
      await page.evaluate((path) => { window.row = document.querySelector(`.review-row[title="${path}"]`); }, f.path);
      const key = `${name}_${look.toLowerCase()}`;
      const there = `() => document.querySelector(".review-file-head h2")?.title === "${f.path}" && document.querySelector(".review-code")`;
      let ms = await timed("() => window.row.click()", there);
      if (name === "one") ms += await timed(`() => document.querySelector(".review-more button").click()`, `() => !document.querySelector(".review-more")`);
      figure(`${key}_drawn`, ms);
      const keys = [];
      await page.evaluate(() => document.querySelector(".review-lines").focus());
      for (let i = 0; i < 20; i++) {
        await page.evaluate(() => { window.was = document.querySelector(".review-line"); });
        keys.push(await timed(press(".review-lines", "ArrowDown"), `() => document.querySelector(".review-line") !== window.was`));
      }
      figure(`${key}_key`, keys.toSorted((a, b) => a - b)[10]);
      const frames = await page.evaluate(`(${scrolled})(document.querySelector(".review-hunks"), 4)`);
      figure(`${key}_p95`, frames.p95);
      figure(`${key}_worst`, frames.worst);
    }
  }
} finally {
  await browser.close();
  await mock.close();
}
console.log(JSON.stringify(out));
process.exit(0);
