// A very small test runner. Each test has its own page, its own list of errors and its own
// Loop: a mock, or with the option loop a real one without a container engine.
import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { launch } from "./browser.mjs";
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

/** Waits until nothing moves or appears. Text that fades in has too little contrast for axe. */
export const still = (page) => page.evaluate(async () => {
  const moves = (a) => a.playState === "running" && Number.isFinite(a.effect?.getComputedTiming().endTime);
  let changed = false;
  const watch = new MutationObserver(() => (changed = true)); // text alone is not watched: it may count seconds
  watch.observe(document, { subtree: true, childList: true, attributes: true });
  await document.fonts.ready;
  for (let calm = 0, n = 0; calm < 10 && n < 1000; n++) {
    changed = false;
    await new Promise((r) => requestAnimationFrame(r));
    calm = changed || document.getAnimations().some(moves) ? 0 : calm + 1;
  }
  watch.disconnect();
});

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
 * gets a line of its name, a tab and its first error.
 */
export async function run(filter) {
  const chosen = tests.filter((x) => !filter || x.name.includes(filter));
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
    let result = tell(t, await attempt(browser, t));
    if (result.error) result = tell(t, await attempt(browser, t));
    if (result.error) lost++;
    else unsteady(t.name, error);
  }
  await browser.close();
  console.log(lost ? `${lost} failed` : "all passed");
  return lost;
}

function tell(t, result) {
  const words = result.error && String(result.error.stack ?? result.error).split("\n").slice(0, 8).join("\n      ");
  console.log(words ? `FAIL  ${t.name}\n      ${words}` : `ok    ${t.name} (${result.ms} ms)`);
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

async function attempt(browser, t) {
  // open: opens another page than the whole of Loop. It gets the mock before any page is loaded.
  const { scenario = "work", speed = 10, size = [1280, 800], theme = "dark", reduced = false, quietErrors = false, dist = undefined, open = openLoop, loop = null } = t.options;
  const mock = loop ? await startLoop(loop) : await startMock({ scenario, speed, dist });
  if (!loop) mock.world.config.theme = theme;
  const context = await browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: theme, reducedMotion: reduced ? "reduce" : "no-preference" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: mock.address });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const errors = [];
  const outside = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("request", (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(mock.address) || outside.push(r.url()));
  const began = Date.now();
  try {
    await open(page, mock, t.options);
    await t.body(page, mock, context);
    equal(outside, [], "requests to elsewhere");
    if (!quietErrors) equal(errors, [], "errors in the console");
    return { ms: Date.now() - began };
  } catch (error) {
    await page.screenshot({ path: `${tmpdir()}/loop-e2e-${t.name.replace(/\W+/g, "-").slice(0, 50)}.png` }).catch(() => {});
    return { error };
  } finally {
    await context.close();
    await mock.close();
  }
}
