// A very small test runner: each test has its own mock, page and clock of errors.
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
  const browser = await launch();
  let failed = 0;
  for (const t of tests.filter((x) => !filter || x.name.includes(filter))) {
    const { scenario = "work", speed = 10, size = [1280, 800], theme = "dark", reduced = false, quietErrors = false } = t.options;
    const mock = await startMock({ scenario, speed });
    mock.world.config.theme = theme;
    const context = await browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: theme, reducedMotion: reduced ? "reduce" : "no-preference" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: mock.address });
    const page = await context.newPage();
    const errors = [];
    const outside = [];
    page.on("pageerror", (e) => errors.push(String(e)));
    page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    page.on("request", (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(mock.address) || outside.push(r.url()));
    const began = Date.now();
    try {
      await page.goto(mock.url);
      await page.getByText("today $").waitFor();
      await t.body(page, mock, context);
      equal(outside, [], "requests to elsewhere");
      if (!quietErrors) equal(errors, [], "errors in the console");
      console.log(`ok    ${t.name} (${Date.now() - began} ms)`);
    } catch (e) {
      failed++;
      console.log(`FAIL  ${t.name}\n      ${String(e.stack ?? e).split("\n").slice(0, 8).join("\n      ")}`);
      await page.screenshot({ path: `/tmp/loop-e2e-${t.name.replace(/\W+/g, "-").slice(0, 50)}.png` }).catch(() => {});
    } finally {
      await context.close();
      await mock.close();
    }
  }
  await browser.close();
  console.log(failed ? `${failed} failed` : "all passed");
  return failed;
}
