// Opens the page of one terminal pane, and has the steps that its tests share.
import { becomes, equal, until } from "../harness.mjs";
import { buildPane, PANE } from "./build.mjs";

const PLATFORMS = { mac: "MacIntel", windows: "Win32", linux: "Linux x86_64" };

/** Options for a test of one pane. os: the system that the page believes to run on. */
export function pane({ program = "shell", os = "linux", query = "", prepare = () => {}, ...more } = {}) {
  return {
    size: [900, 560], dist: PANE, ...more,
    async open(page, mock, options) {
      await buildPane();
      mock.terminals.program = program;
      await prepare(mock, page);
      await page.addInitScript(watch);
      await page.addInitScript((p) => Object.defineProperty(navigator, "platform", { get: () => p }), PLATFORMS[os]);
      const theme = `theme=${options.theme ?? "dark"}`;
      await page.goto(`${mock.address}/?channel=c1&${theme}&${typeof query === "function" ? query(mock) : query}#token=${mock.token}`);
      if (!options.noWait) await drawn(page);
    },
  };
}

// Runs in the page: keeps its terminal's socket, and collects notices that soon vanish.
function watch() {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    if (this.url.includes("terminal")) window.wire = this;
    return send.call(this, data);
  };
  window.notices = [];
  new MutationObserver(() => {
    for (const p of document.querySelectorAll(".term-notice p")) if (window.notices.at(-1) !== p.textContent) window.notices.push(p.textContent);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** Waits until the page has shown a notice, even one that has vanished since. */
export async function said(page, text) {
  await until(`it says ${text}`, () => page.evaluate((t) => window.notices.some((n) => n.includes(t)), text));
}

/** Waits until the terminal has the focus and keeps it for 50 ms: a closing layer may still take it away. */
export async function keyboard(page) {
  await until("the terminal has the keyboard", () => page.evaluate(async () => {
    const here = () => document.activeElement?.matches(".xterm textarea") ?? false;
    if (!here()) return false;
    await new Promise((r) => setTimeout(r, 50));
    return here();
  }));
}

export async function drawn(page) {
  await page.locator(".term:not(.loading) .xterm").waitFor();
}

export const last = (mock) => mock.terminals.last();
export const typed = (mock) => last(mock).input.toString("latin1");

/** The lines on the screen. */
export const screen = (page) => page.evaluate(() => [...document.querySelectorAll(".xterm-rows > div")].map((d) => d.textContent.replaceAll("\u00a0", " ").trimEnd()));

export async function shows(page, text) {
  await until(`the screen shows ${text}`, async () => (await screen(page)).some((l) => l.includes(text)));
}

/** Waits until the shell shows its prompt; with a command given, also until that is on the screen. */
export async function prompted(page, command = "") {
  await until("the shell waits", async () => {
    const lines = (await screen(page)).filter((l) => l !== "");
    return lines.at(-1) === "$" && (command === "" || lines.includes(`$ ${command}`));
  });
}

/** Waits until the pane has asked its layout for these actions and no others, then forgets them. */
export async function did(page, want, what) {
  await becomes(() => page.evaluate(() => window.pane.actions), want, what);
  await page.evaluate(() => window.pane.actions.splice(0));
}
export const info = (page) => page.evaluate(() => window.pane.infos.at(-1));
export const set = (page, props) => page.evaluate((p) => window.pane.set(p), props);

/** Stops the page's timers until the caller calls the returned function. */
export async function stopClock(page) {
  await page.evaluate(() => {
    const { setTimeout: begin, clearTimeout: end } = window;
    const waiting = new Map();
    let id = 1e9;
    window.setTimeout = (f) => (waiting.set(++id, f), id);
    window.clearTimeout = (n) => void (waiting.delete(n) || end.call(window, n));
    window.goOn = () => {
      Object.assign(window, { setTimeout: begin, clearTimeout: end });
      for (const f of waiting.values()) begin.call(window, f);
    };
  });
  return () => page.evaluate(() => window.goOn());
}

let fences = 0;
/** Gives the page 80 ms for its own timers, then waits until the mock has all that the page sent. */
async function fence(page, mock) {
  const n = ++fences;
  const sent = await page.evaluate(async (k) => {
    await new Promise((r) => setTimeout(r, 40));
    if (window.wire?.readyState !== WebSocket.OPEN) return false;
    window.wire.send(JSON.stringify({ type: "fence", n: k }));
    return true;
  }, n);
  if (sent) await until("what was sent arrived", () => mock.terminals.log.some((m) => m.type === "fence" && m.n === n));
}

let marks = 0;
/** Lets the program print, and waits until the page has parsed the output. */
export async function prints(page, mock, text) {
  const mark = `mark ${++marks}`;
  await last(mock).write(`${text}\x1b]2;${mark}\x07`);
  await until(`the page has ${JSON.stringify(text).slice(0, 40)}`, () => page.evaluate((m) => window.pane.infos.some((i) => i.title === m), mark));
}

/** Runs f, and checks that exactly the wanted input arrives at the program. */
export async function gives(page, mock, f, want, what = "") {
  const s = last(mock);
  const before = s.input.length;
  const got = () => s.input.subarray(before).toString("latin1");
  await f();
  if (want !== "") await until(`${JSON.stringify(want)} arrives ${what}`, () => got().length >= want.length);
  for (let i = 0; i < 2; i++) await fence(page, mock);
  equal(got(), want, what);
}
