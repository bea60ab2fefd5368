// node e2e/bench-page.mjs chromium|webkit ADDRESS FLOODER
// Measures a terminal pane of the real page on the real listener, in Chromium or in
// WebKitGTK. The first figure is how fast a program's output becomes cells; the limit
// for it is the same terminal, fed from memory. The second is the time from a key to
// the program's answer, while the program is idle and while it prints without end.
// Prints one line of JSON.
import { spawn } from "node:child_process";
import { launch } from "./browser.mjs";
import { LINE } from "./flood-line.mjs";

const [, , engine, address, flooder] = process.argv;
const MB = 64; // enough that the first second hardly counts: after a key, Loop lets little output be on its way

// Runs in the page.
async function measure(program, mb, line) {
  const turn = () => new Promise((r) => {
    const c = new MessageChannel();
    c.port1.addEventListener("message", () => { c.port1.close(); r(); });
    c.port1.start();
    c.port2.postMessage(0);
  });
  const until = async (what, ok, pause = turn) => {
    const end = performance.now() + 60_000;
    while (!ok()) {
      if (performance.now() > end) throw new Error(`waited for ${what}: ${window.pane.handle?.text().slice(-400)}`);
      await pause();
    }
  };
  // A look at every turn would take a whole core from the flood that is measured.
  const rest = () => new Promise((r) => setTimeout(r, 10));
  const at = (list, p) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))];
  await until("the pane", () => window.pane?.handle && window.pane.infos.at(-1)?.state === "live");
  const h = window.pane.handle;
  const title = () => window.pane.infos.at(-1)?.title ?? "";
  const out = {};

  h.input("stty -echo; PS1=; printf 'rea''dy\\n'\r");
  await until("the shell", () => h.text().includes("ready"));

  h.input("cat\r"); // cat sends each typed line back
  await new Promise((r) => setTimeout(r, 500));
  const idle = [];
  for (let i = 0; i < 40; i++) {
    const began = performance.now();
    h.input(`\u001b]2;key ${i}\u0007\n`);
    await until("an answer", () => title() === `key ${i}`);
    idle.push(performance.now() - began);
    await new Promise((r) => setTimeout(r, 20));
  }
  out.idle_p50 = at(idle, 0.5);
  out.idle_p95 = at(idle, 0.95);

  h.input("\u0003");
  await new Promise((r) => setTimeout(r, 200));
  h.input(`exec node '${program}' ${mb}\r`);
  await until("the flood", () => title() === "flooding");
  const began = performance.now();
  h.input("go");
  await until("its end", () => title() === "flooded", rest);
  out.page = mb / ((performance.now() - began) / 1000);
  const busy = [];
  h.input("on");
  for (let i = 0; i < 30; i++) {
    await new Promise((r) => setTimeout(r, 100));
    const from = performance.now();
    h.input("k");
    await until("an answer in the flood", () => title() === `answer ${i}`);
    busy.push(performance.now() - from);
  }
  out.busy_p50 = at(busy, 0.5);
  out.busy_p95 = at(busy, 0.95);
  h.end();
  await new Promise((r) => setTimeout(r, 1000));
  out.memory = mb / ((await window.feed(line, mb * 1e6)) / 1000);
  out.ratio = out.page / out.memory;
  return out;
}

async function chromium() {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 900, height: 560 } });
  page.on("pageerror", (e) => console.error(String(e)));
  await page.goto(address);
  try {
    return await page.evaluate(`(${measure})(${JSON.stringify(flooder)}, ${MB}, ${JSON.stringify(LINE)})`);
  } finally {
    await browser.close();
  }
}

async function webkit() {
  const port = 20_000 + (process.pid % 20_000);
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], { stdio: "inherit" });
  const call = async (method, path, body) => {
    const r = await fetch(`http://127.0.0.1:${port}${path}`, body ? { method, body: JSON.stringify(body) } : { method });
    const { value } = await r.json();
    if (!r.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  try {
    for (let i = 0; ; i++) {
      try {
        await call("GET", "/status");
        break;
      } catch (e) {
        if (i > 100) throw e;
        await new Promise((r) => setTimeout(r, 100));
      }
    }
    const browser = process.env.MINIBROWSER ?? "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
    const { sessionId } = await call("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary: browser, args: ["--automation"] } } } });
    await call("POST", `/session/${sessionId}/timeouts`, { script: 300_000 });
    await call("POST", `/session/${sessionId}/url`, { url: address });
    const script = `const done = arguments[arguments.length - 1]; (${measure})(arguments[0], arguments[1], arguments[2]).then((v) => done({ v }), (e) => done({ error: String(e) }));`;
    const { v, error } = await call("POST", `/session/${sessionId}/execute/async`, { script, args: [flooder, MB, LINE] });
    await call("DELETE", `/session/${sessionId}`);
    if (error) throw new Error(error);
    return v;
  } finally {
    driver.kill();
  }
}

console.log(JSON.stringify(await (engine === "webkit" ? webkit() : chromium())));
