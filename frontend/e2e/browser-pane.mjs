// The panel of a channel's browser: who drives, the person's hands, and what comes and goes.
import { acted, bar, canvas, clickAt, drives, got, host, inPage, keyboard, openBrowser, painted, placeOf } from "./browser-steps.mjs";
import { quiet } from "./dock-steps.mjs";
import { becomes, equal, frames, ok, SOAK, test, until } from "./harness.mjs";

const side = SOAK ? 30 : 3; // of the grid that is clicked

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");

test("browser: frames are painted as they come, and each is said to be", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.draw([36, 88, 211]);
  await painted(page, b);
  const color = await canvas(page).evaluate((el) => [...el.getContext("2d").getImageData(el.width - 5, el.height - 5, 1, 1).data]);
  ok(Math.abs(color[0] - 36) < 4 && Math.abs(color[2] - 211) < 4, `the picture has ${color}`);
  for (let i = 0; i < 10; i++) b.draw([i * 20, 0, 0]);
  await painted(page, b);
  await becomes(() => Promise.resolve(b.painted.at(-1)), b.frame, "the last that was painted");
  equal(b.painted.length, b.frame, "all are acknowledged");
  b.send(Buffer.from([0xff, 0xd8, 1, 2, 3])); // no picture
  await becomes(() => Promise.resolve(b.painted.at(-1)), b.frame, "a broken one as well");
  b.draw();
  await painted(page, b);
});

test("browser: a click into the page makes its panel the one that commands mean", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await prompt(page).click();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await clickAt(page, b, 60, 60);
  await inPage(page);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("Close the browser");
  await page.getByRole("option", { name: "Close the browser" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "Browser" }).waitFor({ state: "detached" });
});

test("browser: taking over and giving back by keyboard, wherever that is", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.set({ driver: "agent", deed: { text: "clicked “Continue”", at: Date.now(), ok: true, target: { role: "button", x: 20, y: 20, width: 100, height: 30 } } });
  await drives(page, "Claude is");
  await page.getByText("Click “Continue” · now").waitFor();
  await prompt(page).focus();
  await page.keyboard.press("Control+Shift+G");
  await drives(page, "You are");
  await page.locator(".browser-deed").waitFor({ state: "detached" });
  equal(await focused(page), "Prompt", "the keyboard");
  b.set({ waiting_ms: 41_000 });
  await page.getByText("Claude waits, 41 s").waitFor();
  await page.keyboard.press("Control+Shift+G");
  await drives(page, "Nobody is");
  b.set({ driver: "agent" });
  await clickAt(page, b, 50, 50);
  await drives(page, "You are");
  await inPage(page);
  await page.keyboard.press("Control+Shift+G");
  await drives(page, "Nobody is");
  equal(got(b, "keydown").map((i) => i.key).filter((k) => k === "G"), [], "the page has no part of it");
});

test("browser: what the agent did leaves the page with the page", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const deed = { text: "filled in “Email”", at: Date.now(), ok: true, target: { x: 20, y: 20, width: 100, height: 30 } };
  b.set({ driver: "agent", deed });
  await page.locator(".browser-deed").waitFor();
  Object.assign(b.tab, { url: "http://localhost:8080/orders" });
  b.tell();
  await page.locator(".browser-deed").waitFor({ state: "detached" });
  b.set({ deed: { ...deed, at: Date.now() + 1 } });
  await page.getByText("Fill in “Email”").waitFor();
  b.set({ deed: { ...deed, at: Date.now() - 9000 } });
  await page.locator(".browser-deed").waitFor({ state: "detached" });
});

test("browser: a prompt gives the browser back while the agent waits", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await prompt(page).fill("go on");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  b.set({ driver: "person", waiting_ms: 3000 });
  await page.getByRole("button", { name: "Send and give back" }).click();
  await drives(page, "Nobody is");
  equal(mock.log.filter((c) => c.name === "Runs.Prompt").length, 1, "sent");
});

