// Input methods as a browser reports them, images, recordings, and axe on every state of a pane.
import { clean, CONTRAST, DIALOG, MENU } from "./clean.mjs";
import { becomes, equal, test, until } from "./harness.mjs";
import { drawn, gives, keyboard, last, pane, prints, prompted, screen, set, shows } from "./pane/open.mjs";

const WEBKIT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15";

/** Plays a trace of WebKitGTK's events on the terminal's hidden field. */
const compose = (page, trace) => page.evaluate(async (events) => {
  const t = document.querySelector(".xterm textarea");
  t.focus();
  for (const [type, data, inputType] of events) {
    if (type === "keydown") t.dispatchEvent(new KeyboardEvent("keydown", { keyCode: data, key: "Process", bubbles: true, cancelable: true }));
    else if (type === "input") {
      t.value += data;
      t.dispatchEvent(new InputEvent("input", { data, inputType, bubbles: true, composed: true }));
    } else t.dispatchEvent(new CompositionEvent(type, { data, bubbles: true }));
    await new Promise((r) => setTimeout(r, 4));
  }
  await new Promise((r) => setTimeout(r, 60));
}, trace);

const asWebKit = { prepare: (_, page) => page.addInitScript((ua) => Object.defineProperty(navigator, "userAgent", { get: () => ua }), WEBKIT) };
const phrase = (text) => [["keydown", 229], ["input", "n", "insertCompositionText"], ["compositionstart", ""], ["compositionupdate", "n"], ["keydown", 229], ["compositionend", text], ["input", text, "insertText"]];

test("ime: WebKitGTK commits each phrase once", pane({ program: "silent", ...asWebKit }), async (page, mock) => {
  await gives(page, mock, () => compose(page, [...phrase("甲"), ...phrase("乙"), ...phrase("丙"), ...phrase("丙")]), Buffer.from("甲乙丙丙").toString("latin1"));
  await gives(page, mock, () => compose(page, [["keydown", 229], ["compositionend", "ő"], ["input", "ő", "insertText"]]), Buffer.from("ő").toString("latin1"));
  await compose(page, [["keydown", 229], ["compositionstart", ""], ["compositionupdate", "ni hao"]]);
  await becomes(() => page.locator(".term-preedit").innerText(), "ni hao");
  await gives(page, mock, () => compose(page, [["compositionend", ""]]), "");
  await until("nothing is composed", () => page.locator(".term-preedit").isHidden());
  await gives(page, mock, () => page.keyboard.type("ls"), "ls");
});

test("ime: Chromium's own composition is left alone", pane({ program: "silent" }), async (page, mock) => {
  const cdp = await page.context().newCDPSession(page);
  await gives(page, mock, async () => {
    await page.locator(".xterm textarea").focus();
    await cdp.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
    await cdp.send("Input.imeSetComposition", { text: "日本", selectionStart: 2, selectionEnd: 2 });
    await cdp.send("Input.insertText", { text: "日本" });
  }, Buffer.from("日本").toString("latin1"));
});

test("an image is drawn", pane({ program: "silent" }), async (page, mock) => {
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
  await last(mock).write(`\x1b]1337;File=inline=1;size=${Buffer.from(png, "base64").length};width=10;height=4:${png}\x07\r\nafter the image\r\n`);
  await shows(page, "after the image");
  await until("a layer with the image", () => page.evaluate(() => [...document.querySelectorAll(".xterm-screen canvas")].some((c) => {
    const d = c.getContext("2d")?.getImageData(0, 0, 20, 20).data;
    return d?.some((v) => v > 0);
  })));
});

const CAST = [
  { version: 2, width: 60, height: 12, timestamp: 1, title: "make test" }, [0.2, "o", "first\r\n"], [1, "o", "second\r\n"], [1.5, "r", "70x14"], [40, "o", "\x1b[c\x1b[6nthird\r\n"], [41, "o", "end\r\n"],
].map((x) => JSON.stringify(x)).join("\n");
const recorded = { noWait: true, query: "recording=a.cast", prepare: (mock) => mock.terminals.addRecording("a.cast", CAST) };

test("recordings: play, pause, seek, speed, sizes, by keyboard", pane(recorded), async (page) => {
  await shows(page, "first");
  await page.getByRole("group", { name: "Recording of make test" }).waitFor();
  await page.locator(".player-screen").focus();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
  await page.keyboard.press("End");
  await shows(page, "end");
  await becomes(async () => (await screen(page)).length, 14, "rows after the change of size");
  await page.keyboard.press("Home");
  await until("empty again", async () => (await screen(page)).every((l) => l === ""));
  await becomes(async () => (await screen(page)).length, 12);
  for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight");
  await shows(page, "third");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await until("before the third", async () => !(await screen(page)).includes("third") && (await screen(page)).includes("second"));
  await page.keyboard.press(">");
  await page.keyboard.press(">");
  await becomes(() => page.getByRole("combobox", { name: "Speed" }).inputValue(), "4");
  await page.keyboard.press("k");
  await shows(page, "end");
  await page.getByRole("button", { name: "Play" }).waitFor();
  await page.getByRole("button", { name: "Close the recording" }).click();
  equal(await page.evaluate(() => window.pane.actions), ["closed"]);
});

