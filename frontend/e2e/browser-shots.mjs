// Takes pictures of every state of the browser's panel: node e2e/browser-shots.mjs [folder] [filter]
import { mkdirSync } from "node:fs";
import { launch } from "./browser.mjs";
import { clickAt, ELEMENTS, host, openBrowser } from "./browser-steps.mjs";
import { startMock } from "./mock/server.mjs";

const out = process.argv[2] ?? "/tmp/loop-shots";
const only = process.argv[3] ?? "";
mkdirSync(out, { recursive: true });
const browser = await launch();

const ICON = `data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f6f50"/><path d="M5 4h6v2H7v2h3v2H7v3H5z" fill="#fff"/></svg>')}`;
const TABS = [
  { target_id: "a", title: "Sign in – Fernway", url: "http://preview.api-server:8080/login", icon: ICON, active: true, back: true },
  { target_id: "b", title: "Orders – Fernway", url: "http://preview.api-server:8080/orders", icon: ICON },
  { target_id: "c", title: "", url: "http://preview.api-server:6060/debug", loading: true },
];
const HTML = `<meta name="viewport" content="width=device-width"><style>
  :root { color-scheme: light dark } body { font: 16px system-ui, sans-serif; margin: 0; background: light-dark(#f1f3f2, #131a17); color: light-dark(#1c2320, #e6ece9) }
  header { display: flex; gap: 12px; padding: 13px 18px; background: light-dark(#fff, #161f1b); border-bottom: 1px solid light-dark(#dce3df, #25302b); font-weight: 600 }
  main { box-sizing: border-box; max-width: 366px; margin: 20px auto; padding: 24px; background: light-dark(#fff, transparent); border-radius: 12px } h1 { font-size: 24px; margin: 0 0 16px }
  .alert { padding: 12px 16px; border: 1px solid #e0b070; border-radius: 8px; background: light-dark(#fdf1e2, #3a302c); color: light-dark(#7a4a10, #f5c08a); margin-bottom: 20px }
  label { display: block; margin-bottom: 16px; font-weight: 600; font-size: 14px } input, button { font: inherit; display: block; box-sizing: border-box; width: 100%; padding: 10px 14px; margin-top: 6px; border-radius: 8px; border: 1px solid #9aa8a1; background: transparent; color: inherit }
  button { background: #e1e7e4; color: #44524b; border: 0; font-weight: 600 }</style>
  <header>Fernway <span style="font-weight:400">Orders</span></header><main><h1>Sign in</h1><div class="alert"><b>Too many attempts.</b><br>You can try again in 24 seconds.</div>
  <label>Email<input value="ana@example.com"></label><label>Password<input type="password" value="tengoodsigns"></label><button>Wait 24 s</button></main>`;

/** The page as the agent's Chromium would draw it, and where its elements are. */
async function real(view) {
  const p = await browser.newPage({ viewport: { width: view.width, height: view.height }, deviceScaleFactor: view.scale ?? 1, colorScheme: view.dark ? "dark" : "light" });
  await p.setContent(HTML);
  const picture = await p.screenshot({ type: "jpeg", quality: 90 });
  const at = (s) => p.locator(s).boundingBox();
  const boxes = { button: await at("button"), alert: await at(".alert") };
  await p.close();
  return { picture, boxes };
}

async function draw(b) {
  const { picture, boxes } = await real(b.state.view);
  b.picture = picture;
  b.draw();
  b.elements = [ELEMENTS[0], { ...ELEMENTS[2], ...boxes.alert }];
  return boxes;
}

const settled = (page) => page.waitForTimeout(500);

async function shot(name, { theme = "dark", size = [1440, 900], ready = true, before = () => {} }, act = async () => {}) {
  if (!`${name}-${theme}`.includes(only)) return;
  const mock = await startMock({ speed: 10 });
  mock.world.config.theme = theme;
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: theme });
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && console.log(`${name}: ${m.text()}`));
  page.on("pageerror", (e) => console.log(`${name}: ${e}`));
  await page.goto(mock.url);
  await page.getByText("today $").waitFor();
  const b = mock.browsers.of(mock.channel("api-server"));
  b.state.tabs = structuredClone(TABS);
  before(b);
  await openBrowser(page, mock, { ready });
  if (size[0] < 700) await page.keyboard.press("Control+Shift+X"); // the panel alone
  await page.setViewportSize({ width: size[0], height: size[1] }); // a narrow page has no tree to begin with
  await settled(page);
  if (ready) await draw(b);
  await act(page, b, mock);
  await settled(page);
  await page.screenshot({ path: `${out}/browser-${name}-${theme}.png` });
  await page.close();
  await mock.close();
}

