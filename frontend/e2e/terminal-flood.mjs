// A program prints as fast as it may, while keys are typed. The tests print their
// figures, and fail only at one that means a defect.
import { HIGH } from "./mock/terminals.mjs";
import { flood } from "./mock/programs.mjs";
import { becomes, equal, ok, SOAK, test, until } from "./harness.mjs";
import { info, last, pane, screen, shows } from "./pane/open.mjs";

const at = (sorted, p) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] * 10) / 10;

/** Notes in the page when output arrives. The answer to a key is parsed in the same turn. */
const clocks = (_, page) => page.addInitScript(() => {
  window.keys = [];
  addEventListener("keydown", () => (window.pressed = performance.now()), true);
  const add = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (type, f, ...rest) {
    return add.call(this, type, type !== "message" ? f : (e) => {
      f.call(this, e);
      if (window.pressed && e.data instanceof ArrayBuffer && new TextDecoder().decode(e.data.slice(-200)).includes("answer")) {
        window.taken = performance.now() - window.pressed;
      }
    }, ...rest);
  };
});

/** Times from a key to the program's answer by the page's clock: when it arrived, and when the layout knew it. */
async function latencies(page, mock, n) {
  const s = last(mock);
  let answers = 0;
  s.onInput = () => void s.write(`\x1b]2;answer ${++answers}\x07`);
  await page.evaluate(() => {
    window.keys = [];
    window.parsed = [];
    const push = Array.prototype.push.bind(window.pane.infos);
    window.pane.infos.push = (i) => {
      if (i.title.startsWith("answer") && window.pressed) {
        window.keys.push(performance.now() - window.pressed);
        if (window.taken) window.parsed.push(window.taken);
        window.pressed = window.taken = 0;
      }
      return push(i);
    };
  });
  for (let i = 1; i <= n; i++) {
    await page.keyboard.press("a");
    await until(`answer ${i}`, () => page.evaluate((k) => window.keys.length >= k, i));
  }
  return page.evaluate(() => ({ shown: window.keys.toSorted((a, b) => a - b), parsed: window.parsed.toSorted((a, b) => a - b) }));
}

test("flood: bounded, whole to the last cell, and keys get through", pane({ program: "silent", prepare: clocks, long: true }), async (page, mock) => {
  const s = last(mock);
  const idle = await latencies(page, mock, SOAK ? 25 : 5);
  let worst = 0;
  const watch = setInterval(() => (worst = Math.max(worst, ...[...s.viewers].map((v) => v.behind()))), 1);
  const [MB, keys] = SOAK ? [24, 15] : [2.4, 5];
  const began = performance.now();
  const sent = s.offset;
  let going = true; // as long as keys are answered
  const over = flood(s, MB, () => going).then(() => performance.now());
  const busy = await latencies(page, mock, keys);
  going = false;
  const end = await over;
  clearInterval(watch);
  await s.write("\r\nthe very end\r\n");
  await shows(page, "the very end");
  const rate = (s.offset - sent) / 1024 / 1024 / ((end - began) / 1000);
  console.log(`      key to parsed, idle: p50 ${at(idle.parsed, 0.5)} p95 ${at(idle.parsed, 0.95)} ms; key to told: idle p50 ${at(idle.shown, 0.5)} p95 ${at(idle.shown, 0.95)}, under flood p50 ${at(busy.shown, 0.5)} p95 ${at(busy.shown, 0.95)} ms; ${rate.toFixed(1)} MB/s through the page; at most ${Math.round(worst / 1024)} KiB not acknowledged`);
  ok(worst <= HIGH + 64 * 1024, `${worst} bytes on their way`);
  await s.snapshot();
  const b = s.vt.buffer.active;
  const want = Array.from({ length: s.rows }, (_, y) => b.getLine(b.baseY + y).translateToString(true).trimEnd());
  await becomes(() => screen(page), want, "the last screen");
});

test("flood: hidden, it holds nobody up; shown again it has everything", pane({ program: "silent", long: true }), async (page, mock) => {
  const s = last(mock);
  await page.evaluate(() => window.pane.set({ visible: false }));
  await until("told", () => mock.terminals.log.some((m) => m.type === "show"));
  await flood(s, SOAK ? 16 : 1.6); // more than the scrollback holds, all the same
  await s.write("\r\nstill here\r\n");
  const ms = await page.evaluate(async () => {
    const began = performance.now();
    window.pane.set({ visible: true });
    while (![...document.querySelectorAll(".xterm-rows > div")].some((d) => d.textContent.includes("still here"))) await new Promise(requestAnimationFrame);
    return performance.now() - began;
  });
  console.log(`      shown again with a full scrollback after ${Math.round(ms)} ms`);
  await becomes(async () => (await info(page)).state, "live");
});