test("browser: typing, shortcuts, layouts and compositions", quiet, async (page, mock, context) => {
  const b = await openBrowser(page, mock);
  await clickAt(page, b, 30, 30);
  await inPage(page);
  await page.keyboard.type("aB");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Shift+Tab");
  const keys = () => Promise.resolve(got(b, "keydown").map((i) => [i.key, i.text ?? "", i.modifiers]));
  await becomes(keys, [["a", "a", 0], ["B", "B", 0], ["Enter", "\r", 0], ["Control", "", 2], ["a", "", 2], ["Shift", "", 8], ["Tab", "", 8]], "keys");
  await inPage(page);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  await cdp.send("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
  await cdp.send("Input.insertText", { text: "日本" });
  const texts = () => Promise.resolve(b.inputs.filter((i) => i.kind === "compose" || i.kind === "text").map((i) => [i.kind, i.text]));
  await until("the composition is over", () => b.inputs.some((i) => i.kind === "text"));
  const all = await texts();
  equal(all.slice(0, 2), [["compose", "に"], ["compose", "にほ"]], "what was shown so far");
  equal(all.filter(([k]) => k === "text"), [["text", "日本"]], "what was typed, once");
  // A key of a layout that comes as text alone, as after a dead key.
  await cdp.send("Input.insertText", { text: "ê" });
  await until("the text", () => b.inputs.some((i) => i.kind === "text" && i.text === "ê"));
  equal(await keyboard(page).inputValue(), "", "the field stays empty");
});

test("browser: the clipboard both ways", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await clickAt(page, b, 30, 30);
  await inPage(page);
  await page.keyboard.press("Control+c");
  await page.getByText("Copied from the page.").waitFor();
  equal(await page.evaluate(() => navigator.clipboard.readText()), "text of the page", "clipboard");
  await page.evaluate(() => navigator.clipboard.writeText("older"));
  await page.keyboard.press("Control+x");
  await until("cut", async () => b.log.some((m) => m.type === "cut") && (await page.evaluate(() => navigator.clipboard.readText())) === "text of the page");
  await page.evaluate(() => navigator.clipboard.writeText("from\nhere"));
  await page.keyboard.press("Control+v");
  await until("pasted", () => b.inputs.some((i) => i.kind === "paste" && i.text === "from\nhere"));
  equal(got(b, "keydown").filter((i) => ["c", "x", "v"].includes(i.key)), [], "keys");
});

for (const scale of [1, 1.5, 2]) {
  test(`browser: clicks are where the mouse is, at scale ${scale}`, { ...quiet, size: [1440, 900], long: true }, async (page, mock, context) => {
    const cdp = await context.newCDPSession(page);
    await cdp.send("Emulation.setDeviceMetricsOverride", { width: 1440, height: 900, deviceScaleFactor: scale, mobile: false });
    const b = await openBrowser(page, mock);
    for (const [device, zoom] of [["Fit the pane", 0], ["Phone", 0], ["Laptop", 2]]) {
      await page.getByTitle("Size, zoom and network of the page").click();
      await page.getByRole("menuitem", { name: device }).click();
      for (let i = 0; i < zoom; i++) {
        await page.locator(".browser-surface").focus();
        await page.keyboard.press("Control++");
      }
      await until("the view is there", () => (device === "Phone") === Boolean(b.state.view.mobile) && (zoom === 0 || b.state.view.zoom === 1.25));
      await painted(page, b);
      await frames(page);
      equal(Math.min(2, scale), b.state.view.scale, "scale of the view");
      const w = Math.round(b.state.view.width / b.state.view.zoom), h = Math.round(b.state.view.height / b.state.view.zoom);
      b.inputs.length = 0;
      const want = [];
      for (let i = 0; i < side; i++) {
        for (let j = 0; j < side; j++) {
          const p = [Math.floor(((i + 0.5) * w) / side), Math.floor(((j + 0.5) * h) / side)];
          want.push(p);
          await clickAt(page, b, p[0] + 0.5, p[1] + 0.5);
        }
      }
      await until("all clicks", () => got(b, "mouseup").length === side * side);
      const hit = got(b, "mousedown").map((e) => [e.x, e.y]);
      const tolerance = w / (await canvas(page).boundingBox()).width; // a pixel of the screen is so many of the page
      for (const [i, [x, y]] of want.entries()) ok(Math.abs(hit[i][0] - x - 0.5) <= tolerance && Math.abs(hit[i][1] - y - 0.5) <= tolerance, `${device}: ${want[i]} became ${hit[i]}`);
    }
  });
}

