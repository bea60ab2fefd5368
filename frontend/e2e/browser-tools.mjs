// The tools of the browser's panel: pages, find, the picker, drawers, cards, menus, and its looks.
import { acted, canvas, clickAt, drives, ELEMENTS, got, host, inPage, more, openBrowser, placeOf } from "./browser-steps.mjs";
import { clean } from "./clean.mjs";
import { quiet } from "./dock-steps.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const tab = (page, name) => page.locator(".browser-tabs").getByRole("tab", { name });
const focusIs = (page, what) => until(`${what} has the keyboard`, () => page.evaluate((s) => document.activeElement?.matches(s), what));
const pages = (n) => Array.from({ length: n }, (_, i) => ({ target_id: `t${i}`, title: `Page ${i}`, url: `http://localhost/${i}`, active: i === 0 }));

test("browser: pages by keyboard; twenty are icons or a list", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.set({ tabs: pages(3) });
  await tab(page, "Page 0").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await until("the second", () => b.tab.target_id === "t1");
  await page.keyboard.press("End");
  await page.keyboard.press("Delete");
  await until("it is closed", () => b.state.tabs.length === 2);
  await until("a page has the keyboard", () => page.evaluate(() => document.activeElement?.role === "tab"));
  await page.getByRole("button", { name: "New tab" }).click();
  await page.getByText("Where to?").waitFor();
  await tab(page, "New tab").waitFor();
  b.set({ tabs: pages(9) });
  await page.locator(".browser-tabs.icons").waitFor();
  equal(await tab(page, "Page 8").locator(".browser-tab-name").isVisible(), false, "a name where there is no room");
  await tab(page, "Page 8").waitFor();
  b.set({ tabs: pages(20) });
  await page.getByRole("button", { name: "20 pages" }).click();
  await page.getByRole("menuitem", { name: "Page 13" }).click();
  await tab(page, "Page 13").waitFor();
  equal(await page.locator(".browser-tabs [role=tab]").count(), 1, "pages beside the list");
});

test("browser: the address bar; back, forward, reload, stop; open ports", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const address = page.getByRole("textbox", { name: "Address" });
  const marked = () => until("the whole address is marked", () => address.evaluate((el) => el.selectionEnd - el.selectionStart === el.value.length));
  await address.click();
  await marked();
  await page.keyboard.insertText("localhost:3000");
  await page.keyboard.press("Enter");
  equal(await acted(b, "navigate"), { url: "localhost:3000" }, "where to");
  await inPage(page);
  await becomes(() => address.inputValue(), "http://localhost:3000/");
  await address.click();
  await marked();
  await page.keyboard.insertText("never");
  await page.keyboard.press("Escape");
  await becomes(() => address.inputValue(), "http://localhost:3000/", "the address after Esc");
  equal(b.acts.filter(([n]) => n === "navigate").length, 1, "navigations");
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await acted(b, "go_back");
  Object.assign(b.tab, { loading: true, forward: true });
  b.tell();
  await page.getByRole("button", { name: "Stop loading" }).click();
  await acted(b, "stop");
  await page.getByRole("button", { name: "Forward" }).click();
  await acted(b, "go_forward");
  await canvas(page).click();
  await page.keyboard.press("F5");
  await acted(b, "reload");
  b.answers.navigate = () => ({ error: "There is no page at http://nowhere/. Look at the address." });
  b.set({ tabs: [{ target_id: "n", title: "", url: "about:blank", active: true }], ports: [{ port: 8080, url: "http://localhost:8080/", process: "go run ./cmd/api" }] });
  await page.getByRole("button", { name: ":8080 go run ./cmd/api" }).click();
  await page.getByRole("alert").getByText("There is no page at").waitFor();
  equal(b.acts.at(-1), ["navigate", { url: "http://localhost:8080/" }], "the port");
});