const logs = (b) => {
  b.write("log", "[login] limiter aware build 7f3a");
  b.write("log", "[login] attempt 4: wrong password", "login.js:41");
  b.write("error", "POST /api/session 429 (Too Many Requests)", "login.js:44");
  b.write("log", "[login] Retry-After: 30, counting down", "login.js:52");
  b.write("warning", "aria-live region was added after load", "login.js:58");
};
const agent = async (page, b) => {
  logs(b);
  await page.getByRole("button", { name: "Open the console" }).click();
  await settled(page);
  const { button } = await draw(b);
  b.set({ driver: "agent", deed: { text: "clicked “Continue”", at: Date.now() - 3000, ok: true, target: { role: "button", name: "Continue", ...button } } });
};
const person = async (page, b) => {
  await page.getByTitle("Size, zoom and network of the page").click();
  await page.getByRole("menuitem", { name: "Phone" }).click();
  await page.getByRole("button", { name: "Show the page dark" }).click();
  await settled(page);
  const { alert } = await draw(b);
  b.set({ driver: "person", waiting_ms: 41_000 });
  await page.getByRole("textbox", { name: "Prompt" }).fill("When the wait is over a minute, say it in minutes.");
  await page.keyboard.press("Control+Shift+S");
  const box = await page.locator(".browser-page canvas").boundingBox();
  const by = box.width / b.state.view.width;
  await page.mouse.move(box.x + (alert.x + 20) * by, box.y + (alert.y + 20) * by);
  await page.getByText("div.alert").waitFor();
};

for (const theme of ["dark", "light"]) {
  await shot("agent", { theme }, agent);
  await shot("person", { theme }, person);
  for (const [name, width] of [["narrow", 480], ["slim", 320]]) {
    await shot(`${name}-agent`, { theme, size: [width, 800] }, agent);
    await shot(`${name}-more`, { theme, size: [width, 800] }, (page) => page.locator(".browser-bar").getByRole("button", { name: "More" }).click());
  }
  await shot("starting", { theme, ready: false, before: (b) => Object.assign(b.state, { phase: "starting", since_ms: 1234, step: "Step 4 of 9: fonts", tabs: [] }) });
  await shot("crashed", { theme }, (_, b) => b.set({ phase: "crashed", failure: { code: "internal", cause: "Chromium has ended unexpectedly.", remedy: "“Restart” starts it again, and so does the agent's next action." } }));
  await shot("empty", { theme }, (_, b) => b.set({ tabs: [{ target_id: "n", title: "", url: "about:blank", active: true }], ports: [{ port: 8080, url: "http://localhost:8080/", process: "go run ./cmd/api" }, { port: 5173, url: "http://localhost:5173/", process: "node vite" }] }));
  await shot("dialog", { theme }, (_, b) => b.set({ dialog: { kind: "prompt", message: "What is your name?\nIt is shown to others.", default: "Ana" } }));
  await shot("chooser", { theme }, (_, b) => b.set({ chooser: { multiple: true, accept: "image/*,.pdf" } }));
  await shot("reset", { theme }, async (page) => { await page.locator(".browser-bar").getByRole("button", { name: "More" }).click(); await page.getByRole("menuitem", { name: "Forget" }).click(); });
  await shot("network", { theme }, async (page, b) => {
    for (const [m, u, s] of [["GET", "/login", 200], ["GET", "/static/app.css", 200], ["POST", "/api/session", 429], ["GET", "/api/me", 0]]) b.ask(m, `http://preview.api-server:8080${u}`, { status: s, ms: s ? 24 : 0, bytes: s ? 5321 : 0 });
    b.ask("GET", "http://10.0.0.1/", { status: 0, error: "net::ERR_BLOCKED_BY_CLIENT" });
    await page.getByRole("button", { name: "Network" }).click();
    await page.locator("[data-row]").nth(2).click();
  });
  await shot("downloads", { theme }, async (page, b) => {
    b.set({ downloads: [{ id: "1", name: "orders-2030-01.csv", bytes: 48_213, total: 48_213, state: "done", path: "/work/.loop/downloads/orders-2030-01.csv", at: Date.now() }, { id: "2", name: "backup.zip", bytes: 30_000_000, total: 80_000_000, state: "running", at: Date.now() }, { id: "3", name: "../x.bin", bytes: 0, total: 0, state: "refused", why: "It is larger than 100 MB.", at: Date.now() }] });
    await page.getByRole("button", { name: "Downloads" }).click();
  });
  await shot("tabs", { theme }, (_, b) => b.set({ tabs: Array.from({ length: 9 }, (_x, i) => ({ ...TABS[i % 3], target_id: `x${i}`, active: i === 3 })) }));
  await shot("list", { theme, size: [1100, 800] }, async (page, b) => { b.set({ tabs: Array.from({ length: 20 }, (_x, i) => ({ ...TABS[i % 3], target_id: `x${i}`, active: i === 3 })) }); await page.getByRole("button", { name: "20 pages" }).click(); });
  await shot("select", { theme }, async (page, b) => {
    await clickAt(page, b, 200, 200);
    b.set({ popup: { id: 5, kind: "select", x: 150, y: 190, width: 240, height: 32, options: ["One", "Two", "Three"].map((label, i) => ({ label, chosen: i === 1, group: i > 1 ? "More" : "", disabled: i === 2 })) } });
  });
  await shot("menu", { theme }, async (page, b) => { await clickAt(page, b, 200, 200, { button: "right" }); b.set({ popup: { id: 5, kind: "menu", x: 200, y: 200, link: "http://localhost/x", editable: true } }); });
  await shot("find", { theme }, async (page) => { await host(page).click(); await page.keyboard.press("Control+f"); await page.keyboard.type("wait"); await page.keyboard.press("Enter"); });
  await shot("host", { theme }, (_, b) => b.set({ mode: "host", notices: ["Chromium's own sandbox is off here, as the engine does not allow it."] }));
  await shot("lost", { theme }, async (page, _, mock) => { mock.browsers.cut(); mock.down(); await page.getByText("The connection to Loop was lost").waitFor(); });
}
await browser.close();
console.log(out);