test("browser: buttons, double clicks, drags, the wheel and touch", { ...quiet, size: [1440, 900] }, async (page, mock, context) => {
  const b = await openBrowser(page, mock);
  const [x, y] = await placeOf(page, b, 60, 60);
  await page.mouse.dblclick(x, y);
  await page.mouse.click(x + 50, y, { button: "middle" });
  await becomes(() => Promise.resolve(got(b, "mousedown").map((i) => [i.button, i.click_count])), [["left", 1], ["left", 2], ["middle", 1]], "presses");
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 400, y); // over the edge: it stays at the edge
  await page.mouse.up();
  await until("let go", () => got(b, "mouseup").length === 4);
  equal(got(b, "mouseup").at(-1).x, 0, "the edge of the page");
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, 120);
  await until("scrolled", () => got(b, "scroll").some((i) => i.delta_y === 120));
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await until("zoomed", () => b.state.view.zoom === 1.1);
  equal(got(b, "scroll").length, 1, "the wheel with Ctrl is no scroll");
  const cdp = await context.newCDPSession(page);
  const touch = (type, points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await touch("touchStart", [{ x, y }]);
  await touch("touchMove", [{ x, y: y + 20 }]);
  await touch("touchEnd", []);
  await until("the finger is up", () => got(b, "touch").some((i) => i.button === "end"));
  equal([...new Set(got(b, "touch").map((i) => i.button))], ["start", "move", "end"], "touch");
});

test("browser: ten thousand moves are few messages", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const edge = await host(page).boundingBox();
  b.inputs.length = 0;
  const drawn = await page.evaluate(async ({ x, y }) => {
    const el = document.querySelector(".browser-page");
    let n = 0;
    const count = () => { n++; requestAnimationFrame(count); };
    requestAnimationFrame(count);
    for (let i = 0; i < 10_000; i++) {
      el.dispatchEvent(new PointerEvent("pointermove", { clientX: x + 5 + (i % 200), clientY: y + 9, bubbles: true, pointerType: "mouse" }));
      if (i % 1000 === 0) await new Promise((r) => requestAnimationFrame(r));
    }
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    return n;
  }, edge);
  await until("the last one", () => got(b, "mousemove").length > 0);
  ok(got(b, "mousemove").length <= drawn + 1, `${got(b, "mousemove").length} messages in ${drawn} frames`);
});

test("browser: nothing of it takes the keyboard", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await prompt(page).focus();
  const changes = [
    { driver: "agent" }, { dialog: { kind: "confirm", message: "Sure?" } }, { dialog: undefined, chooser: { multiple: false, accept: "" } }, { chooser: undefined, driver: "person" },
    { phase: "crashed", failure: { code: "internal", cause: "Chromium has ended.", remedy: "Restart it." } }, { phase: "starting", since_ms: 900, step: "Step 2" }, { phase: "running", failure: undefined },
    { tabs: [{ target_id: "n", title: "", url: "about:blank", active: true }], ports: [{ port: 80, url: "http://localhost:80/", process: "node" }] },
  ];
  for (const [i, part] of changes.entries()) {
    b.set(part);
    await page.keyboard.type(`${i}`);
    await becomes(() => prompt(page).inputValue(), changes.slice(0, i + 1).map((_, n) => n).join(""), "what was typed");
    await frames(page);
  }
  equal(await focused(page), "Prompt", "the keyboard");
});

