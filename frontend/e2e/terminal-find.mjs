// Search and links in a terminal pane.
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { keyboard, last, pane, prompted, screen, shows } from "./pane/open.mjs";

const silent = (more = {}) => pane({ program: "silent", ...more });

test("pane: search counts, case, regular expressions", pane(), async (page) => {
  await page.keyboard.type("seq 300\r");
  await prompted(page);
  await page.keyboard.press("Control+Shift+F");
  const box = page.getByRole("textbox", { name: "Find in the terminal" });
  const count = page.locator(".searchbar-count");
  await box.fill("LINE 2");
  await until("112 of them", async () => /of 11[12]$/.test(await count.innerText()));
  await page.getByRole("button", { name: "Match case" }).click();
  await until("none in capitals", async () => (await count.innerText()) === "Nothing found");
  await page.getByRole("button", { name: "Match case" }).click();
  await page.getByRole("button", { name: "Regular expression" }).click();
  await box.fill("line (7|9)$");
  await until("two", async () => (await count.innerText()).endsWith("of 2"));
  const before = await count.innerText();
  await box.press("Enter");
  await until("the next one", async () => (await count.innerText()) !== before);
  await box.fill("line (");
  await until("said", async () => (await count.innerText()) === "No valid expression");
  ok(await box.evaluate((el) => !el.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }))), "Escape is used up: in WebKit its keypress would reach the program");
  const inField = () => until("the field has the focus, all of it selected", () => box.evaluate((el) => el === document.activeElement && el.selectionStart === 0 && el.selectionEnd === el.value.length));
  await keyboard(page);
  // The key opens the box again with the last search selected, also while the terminal has the focus.
  await page.keyboard.press("Control+Shift+F");
  await becomes(() => box.inputValue(), "line (");
  await inField();
  await page.keyboard.type("line 12");
  await until("ten of 120, and 12", async () => (await count.innerText()).endsWith("of 11"));
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.press("Control+Shift+F");
  await inField();
  equal(await box.inputValue(), "line 12");
  await box.press("Escape");
  await keyboard(page);
  const row = await page.locator(".xterm-rows > div", { hasText: "line 129" }).first().boundingBox();
  await page.mouse.dblclick(row.x + 45, row.y + row.height / 2);
  await page.keyboard.press("Control+Shift+F");
  await becomes(() => box.inputValue(), "129", "what is selected");
  // The box moves away from the text that it found.
  await box.press("Escape");
  await keyboard(page);
  await page.keyboard.press("Control+Shift+K");
  await until("nothing but the prompt", async () => (await screen(page)).filter((l) => l !== "").join() === "$");
  await page.keyboard.type("false\r");
  await until("cleared", async () => (await page.locator(".xterm-rows > div").nth(0).innerText()).includes("false"));
  await page.keyboard.press("Control+Shift+F");
  await box.fill("false");
  await page.locator(".term-search.low").waitFor();
});

test("pane: links show where they lead and open only with Ctrl", silent({ alone: true }), async (page, mock, context) => {
  await last(mock).write("\x1b]8;;https://evil.example/real\x07https://good.example\x1b]8;;\x07 and https://plain.example/a and \x1b]8;;javascript:alert(1)\x07click me\x1b]8;;\x07\r\n");
  await shows(page, "click me");
  const row = await page.locator(".xterm-rows > div", { hasText: "click me" }).boundingBox();
  const at = (col) => [row.x + col * 8 + 3, row.y + row.height / 2];
  await page.mouse.move(...at(5));
  await page.getByText("https://evil.example/real").waitFor();
  let opened = 0;
  context.on("page", () => opened++);
  await page.mouse.click(...at(5));
  await page.keyboard.down("Control");
  await page.mouse.move(...at(6));
  await page.context().route("**/*evil.example*/**", (r) => r.fulfill({ body: "x" }));
  const next = context.waitForEvent("page");
  await page.mouse.click(...at(6));
  const p = await next;
  ok(p.url().startsWith("https://evil.example/real") || p.url() === "about:blank" || p.url().startsWith("chrome-error"), p.url());
  await p.close();
  equal(opened, 1, "only the click with Ctrl opened something");
  await page.mouse.move(...at(57));
  await page.getByText("Loop does not open this kind of link").waitFor();
  await page.mouse.click(...at(57));
  await page.keyboard.up("Control");
  equal(opened, 1);
});

test("pane: a file of this computer that output names is shown at its line", silent({ quietErrors: true, query: "&target=host" }), async (page, mock) => {
  await last(mock).write("\x1b]7;file://box/home/ana/shop\x07pkg/settings.go:40:2: wrong\r\nbuild/none.c:3: wrong\r\n");
  await shows(page, "none.c");
  const row = async (text) => {
    const b = await page.locator(".xterm-rows > div", { hasText: text }).boundingBox();
    return [b.x + 40, b.y + b.height / 2];
  };
  await page.mouse.move(...(await row("settings.go")));
  await page.getByText("Ctrl click shows it").waitFor();
  await page.mouse.click(...(await row("settings.go")));
  equal(await page.getByRole("dialog").count(), 0, "a click alone is the program's");
  await page.keyboard.down("Control");
  await page.mouse.click(...(await row("settings.go")));
  await page.keyboard.up("Control");
  const dialog = page.getByRole("dialog", { name: "pkg/settings.go:40" });
  await dialog.getByText("/home/ana/shop/pkg/settings.go").waitFor();
  const here = dialog.locator("[aria-current]");
  ok((await here.innerText()).includes("read settings"));
  await until("in sight", () => here.evaluate((el) => {
    const a = el.getBoundingClientRect();
    const b = el.closest(".dialog-body").getBoundingClientRect();
    return a.top >= b.top && a.bottom <= b.bottom;
  }));
  await page.keyboard.press("Escape");
  await keyboard(page);
  await page.keyboard.down("Control");
  await page.mouse.click(...(await row("none.c")));
  await page.keyboard.up("Control");
  await page.getByText("build/none.c is not there.").waitFor();
  await page.keyboard.press("Escape");
});
