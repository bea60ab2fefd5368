// A very small test runner. Each test has its own page, its own list of errors and its own
// Loop: a mock, or with the option loop a real one without a container engine.
//
// All mocks have one address, and their pages share one browser profile, which is emptied
// before each test. So the browser compiles the page's scripts once for all tests. A test
// that changes the profile itself has one of its own, by the option alone.
import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { launch } from "./browser.mjs";
import { cpuSeconds } from "./cpu.mjs";
import { startLoop } from "./loop.mjs";
import { startMock } from "./mock/server.mjs";

const tests = [];
export function test(name, options, body) {
  tests.push(typeof options === "function" ? { name, options: {}, body: options } : { name, options, body });
}

export function equal(got, want, what = "") {
  const [g, w] = [JSON.stringify(got), JSON.stringify(want)];
  if (g !== w) throw new Error(`${what || "values differ"}: got ${g}, want ${w}`);
}

export function ok(value, what) {
  if (!value) throw new Error(what);
}

// The longest wait for anything, in milliseconds. Only a failure takes this long: a
// loaded machine may stand still for seconds anywhere.
export const PATIENCE = 60_000;

/** Runs the tests with the option long in full instead of a tenth, and no others. */
export const SOAK = Boolean(process.env.LOOP_SOAK);

/** Polls until the condition holds. */
export async function until(what, condition) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const v = await condition();
    if (v) return v;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

/** Polls until look returns what is wanted. Else it fails with the last value. */
export async function becomes(look, want, what = "") {
  const [end, w] = [Date.now() + PATIENCE, JSON.stringify(want)];
  while (JSON.stringify(await look()) !== w && Date.now() < end) await new Promise((r) => setTimeout(r, 20));
  equal(await look(), want, what);
}

/** Waits n frames: observers of the layout and callbacks for the next frame have then run. */
export const frames = (page, n = 3) => page.evaluate(async (k) => {
  for (let i = 0; i < k; i++) await new Promise((r) => requestAnimationFrame(r));
}, n);

/** Waits until nothing moves or appears for so many frames. Text that fades in has too little contrast for axe. */
export const still = (page, calmFrames = 10) => page.evaluate(async (enough) => {
  const moves = (a) => a.playState === "running" && Number.isFinite(a.effect?.getComputedTiming().endTime);
  let changed = false;
  const watch = new MutationObserver(() => (changed = true)); // text alone is not watched: it may count seconds
  watch.observe(document, { subtree: true, childList: true, attributes: true });
  await document.fonts.ready;
  for (let calm = 0, n = 0; calm < enough && n < 1000; n++) {
    changed = false;
    await new Promise((r) => requestAnimationFrame(r));
    calm = changed || document.getAnimations().some(moves) ? 0 : calm + 1;
  }
  watch.disconnect();
}, calmFrames);

/** Waits until a card takes answers: it takes none for a moment after what it shows has changed. */
export const awake = (locator) => until("the card listens", () => locator.evaluate((el) => !el.dataset.deaf));

/** Has the page click a button in the moment in which words first appear: a click that was meant for what stood there before. */
export const clickAt = (page, words, name) => page.evaluate(([said, called]) => {
  const watch = new MutationObserver(() => {
    const dialog = document.querySelector("[role=dialog]");
    if (!dialog?.textContent.includes(said)) return;
    watch.disconnect();
    [...dialog.querySelectorAll("button")].find((b) => b.textContent === called).click();
  });
  watch.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
}, [words, name]);

/** Gives an element the focus, and again if a closing dialog takes it away just then. */
export async function grab(locator) {
  await until("the element keeps the focus", async () => {
    await locator.focus();
    return locator.evaluate(async (el) => {
      await new Promise((r) => setTimeout(r, 50));
      return el === document.activeElement;
    });
  });
}

/**
 * Runs the tests whose name contains the filter. A test that fails is tried again
 * after all others, at most twice. If it passes then, the file that LOOP_UNSTEADY names
 * gets a line of its name, a tab and its first error. Long tests in full are not tried
 * again.
 */