test("browser: find, its count, both ways, Esc", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await canvas(page).click();
  await page.keyboard.press("Control+f");
  await focusIs(page, ".browser-find input");
  await page.keyboard.type("wait");
  await page.keyboard.press("Enter");
  await page.getByText("3 places").waitFor();
  await page.keyboard.press("Shift+Enter");
  await until("back", () => b.acts.some(([n, p]) => n === "find_text" && p.back));
  b.answers.find_text = () => ({ result: "0" });
  await page.keyboard.press("Enter");
  await page.getByText("Not on this page").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".browser-find").waitFor({ state: "detached" });
  await inPage(page);
});

test("browser: the picker climbs, and puts its element into the prompt", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.elements = ELEMENTS;
  await prompt(page).fill("Make this red:");
  await page.keyboard.press("Control+Shift+S");
  await page.getByText("Point at an element of the page.").waitFor();
  await page.mouse.move(...(await placeOf(page, b, 60, 70)));
  await page.getByText("div.alert").waitFor();
  await page.getByText("13 px, contrast 9.9").waitFor();
  const ring = await page.locator(".browser-pick").boundingBox();
  const [x, y] = await placeOf(page, b, 40, 60);
  ok(Math.abs(ring.x - x) < 2 && Math.abs(ring.y - y) < 2, `the ring is at ${ring.x}, ${ring.y}, not ${x}, ${y}`);
  await page.keyboard.press("ArrowUp");
  await page.locator(".browser-card code", { hasText: /^form$/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByText("div.alert").waitFor();
  await clean(page, "picking", { within: ".browser" });
  await page.keyboard.press("Enter");
  await becomes(() => prompt(page).inputValue(), "Make this red: [alert “Too many attempts. You can try again in 9 seconds.” div.alert ref 12] ");
  await focusIs(page, "[data-prompt]");
  // Its chip is struck through when the page has changed, and takes it out of the prompt.
  const chip = page.getByRole("list", { name: "Elements in the prompt" }).getByRole("listitem");
  await chip.getByText("ref 12").waitFor();
  equal(await chip.locator("s").count(), 0, "struck through");
  await clean(page, "a picked element");
  b.set({ tabs: b.state.tabs.map((t) => ({ ...t, url: `${t.url}?again` })) });
  await chip.locator("s").waitFor();
  await clean(page, "a picked element that is gone");
  await chip.getByRole("button", { name: "Remove ref 12" }).click();
  await becomes(() => prompt(page).inputValue(), "Make this red: ");
  await focusIs(page, "[data-prompt]");
  await page.keyboard.press("Control+Shift+S");
  await inPage(page);
  await page.keyboard.press("Escape");
  await page.locator(".browser-card").waitFor({ state: "detached" });
  equal(got(b, "keydown").length + got(b, "mousedown").length, 0, "what the page has of it");
  await drives(page, "Nobody is");
});

test("browser: the console follows, filters, clears, evaluates, and goes to the prompt", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.write("log", "one");
  await page.getByRole("button", { name: "Open the console" }).click();
  const console = page.getByRole("list", { name: "Console" });
  await console.getByText("one").waitFor();
  const asked = b.log.length;
  b.write("error", "POST /api/session 429", "login.js:44");
  await console.getByText("POST /api/session 429").waitFor();
  await page.waitForTimeout(700);
  equal(b.log.filter((m, i) => i >= asked && m.type !== "painted"), [], "what the pane asks of a page at rest");
  const line = page.getByRole("textbox", { name: "Expression to evaluate in the page" });
  await line.fill("1 + 1");
  await page.keyboard.press("Enter");
  await console.getByText("gave 1 + 1").waitFor();
  b.answers.evaluate = () => ({ error: "The script failed: ReferenceError: x is not defined." });
  await line.fill("x");
  await page.keyboard.press("Enter");
  await console.locator("li.error", { hasText: "ReferenceError" }).waitFor();
  equal(await page.locator(".browser-strip.error").count(), 0, "the error is said once");
  for (const [key, value] of [["ArrowUp", "x"], ["ArrowUp", "1 + 1"], ["ArrowDown", "x"], ["ArrowDown", ""]]) {
    await page.keyboard.press(key);
    await becomes(() => line.inputValue(), value, key);
  }
  await page.getByRole("textbox", { name: "Filter" }).fill("session");
  await becomes(() => console.getByRole("listitem").count(), 1, "lines");
  await page.getByRole("button", { name: "Error to prompt" }).click();
  await becomes(() => prompt(page).inputValue(), "The page's console says: POST /api/session 429 (login.js:44) ");
  await page.getByRole("textbox", { name: "Filter" }).fill("");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("The page has written nothing.").waitFor();
  b.write("log", "after");
  await console.getByText("after").waitFor();
  equal(await console.getByRole("listitem").count(), 1, "only what came since");
  await clean(page, "console", { within: ".browser" });
});