test("pane: recording on and off", pane({ program: "silent" }), async (page, mock) => {
  await page.evaluate(() => window.pane.handle.record(true));
  await page.getByRole("button", { name: "Recording" }).click();
  await page.getByRole("button", { name: "Recording" }).waitFor({ state: "detached" });
  await becomes(() => mock.terminals.recordings.size, 1);
});

test("recordings: one that is gone says so", pane({ noWait: true, query: "recording=b.cast", quietErrors: true }), async (page) => {
  await page.getByText("That recording is not there.").waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
});

test("axe: a pane in all its states", pane({ quietErrors: true }), async (page, mock) => {
  await page.keyboard.type("ls\rtest\rseq 50\r");
  await prompted(page);
  await clean(page, "live", { looks: CONTRAST });
  await page.keyboard.press("Control+Shift+F");
  await page.getByRole("textbox", { name: "Find in the terminal" }).fill("line");
  await until("something is found", async () => /of \d/.test(await page.locator(".searchbar-count").innerText()));
  await clean(page, "search", { looks: CONTRAST });
  await page.keyboard.press("Escape");
  await keyboard(page);
  await page.mouse.click(300, 200, { button: "right" });
  await page.getByRole("menuitem").first().waitFor();
  await clean(page, "menu", { within: MENU, looks: CONTRAST });
  await page.keyboard.press("Escape");
  await keyboard(page);
  await page.evaluate(() => navigator.clipboard.writeText("a\nb"));
  await page.keyboard.press("Control+Shift+V");
  await page.getByRole("dialog").waitFor();
  await clean(page, "paste question", { within: DIALOG, looks: CONTRAST });
  await page.keyboard.press("Escape");
  await keyboard(page);
  await page.evaluate(() => window.pane.handle.record(true));
  await page.getByRole("button", { name: "Recording" }).waitFor();
  await last(mock).write("\x1b]9;4;1;60\x07");
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, -400);
  await last(mock).write("more\r\n");
  await page.getByRole("button", { name: "New output" }).waitFor();
  await clean(page, "recording, progress, new output", { looks: CONTRAST });
  mock.down();
  await page.getByText("Loop does not answer.").waitFor();
  await clean(page, "reconnecting", { looks: CONTRAST });
  mock.up();
  await until("back", async () => (await page.getByText("Loop does not answer.").count()) === 0);
  last(mock).end(137, { signal: "SIGKILL", reason: "The container was removed." });
  await page.getByText("Ended by SIGKILL.").waitFor();
  await clean(page, "ended", { looks: CONTRAST });
});
test("axe: a pane that failed, one that opens, a recording", pane({ quietErrors: true, noWait: true, prepare: (mock) => { mock.terminals.failNext = { error_code: "session_failed", message: "No.", remedy: "Do something." }; mock.terminals.addRecording("a.cast", CAST); } }), async (page, mock) => {
  await page.getByText("Do something.").waitFor();
  await clean(page, "failed", { looks: CONTRAST });
  mock.terminals.hold();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".term-skeleton").waitFor();
  await until("words", () => page.getByText("Opening the terminal…").evaluate((el) => getComputedStyle(el).opacity === "1"));
  await clean(page, "opening", { looks: CONTRAST });
  const url = new URL(page.url());
  url.searchParams.set("recording", "a.cast");
  await page.goto(url.href);
  await shows(page, "first");
  await clean(page, "recording", { looks: CONTRAST });
});

test("screen readers: lines are in the tree, keys still work", pane({ program: "silent" }), async (page, mock) => {
  await set(page, { settings: { fontFamily: "", fontSize: 13, lineHeight: 1.2, scrollback: 10000, cursorBlink: false, shiftEnter: true, copyOnSelect: true, screenReader: true, bellSound: false, minimumContrast: 4.5, macOptionIsMeta: true, leaveByF6: true } });
  await drawn(page);
  await last(mock).write("read me\r\n");
  await page.locator(".xterm-accessibility").getByText("read me").first().waitFor();
  await gives(page, mock, () => page.keyboard.type("ok"), "ok");
  await clean(page, "screen reader mode", { looks: CONTRAST });
});

test("symbols of Claude's screens have glyphs of their own", pane({ program: "silent" }), async (page, mock) => {
  await prints(page, mock, "⏵⏵ accept edits  ⎿ Read  ⏺ Bash  ✻ Thinking\r\n");
  await becomes(() => page.evaluate(() => [...document.fonts].filter((f) => f.family.includes("Loop Symbols") && f.status === "loaded").length), 2, "fonts of symbols");
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  await becomes(() => page.evaluate(() => {
    const ink = (text) => {
      const c = Object.assign(document.createElement("canvas"), { width: 40, height: 40 }).getContext("2d");
      c.font = '30px "Loop Symbols", "JetBrains Mono Variable"';
      c.fillText(text, 2, 32);
      return c.canvas.toDataURL();
    };
    const box = ink("\u{10fffd}"); // no font has it
    return [..."⏵⎿⏺✻"].filter((s) => ink(s) === box).length;
  }), 0, "boxes");
});