test("browser: a lost socket comes back by itself, with the picture kept meanwhile", { ...quiet, quietErrors: true }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await clickAt(page, b, 30, 30);
  const shown = await canvas(page).getAttribute("data-frame");
  mock.down();
  mock.browsers.cut();
  await page.getByText("The connection to Loop was lost").waitFor();
  equal(await canvas(page).getAttribute("data-frame"), shown, "the picture");
  const sent = b.log.length;
  await page.keyboard.type("nothing of this");
  equal(b.log.length, sent, "what reached it");
  mock.up();
  await page.getByText("The connection to Loop was lost").waitFor({ state: "detached" });
  await painted(page, b);
  equal(b.viewers.size, 1, "panes");
});

test("browser: a panel closed in mid-frame; opened again; two windows on one page", quiet, async (page, mock, context) => {
  const b = await openBrowser(page, mock);
  for (let i = 0; i < 5; i++) b.draw([0, i * 40, 0]);
  await page.locator(".dock-strip [role=tab]", { hasText: "Browser" }).click({ button: "middle" });
  await host(page).waitFor({ state: "detached" });
  await until("Loop is told", () => b.viewers.size === 0);
  b.draw();
  await openBrowser(page, mock);
  const other = await context.newPage();
  await other.goto(mock.url);
  await openBrowser(other, mock);
  equal(b.viewers.size, 2, "panes");
  b.set({ driver: "person" });
  await drives(page, "You are");
  await drives(other, "You are");
  b.draw([9, 9, 9]);
  await painted(page, b);
  await painted(other, b);
});

test("browser: out of sight it gets no pictures, and an agent's size is fitted again by choice", { ...quiet, size: [1700, 900] }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const sight = () => b.log.map((m) => m.type).filter((t) => t === "away" || t === "back");
  equal(sight(), [], "in sight");
  await page.locator(".dock-strip [role=tab]", { hasText: "Timeline" }).click();
  await page.keyboard.press("Control+Shift+X"); // the timeline has all the room
  await until("away", () => Promise.resolve(sight().join() === "away"));
  await page.keyboard.press("Control+Shift+X");
  await until("back", () => Promise.resolve(sight().join() === "away,back"));
  const own = b.state.view;
  b.set({ view: { ...own, width: 500, height: 400 } });
  await until("the agent's size", () => page.locator(".browser-view").textContent().then((t) => t.includes("500 × 400")));
  await page.getByTitle("Size, zoom and network of the page").click();
  await page.getByRole("menuitem", { name: "Fit the pane" }).click();
  await until("fits again", () => Promise.resolve(b.state.view.width === own.width));
});

test("browser: crash, restart, start and its image, asleep, switched off", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.set({ phase: "crashed", failure: { code: "internal", cause: "Chromium has ended unexpectedly.", remedy: "“Restart” starts it again." } });
  await page.getByText("Chromium has ended unexpectedly.").waitFor();
  let go = () => {};
  b.held = new Promise((r) => { go = r; });
  await page.getByRole("button", { name: "Restart", exact: true }).click();
  await page.getByText("Starting Chromium, 1.2 s").waitFor();
  b.set({ step: "Step 4 of 9: fonts", since_ms: 3400 });
  await page.getByText("Step 4 of 9: fonts").waitFor();
  await page.getByText("Starting Chromium, 3.4 s").waitFor();
  go();
  await bar(page).waitFor();
  b.set({ phase: "idle" });
  await page.getByRole("button", { name: "Start it" }).click();
  await bar(page).waitFor();
  Object.assign(b.tab, { crashed: true });
  b.tell();
  await page.getByRole("button", { name: "Load it again" }).click();
  await acted(b, "reload");
  b.set({ phase: "off" });
  await page.getByText("The browser is switched off").waitFor();
  equal(await bar(page).count(), 0, "nobody drives what is off");
});