test("browser: the network, its details by keyboard, and downloads", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  for (const [u, status] of [["/login", 200], ["/api/session", 429], ["/api/me", 0]]) b.ask("GET", `http://localhost:8080${u}`, { status });
  await page.getByRole("button", { name: "Network" }).click();
  const list = page.getByRole("list", { name: "Network" });
  await list.getByText("/api/me").waitFor();
  Object.assign(b.requests[2], { rev: 9, status: 201 });
  b.fill();
  await list.getByText("201").waitFor();
  equal(await list.locator("[data-row]").count(), 3, "a change is no new row");
  await list.locator("[data-row]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await list.getByText("HTTP 429").waitFor();
  await clean(page, "network", { within: ".browser" });
  await page.getByRole("textbox", { name: "Filter" }).fill("429");
  await becomes(() => list.locator("[data-row]").count(), 1, "rows");
  b.set({ downloads: [{ id: "1", name: "orders.csv", bytes: 48_213, total: 48_213, state: "done", path: "/work/.loop/downloads/orders.csv" }, { id: "2", name: "b.zip", bytes: 3e6, total: 8e6, state: "running" }, { id: "3", name: "../x.bin", state: "refused", why: "It is larger than 100 MB." }] });
  await page.getByRole("button", { name: "Downloads 3" }).click();
  await page.getByText("It is larger than 100 MB.").waitFor();
  await page.getByText("2.9 MB of 7.6 MB").waitFor();
  await clean(page, "downloads", { within: ".browser" });
  await page.getByRole("button", { name: "To prompt" }).click();
  await becomes(() => prompt(page).inputValue(), "/work/.loop/downloads/orders.csv ");
});

test("browser: dialogs of a page, by keyboard from the page", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const answers = () => b.acts.filter(([n]) => n === "dialog").map(([, p]) => p);
  await canvas(page).click();
  await inPage(page);
  b.set({ dialog: { kind: "prompt", message: "Your name?\nAs others see it.", default: "Ana" } });
  await page.getByRole("alertdialog", { name: "The page asks" }).waitFor();
  await focusIs(page, ".browser-card .field");
  await clean(page, "dialog", { within: ".browser" });
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Bo");
  await page.keyboard.press("Enter");
  await becomes(() => Promise.resolve(answers()), [{ accept: true, text: "Bo" }]);
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await inPage(page);
  b.set({ dialog: { kind: "confirm", message: "Sure?" } });
  await focusIs(page, ".browser-card [type=submit]");
  await page.keyboard.press("Escape");
  await becomes(() => Promise.resolve(answers().at(-1)), { accept: false });
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  b.set({ dialog: { kind: "beforeunload", message: "" } });
  await page.getByRole("button", { name: "Stay" }).click();
  await becomes(() => Promise.resolve(answers().length), 3);
});