export async function run(filter) {
  const chosen = tests.filter((x) => (!filter || x.name.includes(filter)) && (!SOAK || x.options.long));
  if (chosen.length === 0) {
    console.log(`no test has “${filter}” in its name`);
    return 1;
  }
  const browser = await launch();
  const failed = [];
  for (const t of chosen) {
    const result = tell(t, await attempt(browser, t));
    if (result.error) failed.push({ t, error: result.error });
  }
  let lost = 0;
  for (const { t, error } of failed) {
    let result = { error };
    for (let i = 0; i < (SOAK ? 0 : 2) && result.error; i++) result = tell(t, await attempt(browser, t));
    if (result.error) lost++;
    else unsteady(t.name, error);
  }
  await browser.close();
  console.log(lost ? `${lost} failed` : "all passed");
  return lost;
}

function tell(t, result) {
  const words = result.error && String(result.error.stack ?? result.error).split("\n").slice(0, 8).join("\n      ");
  console.log(words ? `FAIL  ${t.name}\n      ${words}` : `ok    ${t.name} (${result.ms} ms, ${result.cpu.toFixed(1)} s of CPU)`);
  return result;
}

function unsteady(name, error) {
  const first = String(error.message ?? error).split("\n")[0];
  console.log(`unsteady: ${name}: ${first}`);
  if (process.env.LOOP_UNSTEADY) appendFileSync(process.env.LOOP_UNSTEADY, `page: ${name}\t${first}\n`);
}

async function openLoop(page, mock) {
  await page.goto(mock.url);
  await page.getByText("today $").waitFor();
}

/** The browser profile that tests share, and the address of their mocks. */
class Profile {
  static async open(browser) {
    const p = new Profile();
    p.context = await browser.newContext();
    return p;
  }

  /** Starts a mock at the one address, and empties the profile. */
  async begin(options) {
    const mock = await startMock({ ...options, port: this.port ?? 0 }).catch((e) => {
      if (e.code !== "EADDRINUSE") throw e;
      return startMock(options); // another process took the port meanwhile
    });
    this.port ??= Number(new URL(mock.address).port);
    if (!this.anchor) {
      // The browser keeps the process of an address, and its scripts, while it shows a page of it.
      this.anchor = await this.context.newPage();
      await this.anchor.goto(`${mock.address}/none`);
      this.cdp = await this.context.newCDPSession(this.anchor);
    }
    const storageTypes = "cookies,local_storage,indexeddb,cache_storage,service_workers";
    await this.cdp.send("Storage.clearDataForOrigin", { origin: mock.address, storageTypes });
    // The process of the pages keeps its own copy, which learns of that clearing too late.
    await this.anchor.evaluate(() => localStorage.clear());
    return mock;
  }

  /** Closes all pages of a test. */
  async end() {
    await Promise.all(this.context.pages().filter((x) => x !== this.anchor).map((x) => x.close()));
  }
}

let shared = null;

async function attempt(browser, t) {
  // open: opens another page than the whole of Loop. It gets the mock before any page is loaded.
  // reduced: no animations, as most tests only look at what is there after them.
  const { scenario = "work", speed = 10, dist = undefined, loop = null, alone = false } = t.options; // of Loop and the profile
  const { size = [1280, 800], theme = "dark", reduced = true, quietErrors = false, open = openLoop } = t.options; // of the page
  let own = alone || loop !== null;
  const context = own ? await browser.newContext() : (shared ??= await Profile.open(browser)).context;
  const as = { scenario, speed, dist };
  const mock = loop ? await startLoop(loop) : await (own ? startMock(as) : shared.begin(as));
  if (!loop) mock.world.config.theme = theme;
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: mock.address });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  await page.setViewportSize({ width: size[0], height: size[1] });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: reduced ? "reduce" : "no-preference" });
  const errors = [];
  const outside = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => m.type() === "error" && errors.push(`${m.text()} (${m.location().url})`));
  page.on("request", (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(mock.address) || outside.push(r.url()));
  const began = Date.now();
  const spent = cpuSeconds();
  try {
    await open(page, mock, t.options);
    await t.body(page, mock, context);
    equal(outside, [], "requests to elsewhere");
    if (!quietErrors) equal(errors, [], "errors in the console");
    return { ms: Date.now() - began, cpu: cpuSeconds() - spent };
  } catch (error) {
    if (!own) shared = null; // the next test has nothing of this one
    own = true;
    await page.screenshot({ path: `${tmpdir()}/loop-e2e-${t.name.replace(/\W+/g, "-").slice(0, 50)}.png` }).catch(() => {});
    return { error };
  } finally {
    await (own ? context.close() : shared.end());
    await mock.close();
  }
}