test("flood: text can be selected and scrolled back to while it goes on", pane({ program: "silent", long: true }), async (page, mock) => {
  const s = last(mock);
  const n = SOAK ? 500 : 100;
  for (let i = 0; i < n; i++) await s.write(`line ${i}\r\n`);
  await shows(page, `line ${n - 1}`);
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, -600);
  await until("scrolled", async () => !(await screen(page)).some((l) => l === `line ${n - 1}`));
  const top = (await screen(page))[0];
  for (let i = 0; i < n; i++) await s.write(`more ${i}\r\n`);
  await page.getByRole("button", { name: "New output" }).waitFor();
  equal((await screen(page))[0], top);
});

// Runs in the page: notes when a frame changes the terminal's rows.
const drawings = () => {
  const request = window.requestAnimationFrame.bind(window);
  const seen = new MutationObserver(() => {});
  window.drawings = [];
  window.requestAnimationFrame = (f) => request((t) => {
    const rows = document.querySelector(".xterm-rows");
    if (rows) seen.observe(rows, { subtree: true, childList: true });
    seen.takeRecords();
    f(t);
    if (seen.takeRecords().length > 0) window.drawings.push(performance.now());
  });
};

test("flood: drawn some thirty times a second at most", pane({ program: "silent", prepare: (_, page) => page.addInitScript(drawings) }), async (page) => {
  const gaps = await page.evaluate(async () => {
    const line = new TextEncoder().encode(`${"0123456789".repeat(8)}\r\n`);
    let given = 0;
    const began = performance.now();
    window.drawings = [];
    while (performance.now() - began < 600) {
      const due = 8000 * (performance.now() - began); // bytes, twice what counts as a flood
      for (; given < due; given += 800 * line.length) {
        const data = new Uint8Array(800 * line.length);
        for (let i = 0; i < 800; i++) data.set(line, i * line.length);
        window.wire.dispatchEvent(new MessageEvent("message", { data: data.buffer }));
      }
      await new Promise((r) => setTimeout(r, 4));
    }
    const d = window.drawings.slice(1); // the first one finds out that it floods
    return d.slice(1).map((t, i) => t - d[i]);
  });
  ok(gaps.length > 1 && Math.min(...gaps) > 30, `between two drawings: ${gaps}`);
});

test("a line is drawn once; with a selection, that is drawn too", pane({ program: "silent", prepare: (_, page) => page.addInitScript(drawings) }), async (page, mock) => {
  const s = last(mock);
  for (let i = 0; i < 60; i++) await s.write(`line ${i}\r\n`); // a full screen, so that the next one scrolls
  await shows(page, "line 59");
  const drawn = async (text) => {
    await page.evaluate(() => (window.drawings = []));
    await s.write(`${text}\r\n`);
    await shows(page, text);
    return page.evaluate(() => new Promise((r) => setTimeout(() => r(window.drawings.length), 100)));
  };
  equal(await drawn("first"), 1);
  await page.mouse.dblclick(20, 100);
  await page.evaluate(() => new Promise((r) => setTimeout(r, 100)));
  ok((await drawn("second")) > 1, "the selection moves with the lines");
  await page.mouse.click(20, 300);
  await page.evaluate(() => new Promise((r) => setTimeout(r, 100)));
  equal(await page.locator(".xterm-selection div").count(), 0);
  equal(await drawn("third"), 1);
});

test("flood: rubbish and hostile sequences break nothing and are answered by nothing", pane({ program: "silent" }), async (page, mock) => {
  const s = last(mock);
  s.vt.write = () => {}; // the mock's own terminal has no protection against such output
  let seed = 7;
  const rnd = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const parts = ["\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x9b", "\x90", "?", ">", ";", "0", "1049h", "1049l", "2026h", "2026l", "2J", "3J", "c", "6n", "t", "52;c;?", "133;A", "133;C", "133;D;1", "8;;javascript:x", "1337;File=inline=1;size=9:AAAA", "q#0!99999~", "999999999S", "2147483647b", "\x07", "\x1b\\", "\x18", "\u202e", "é日", "\r\n", "\x00\x7f"];
  const before = s.input.length;
  for (let i = 0; i < 12; i++) {
    let text = "";
    for (let j = 0; j < 200; j++) text += parts[rnd(parts.length)];
    await s.write(i % 3 ? text : Buffer.from(Array.from({ length: 2000 }, () => rnd(256))));
  }
  await s.write("\x18\x1b\\\x1b[?1049l\x1b[?2026l\x1b[?1003l\x1b[?1004l\x1bc\x1b[2J\x1b[Halive");
  await shows(page, "alive");
  equal(s.input.length - before, 0, "bytes that reached the program");
  await page.locator(".term-screen").click({ position: { x: 300, y: 200 } });
  await page.keyboard.type("ok");
  await until("typed", () => s.input.subarray(before).toString().endsWith("ok"));
});
