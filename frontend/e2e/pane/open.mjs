// Opens the page of one pane, and what tests of it share.
import { until } from "../harness.mjs";
import { buildPane, PANE } from "./build.mjs";

const PLATFORMS = { mac: "MacIntel", windows: "Win32", linux: "Linux x86_64" };

/** Options of a test of one pane. os: what the page takes itself to be on. */
export function pane({ program = "shell", os = "linux", query = "", prepare = () => {}, ...more } = {}) {
  return {
    size: [900, 560], dist: PANE, ...more,
    async open(page, mock, options) {
      await buildPane();
      mock.terminals.program = program;
      await prepare(mock, page);
      await page.addInitScript((p) => Object.defineProperty(navigator, "platform", { get: () => p }), PLATFORMS[os]);
      const theme = `theme=${options.theme ?? "dark"}`;
      await page.goto(`${mock.address}/?channel=c1&${theme}&${typeof query === "function" ? query(mock) : query}#token=${mock.token}`);
      if (!options.noWait) await drawn(page);
    },
  };
}

export async function drawn(page) {
  await page.locator(".term:not(.loading) .xterm").waitFor();
}

export const last = (mock) => mock.terminals.last();
export const typed = (mock) => last(mock).input.toString("latin1");

/** What the screen shows, line by line. */
export const screen = (page) => page.evaluate(() => [...document.querySelectorAll(".xterm-rows > div")].map((d) => d.textContent.replaceAll("\u00a0", " ").trimEnd()));

export async function shows(page, text, limit) {
  await until(`the screen shows ${text}`, async () => (await screen(page)).some((l) => l.includes(text)), limit);
}

export const action = (page) => page.evaluate(() => window.pane.actions.splice(0));
export const info = (page) => page.evaluate(() => window.pane.infos.at(-1));
export const set = (page, props) => page.evaluate((p) => window.pane.set(p), props);

/** Runs f and says what arrived at the program meanwhile, once it is quiet. */
export async function arrives(page, mock, f) {
  const before = last(mock).input.length;
  await f();
  let n = -1;
  let same = 0; // looks in a row: a call on the way may take a while on a busy machine
  await until("it is quiet", async () => {
    const now = last(mock).input.length;
    same = now === n ? same + 1 : 0;
    n = now;
    await new Promise((r) => setTimeout(r, 60));
    return same >= 4;
  });
  return last(mock).input.subarray(before).toString("latin1");
}