test("browser: files for a page: chosen, refused, cancelled", quiet, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const ask = () => b.set({ chooser: { multiple: true, accept: "image/*,.pdf" } });
  const card = page.getByRole("alertdialog", { name: "The page asks for files" });
  ask();
  await card.waitFor();
  await clean(page, "chooser", { within: ".browser" });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), card.getByRole("button", { name: "Choose files" }).click()]);
  await chooser.setFiles([{ name: "a b.png", mimeType: "image/png", buffer: Buffer.from("one") }, { name: "ü.pdf", mimeType: "application/pdf", buffer: Buffer.from("two") }]);
  equal(await acted(b, "choose_files"), { paths: ["/home/chrome/given/a b.png", "/home/chrome/given/ü.pdf"] }, "what the page gets");
  equal(mock.browsers.files.map((f) => [f.name, f.text, f.channel]), [["a b.png", "one", mock.channel("api-server").channel_id], ["ü.pdf", "two", mock.channel("api-server").channel_id]], "what Loop got");
  await card.waitFor({ state: "detached" });
  ask();
  await card.getByRole("button", { name: "Cancel" }).click();
  await until("cancelled", () => b.acts.filter(([n]) => n === "choose_files").at(1)?.[1].paths.length === 0);
});

test("browser: a file that Loop refuses", { ...quiet, quietErrors: true }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  mock.browsers.refuse = { code: "invalid_input", cause: "The disk is full.", remedy: "Make room on it." };
  b.set({ chooser: { multiple: false, accept: "" } });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Choose a file" }).click()]);
  await chooser.setFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("one") });
  await page.getByRole("alert").getByText("The disk is full. Make room on it.").waitFor();
  equal(b.acts.filter(([n]) => n === "choose_files"), [], "the page still asks");
  await page.getByRole("button", { name: "Choose a file" }).waitFor();
});

test("browser: lists of the page, its pickers, and the menu of a right click", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const answer = () => Promise.resolve(b.acts.filter(([n]) => n === "answer_popup").at(-1)?.[1]);
  await clickAt(page, b, 60, 60);
  b.set({ popup: { id: 3, kind: "select", x: 50, y: 50, width: 200, height: 30, options: [{ label: "One" }, { label: "Two", chosen: true }, { label: "Three", disabled: true, group: "More" }, { label: "Four" }] } });
  await until("the chosen one", () => page.evaluate(() => document.activeElement?.textContent === "Two"));
  await clean(page, "a list", { within: "[role=menu]" });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await becomes(answer, { id: 3, index: 3 });
  await inPage(page);
  await clickAt(page, b, 60, 100);
  b.set({ popup: { id: 4, kind: "select", x: 50, y: 50, width: 200, height: 30, options: [{ label: "One" }] } });
  await page.getByRole("menuitem", { name: "One" }).waitFor();
  await page.keyboard.press("Escape");
  await becomes(answer, { id: 4 });
  await inPage(page);
  b.set({ popup: { id: 5, kind: "input", input: "color", x: 50, y: 50, width: 100, height: 30, value: "#336699" } });
  await page.getByLabel("Choose a colour").last().fill("#ff0000");
  await page.getByRole("button", { name: "Choose", exact: true }).click();
  await becomes(answer, { id: 5, value: "#ff0000" });
  await clickAt(page, b, 90, 90, { button: "right" });
  equal(got(b, "mousedown").at(-1).button, "right", "the page has its click");
  b.set({ popup: { id: 6, kind: "menu", x: 90, y: 90, link: "http://localhost/elsewhere", editable: true } });
  await page.getByRole("menuitem", { name: "Copy the link’s address" }).click();
  await page.getByText("The address is copied.").waitFor();
  equal(await page.evaluate(() => navigator.clipboard.readText()), "http://localhost/elsewhere", "clipboard");
  b.elements = ELEMENTS;
  b.set({ popup: { id: 7, kind: "menu", x: 60, y: 70, link: "" } });
  await page.getByRole("menuitem", { name: "Pick this element" }).click();
  await page.getByText("div.alert").waitFor();
});

