// Keys of a terminal in a real browser. model/terminals/keys.test.ts tests the table of keys itself.
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { did, gives, keyboard, last, pane, prompted, said, screen, set, shows, stopClock, typed } from "./pane/open.mjs";

const COPY = ["Control+Shift+C", "Control+Insert"];
const PASTE = { linux: ["Control+Shift+V", "Shift+Insert"], windows: ["Control+Shift+V", "Shift+Insert", "Control+v"] };
const TOLD = { "Control+Shift+D": "split-right", "Control+Shift+E": "split-down", "Control+Shift+T": "new", "Control+Shift+W": "close", "Control+Shift+Equal": "zoom-in", "Control+Equal": "zoom-in", "Control+Minus": "zoom-out", "Control+0": "zoom-reset" };

const clip = (page) => page.evaluate(() => navigator.clipboard.readText());
const setClip = (page, text) => page.evaluate((t) => navigator.clipboard.writeText(t), text);

async function selectWord(page, text) {
  const at = await page.locator(".xterm-rows > div", { hasText: text }).last().boundingBox();
  await page.mouse.dblclick(at.x + 12, at.y + at.height / 2);
}

for (const os of ["linux", "windows"]) {
  test(`keys ${os}: copy and paste`, pane({ program: "silent", os }), async (page, mock) => {
    await last(mock).write("wonderful\r\n");
    await shows(page, "wonderful");
    for (const key of COPY) {
      await setClip(page, "nothing");
      await page.locator(".term-screen").click({ position: { x: 300, y: 200 } });
      await selectWord(page, "wonderful");
      await gives(page, mock, () => page.keyboard.press(key), "", `${key} reached the program`);
      await until(`${key} copies`, async () => (await clip(page)) === "wonderful");
    }
    if (os === "windows") {
      await setClip(page, "nothing");
      await gives(page, mock, () => page.keyboard.press("Control+c"), "", "Ctrl+C with a selection");
      await becomes(() => clip(page), "wonderful");
      await gives(page, mock, () => page.keyboard.press("Control+c"), "\x03", "Ctrl+C without");
    }
    await setClip(page, "pasted text");
    for (const key of PASTE[os]) await gives(page, mock, () => page.keyboard.press(key), "pasted text", key);
  });
}

