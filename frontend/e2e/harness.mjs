// A very small test runner: each test has its own mock, page and clock of errors.
import { tmpdir } from "node:os";
import { launch } from "./browser.mjs";
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

/** Polls until the condition holds. */
export async function until(what, condition, limit = 5000) {
  const end = Date.now() + limit;
  for (;;) {
    const v = await condition();
    if (v) return v;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

export async function run(filter) {
  const chosen = tests.filter((x) => !filter || x.name.includes(filter));
  if (chosen.length === 0) {
    console.log(`no test has “${filter}” in its name`);
    return 1;
  }
  const browser = await launch();
  let failed = 0;
  for (const t of chosen) {
    // Chromium drops what is under way when a network of the host changes, as
    // engine tests beside this one make it do: such a test gets a second try.
    let result = await attempt(browser, t);
    if (result.error && result.disturbed) result = await attempt(browser, t);
    console.log(result.error ? `FAIL  ${t.name}\n      ${String(result.error.stack ?? result.error).split("\n").slice(0, 8).join("\n      ")}` : `ok    ${t.name} (${result.ms} ms)`);
    if (result.error) failed++;
  }
  await browser.close();
  console.log(failed ? `${failed} failed` : "all passed");
  return failed;
}

async function openLoop(page, mock) {
  await page.goto(mock.url);
  await page.getByText("today $").waitFor();
}

async function attempt(browser, t) {
  // open: for a page that is not the whole of Loop; it is given the mock before anything is loaded.
  const { scenario = "work", speed = 10, size = [1280, 800], theme = "dark", reduced = false, quietErrors = false, dist = undefined, open = openLoop } = t.options;
  const mock = await startMock({ scenario, speed, dist });
  mock.world.config.theme = theme;
  const context = await browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: theme, reducedMotion: reduced ? "reduce" : "no-preference" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: mock.address });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const errors = [];
  const outside = [];
  let disturbed = false;
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("requestfailed", (r) => (disturbed ||= r.failure()?.errorText === "net::ERR_NETWORK_CHANGED"));
  page.on("request", (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(mock.address) || outside.push(r.url()));
  const began = Date.now();
  try {
    await open(page, mock, t.options);
    await t.body(page, mock, context);
    equal(outside, [], "requests to elsewhere");
    if (!quietErrors) equal(errors.filter((e) => !e.includes("ERR_NETWORK_CHANGED")), [], "errors in the console");
    return { ms: Date.now() - began };
  } catch (error) {
    await page.screenshot({ path: `${tmpdir()}/loop-e2e-${t.name.replace(/\W+/g, "-").slice(0, 50)}.png` }).catch(() => {});
    return { error, disturbed };
  } finally {
    await context.close();
    await mock.close();
  }
}