test("browser: device, dark, network, screenshot, restart; the profile is forgotten only when confirmed", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  const view = page.getByTitle("Size, zoom and network of the page");
  await view.click();
  await page.getByRole("menuitem", { name: "Phone 390 × 844" }).click();
  await until("a phone", () => b.state.view.mobile && b.state.view.width === 390);
  await page.getByText(/^page \d\d %$/).waitFor();
  await page.getByRole("button", { name: "Show the page dark" }).click();
  await until("dark", () => b.state.view.dark);
  await view.click();
  await page.getByRole("menuitem", { name: "No network" }).click();
  await until("offline", () => b.state.view.network === "offline");
  await page.getByText("no network").waitFor();
  await clean(page, "emulation", { within: ".browser" });
  await page.getByRole("button", { name: "Screenshot to the prompt" }).click();
  await until("its path", async () => (await prompt(page).inputValue()).includes("/page.png"));
  await more(page, "Forget the profile");
  await focusIs(page, ".browser-card [type=submit]");
  await clean(page, "reset", { within: ".browser" });
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await more(page, "Forget the profile");
  await page.keyboard.press("Enter"); // the safe one
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  equal(b.log.filter((m) => m.type === "reset"), [], "resets");
  await more(page, "Forget the profile");
  await page.getByRole("button", { name: "Forget it" }).click();
  await until("reset", () => b.log.some((m) => m.type === "reset"));
  b.set({ phase: "idle" });
  await more(page, "Forget the profile");
  await page.getByRole("button", { name: "Keep it" }).click();
  b.set({ phase: "running", mode: "host" });
  await page.getByText("This is the Chrome on this computer.").waitFor();
  await page.locator(".browser-bar").getByRole("button", { name: "More" }).click();
  equal(await page.getByRole("menuitem", { name: "Forget the profile" }).getAttribute("aria-disabled"), "true", "of a host's own");
});

test("browser: in a narrow panel the tools are in the menu", { ...quiet, size: [1000, 800] }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  await page.keyboard.press("Control+Shift+X");
  for (const width of [480, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await page.getByRole("button", { name: "Screenshot to the prompt" }).waitFor({ state: "detached" });
    const wide = await page.locator("section.browser").evaluate((el) => el.scrollWidth - el.clientWidth);
    equal(wide, 0, `too wide at ${width}`);
    await clean(page, `at ${width}`, { within: ".browser" });
  }
  await page.locator(".browser-bar").getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Show the page dark" }).click();
  await until("dark", () => b.state.view.dark);
});

test("axe: the browser's panel", { size: [1440, 900] }, async (page, mock) => {
  const b = await openBrowser(page, mock);
  b.set({ driver: "agent", deed: { text: "clicked “Continue”", at: Date.now(), ok: true, target: { x: 9, y: 9, width: 50, height: 20 } }, notices: ["Chromium's own sandbox is off here."] });
  await drives(page, "Claude is");
  await clean(page, "the agent drives");
  b.set({ driver: "person", waiting_ms: 4000, tabs: pages(20) });
  await drives(page, "You are");
  await clean(page, "the person drives", { within: ".browser" });
  b.set({ driver: "nobody", tabs: [{ target_id: "n", title: "", url: "about:blank", active: true }], ports: [{ port: 8080, url: "http://localhost:8080/", process: "node" }] });
  await page.getByText("Open what the agent serves").waitFor();
  await clean(page, "no page", { within: ".browser" });
  b.set({ phase: "crashed", failure: { code: "internal", cause: "Chromium has ended.", remedy: "Restart it." } });
  await host(page).getByText("Chromium has ended.").waitFor();
  await clean(page, "crashed", { within: ".browser" });
  b.set({ phase: "starting", since_ms: 1200, step: "Step 2 of 9" });
  await page.getByText("Starting Chromium").waitFor();
  await clean(page, "starting", { within: ".browser" });
});