test("keys: find, split, new, close, text size", pane(), async (page, mock) => {
  await gives(page, mock, async () => {
    for (const [key, want] of Object.entries(TOLD)) {
      await page.keyboard.press(key);
      await did(page, [want], key);
    }
  }, "", "a key reached the program");
  await gives(page, mock, () => page.keyboard.press("Control+Shift+F"), "");
  await page.getByRole("textbox", { name: "Find in the terminal" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("search").waitFor({ state: "detached" });
  await keyboard(page);
  await gives(page, mock, () => page.keyboard.type("x"), "x", "the terminal has the keyboard again");
});

test("keys: scrolling, commands, clear", pane(), async (page, mock) => {
  for (const c of ["seq 40", "false", "seq 60"]) {
    await page.keyboard.type(`${c}\r`);
  }
  await prompted(page);
  await shows(page, "line 60");
  const rows = (await screen(page)).length;
  const top = async () => (await screen(page))[0];
  const press = (key) => page.keyboard.press(key);
  const before = typed(mock);
  const end = await top();
  await press("Shift+PageUp");
  await until("a page up", async () => (await top()) !== end);
  await press("Shift+PageDown");
  await becomes(top, end, "a page down");
  await press("Shift+Home");
  await until("to the beginning", async () => (await top()).includes("ana@"));
  await press("Shift+End");
  await becomes(top, end, "to the end");
  await press("Control+Shift+ArrowUp");
  await until("the prompt of seq 60", async () => (await screen(page)).slice(0, 4).some((l) => l === "$ seq 60"));
  await press("Control+Shift+ArrowUp");
  await until("the prompt of false", async () => (await screen(page)).slice(0, 4).some((l) => l === "$ false"));
  await press("Control+Shift+ArrowDown");
  await until("seq 60 again", async () => (await screen(page)).slice(0, 4).some((l) => l === "$ seq 60"));
  await press("Control+Shift+K");
  await until("nothing but the prompt", async () => (await screen(page)).filter(Boolean).length === 1);
  await gives(page, mock, () => {}, "");
  equal(typed(mock), before, "a key reached the program");
  ok(rows > 10, "rows");
});

test("keys: what belongs to the program gets there, byte for byte", pane({ program: "silent" }), async (page, mock) => {
  const control = (l) => String.fromCharCode(l.charCodeAt(0) - 96);
  const letters = [..."abcdefghijklmnopqrstuvwxyz"].flatMap((l) => [[`Control+${l}`, control(l)], [`Alt+${l}`, `\x1b${l}`]]);
  const bytes = {
    ...Object.fromEntries(letters),
    Escape: "\x1b", Tab: "\t", "Shift+Tab": "\x1b[Z", Enter: "\r", Backspace: "\x7f", Delete: "\x1b[3~", ArrowUp: "\x1b[A", Home: "\x1b[H", End: "\x1b[F", PageUp: "\x1b[5~", PageDown: "\x1b[6~",
    "Control+ArrowLeft": "\x1b[1;5D", "Control+Space": "\x00", "Control+Backslash": "\x1c", "Control+BracketRight": "\x1d", "Control+Shift+Minus": "\x1f", "Alt+Enter": "\x1b\r",
    F1: "\x1bOP", F2: "\x1bOQ", F3: "\x1bOR", F4: "\x1bOS", F5: "\x1b[15~", F7: "\x1b[18~", F8: "\x1b[19~", F9: "\x1b[20~", F10: "\x1b[21~", F11: "\x1b[23~", F12: "\x1b[24~", "Shift+F10": "\x1b[21;2~", "Control+F6": "\x1b[17;5~",
  };
  // An Escape stands behind each, so that the bytes of one are not taken for those of the next.
  await gives(page, mock, async () => {
    for (const key of Object.keys(bytes)) {
      await page.keyboard.press(key);
      await page.keyboard.press("Escape");
    }
  }, Object.values(bytes).map((b) => `${b}\x1b`).join(""));
  equal(await page.evaluate(() => document.activeElement?.tagName), "TEXTAREA", "the terminal still has the keyboard");
});

test("keys: Shift+Enter, also switched off", pane({ program: "silent" }), async (page, mock) => {
  await gives(page, mock, () => page.keyboard.press("Shift+Enter"), "\\\r");
  await page.evaluate(() => window.pane.set({ settings: { fontFamily: "", fontSize: 13, lineHeight: 1.2, scrollback: 10000, cursorBlink: true, shiftEnter: false, copyOnSelect: true, screenReader: false, bellSound: false, minimumContrast: 4.5, macOptionIsMeta: true, leaveByF6: false } }));
  await gives(page, mock, () => page.keyboard.press("Shift+Enter"), "\r");
  await gives(page, mock, () => page.keyboard.press("F6"), "\x1b[17~");
});

test("keys: ways out of the terminal", pane({ program: "silent" }), async (page, mock) => {
  await gives(page, mock, () => page.keyboard.press("F6"), "", "F6");
  await gives(page, mock, () => page.keyboard.press("Control+Shift+M"), "", "Ctrl+Shift+M");
  await said(page, "Tab moves the focus now.");
  await gives(page, mock, () => page.keyboard.press("Shift+Tab"), "", "Shift+Tab");
  await becomes(() => page.evaluate(() => document.activeElement?.id), "elsewhere");
  await page.keyboard.press("Tab");
  await keyboard(page);
  await page.keyboard.press("Control+Shift+M");
  await gives(page, mock, () => page.keyboard.press("Tab"), "\t", "Tab is the program's again");
});

test("keys: Ctrl+P goes at once, in one byte", pane({ program: "silent" }), async (page, mock) => {
  await stopClock(page); // the key waits neither for a second one nor for a timer
  await page.keyboard.press("Control+p");
  await until("it arrived", () => typed(mock) !== "");
  equal(typed(mock), "\x10");
});

test("keys: typing into a hidden or another pane sends nothing here", pane({ program: "silent" }), async (page, mock) => {
  await page.locator("#elsewhere").focus();
  await gives(page, mock, () => page.keyboard.type("abc"), "");
  await set(page, { focused: false });
  await set(page, { focused: true });
  await keyboard(page);
  await gives(page, mock, () => page.keyboard.type("abc"), "abc");
  equal(await page.evaluate(() => window.pane.inputs.join("")), "abc", "told for broadcasting");
});
