// Flows of a terminal pane besides keys: pastes, answers to programs, broken connections, sizes.
import { becomes, equal, frames, ok, test, until } from "./harness.mjs";
import { did, drawn, gives, info, keyboard, last, pane, prints, prompted, said, screen, set, shows, stopClock, typed } from "./pane/open.mjs";

const silent = (more = {}) => pane({ program: "silent", ...more });
const setClip = (page, text) => page.evaluate((t) => navigator.clipboard.writeText(t), text);
const clip = (page) => page.evaluate(() => navigator.clipboard.readText());
const paste = (page, mock, want, what) => gives(page, mock, () => page.keyboard.press("Control+Shift+V"), want, what);
const b64 = (s) => Buffer.from(s).toString("base64");

test("pane: every query is swallowed; only keys reach the program", silent(), async (page, mock) => {
  const queries = [
    "\x1b[c", "\x1b[0c", "\x1b[>c", "\x1b[=c", "\x1bZ", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?15n", "\x1b[?996n", "\x1b[$p", "\x1b[20$p", "\x1b[?1$p", "\x1b[?2026$p", "\x1b[?2004$p", "\x1b[>q", "\x1b[>0q", "\x1b[?u", "\x1b[x",
    "\x1b[11t", "\x1b[13t", "\x1b[14t", "\x1b[15t", "\x1b[16t", "\x1b[18t", "\x1b[19t", "\x1b[20t", "\x1b[21t", "\x1b[?1;1;0S", "\x1b[?2;1;0S", "\x1b[1;1;1;1;1;1*y",
    "\x1b]4;1;?\x07", "\x1b]4;1;?;2;?\x1b\\", "\x1b]10;?\x07", "\x1b]10;?;?;?\x07", "\x1b]11;?\x1b\\", "\x1b]12;?\x07", "\x1b]52;c;?\x07", "\x1b]52;;?\x1b\\", "\x1b]60\x07", "\x1b]1337;ReportCellSize\x07",
    "\x1bP$qm\x1b\\", "\x1bP$qr\x1b\\", "\x1bP$q q\x1b\\", "\x1bP+q544e\x1b\\", "\x05", "\x1b[?1004h",
  ];
  await gives(page, mock, async () => {
    for (const q of queries) await prints(page, mock, q);
  }, "", "one at a time");
  await gives(page, mock, () => prints(page, mock, queries.join("").repeat(20)), "", "all of them");
  await gives(page, mock, () => page.keyboard.type("a"), "a");
});

test("pane: focus reports come from focus, not from switching them on", silent(), async (page, mock) => {
  await gives(page, mock, () => prints(page, mock, "\x1b[?1004h"), "");
  await gives(page, mock, () => page.locator("#elsewhere").focus(), "\x1b[O");
  await gives(page, mock, () => page.locator(".xterm textarea").focus(), "\x1b[I");
});

test("pane: paste rules", silent(), async (page, mock) => {
  await setClip(page, "a\x1b[201~; rm -rf /\x07");
  await paste(page, mock, "a; rm -rf /", "the marker and the bell are gone");
  await said(page, "Control characters were left out");
  await setClip(page, "one\ntwo\nthree");
  await paste(page, mock, "", "it asks first");
  await page.getByRole("dialog", { name: "Paste 3 lines?" }).waitFor();
  await page.keyboard.press("Enter");
  await gives(page, mock, () => page.keyboard.press("Escape"), "", "Enter and Escape paste nothing");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await keyboard(page);
  await paste(page, mock, "");
  await gives(page, mock, () => page.getByRole("button", { name: "Paste as one line" }).click(), "one two three");
  await keyboard(page);
  await paste(page, mock, "");
  await gives(page, mock, () => page.getByRole("button", { name: "Paste", exact: true }).click(), "one\rtwo\rthree");
  await keyboard(page);
  await prints(page, mock, "\x1b[?2004hready\r\n");
  await paste(page, mock, "\x1b[200~one\rtwo\rthree\x1b[201~", "as a whole");
});

test("pane: middle click pastes what was selected", silent(), async (page, mock) => {
  await last(mock).write("primary\r\n");
  await shows(page, "primary");
  const at = await page.locator(".xterm-rows > div", { hasText: "primary" }).boundingBox();
  await page.mouse.dblclick(at.x + 10, at.y + 8);
  await gives(page, mock, () => page.mouse.click(at.x + 200, at.y + 100, { button: "middle" }), "primary");
});

test("pane: OSC 52 writes with a notice, never reads", silent(), async (page, mock) => {
  await setClip(page, "mine");
  await last(mock).write(`\x1b]52;c;${b64("by a program")}\x07`);
  await said(page, "A program copied 12 characters.");
  await until("copied", async () => (await clip(page)) === "by a program");
  await gives(page, mock, () => prints(page, mock, "\x1b]52;c;?\x07"), "");
  await said(page, "A program wanted to read the clipboard. Loop refused it.");
  equal(await clip(page), "by a program");
});

test("pane: titles without tricks, folder, bell, progress", silent(), async (page, mock) => {
  await last(mock).write("\x1b]2;vim \u202Eevil\u2066\x07\x1b]7;file://h/home/ana/x%20y\x07\x1b]9;4;1;40\x07");
  await until("title", async () => (await info(page)).title === "vim evil");
  await becomes(async () => (await info(page)).dir, "/home/ana/x y");
  await becomes(async () => (await info(page)).progress, { state: 1, value: 40 });
  await page.getByRole("progressbar").waitFor();
  await last(mock).write("\x1b]9;4;0;0\x07");
  await page.getByRole("progressbar").waitFor({ state: "detached" });
  await set(page, { focused: false });
  await page.locator("#elsewhere").focus();
  await last(mock).write("\x07");
  await until("marked unread", async () => (await info(page)).unread);
  equal(await page.evaluate(() => document.activeElement?.id), "elsewhere", "the bell takes no focus");
  await set(page, { focused: true });
  await until("read", async () => !(await info(page)).unread);
});

test("pane: a break is survived; nothing is lost or doubled", silent({ quietErrors: true }), async (page, mock) => {
  const s = last(mock);
  for (let i = 0; i < 50; i++) await s.write(`before ${i}\r\n`);
  await shows(page, "before 49");
  mock.down();
  await until("the break is noticed", async () => (await info(page)).state === "reconnecting");
  await page.keyboard.type("lost");
  await said(page, "Not sent: Loop does not answer.");
  for (let i = 0; i < 20; i++) await s.write(`meanwhile ${i}\r\n`);
  await page.getByText("Loop does not answer. The program goes on").waitFor();
  mock.up();
  await until("attached again", async () => (await info(page)).state === "live");
  await shows(page, "meanwhile 19");
  await s.write("after\r\n");
  await shows(page, "after");
  equal((await screen(page)).filter((l) => l === "meanwhile 19" || l === "after").length, 2);
  await gives(page, mock, () => page.keyboard.type("k"), "k");
  ok(!typed(mock).includes("lost"), "what was typed into the void does not come later");
});

test("pane: hidden it gets nothing, shown it has the screen, marks and place again", pane(), async (page, mock) => {
  await page.keyboard.type("seq 80\rfalse\r");
  await until("two marks", async () => (await page.locator(".term-mark.bad").count()) === 1);
  const s = last(mock);
  await set(page, { visible: false });
  await until("told", () => mock.terminals.log.some((m) => m.type === "show" && m.visible === false));
  await s.write("while hidden\r\n");
  await set(page, { visible: true });
  await shows(page, "while hidden");
  await until("the mark is back", async () => (await page.locator(".term-mark.bad").count()) === 1);
});

test("pane: a window out of sight holds nobody up, and has everything when it is back", silent(), async (page, mock) => {
  const sight = (hidden) => page.evaluate((h) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => h });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await sight(true);
  await until("told", () => mock.terminals.log.some((m) => m.type === "show" && !m.visible));
  await last(mock).write("meanwhile\r\n");
  await sight(false);
  await shows(page, "meanwhile");
});

test("pane: sizes are the server's", silent(), async (page, mock) => {
  const s = last(mock);
  await until("asked once", () => s.sizes.length >= 1);
  await until("rows", async () => (await page.locator(".xterm-rows > div").count()) === s.rows);
  const asked = s.sizes.length;
  // The stopped clock makes the changes follow one another at once, even on a slow machine.
  const goOn = await stopClock(page);
  for (let w = 880; w > 500; w -= 20) await page.setViewportSize({ width: w, height: 500 });
  await frames(page);
  equal(s.sizes.length, asked, "asked while it changes");
  await goOn();
  await until("asked for the new size", () => s.cols < 65);
  await gives(page, mock, () => {}, ""); // every wish for a size has arrived
  equal(s.sizes.length, asked + 1, "asked for 20 changes");
  ok(!s.sizes.some((x) => x.startsWith("0x") || x.endsWith("x0")), "never for nothing");
  for (const display of ["none", ""]) {
    await page.evaluate((d) => (document.querySelector("#box").style.display = d), display);
    await frames(page);
    await gives(page, mock, () => {}, "");
  }
  equal(s.sizes.length, asked + 1, "a pane without a place asks for none");
  s.resize(40, 10); // another window
  await until("taken", async () => (await page.locator(".xterm-rows > div").count()) === 10);
  await set(page, { focused: false });
  await set(page, { focused: true });
  await until("its own again", () => s.cols > 50);
});

test("pane: a killed program's mouse and focus reports end at the prompt", pane(), async (page, mock) => {
  await page.keyboard.type("tui\r");
  await shows(page, "top of");
  await page.mouse.click(300, 300);
  await until("the program has the mouse", () => typed(mock).includes("\x1b[<0;"));
  await page.keyboard.press("q");
  await prompted(page, "tui");
  await page.keyboard.type("leak\r");
  await prompted(page, "leak");
  await gives(page, mock, async () => {
    await page.mouse.move(200, 200);
    await page.mouse.click(300, 300);
    await page.locator("#elsewhere").focus();
    await page.locator(".xterm textarea").focus();
  }, "", "nothing but keys");
  await set(page, { visible: false });
  await set(page, { visible: true });
  await until("asked to be drawn anew", () => mock.terminals.log.filter((m) => m.type === "show").length === 2);
  await last(mock).write("behind the snapshot");
  await shows(page, "behind the snapshot");
  await gives(page, mock, () => page.mouse.click(300, 300), "", "nor after a snapshot that still has them");
});

test("pane: who scrolled up stays there while everything is drawn anew", silent(), async (page, mock) => {
  const s = last(mock);
  const all = Array.from({ length: 200 }, (_, i) => `row ${i}`).join("\r\n");
  await s.write(all);
  await shows(page, "row 199");
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, -1000);
  await until("scrolled", async () => !(await screen(page)).includes("row 199"));
  const top = (await screen(page))[0];
  for (let i = 0; i < 5; i++) {
    await prints(page, mock, `\x1b[?2026h\x1b[2J\x1b[3J\x1b[H${all}\x1b[?2026l`);
    await frames(page);
    equal((await screen(page))[0], top, "in a synchronized block");
  }
  await prints(page, mock, `\x1b[2J\x1b[3J\x1b[H${all}`);
  await until("without one", async () => (await screen(page))[0] === top);
  await s.write("\r\nand more\r\n");
  await page.getByRole("button", { name: "New output" }).click();
  await shows(page, "and more");
  await page.getByRole("button", { name: "New output" }).waitFor({ state: "detached" });
  await s.write(`\x1b[?2026h\x1b[2J\x1b[3J\x1b[H${all}\r\nthe end\x1b[?2026l`);
  await shows(page, "the end");
});

test("pane: ended, restart and close by keyboard; away; failed with a remedy", pane({ prepare: (mock) => (mock.terminals.failNext = null) }), async (page, mock) => {
  last(mock).away(true);
  await set(page, { info: last(mock).info() });
  await page.getByText("The container cannot be reached now.").first().waitFor();
  await page.keyboard.type("lost");
  await said(page, "What was typed was not sent");
  last(mock).away(false);
  await set(page, { info: last(mock).info() });
  await page.getByText("The container cannot be reached now.").waitFor({ state: "detached" });
  await said(page, "Type it again.");
  await page.keyboard.type("exit 3\r");
  await page.getByText("Ended with exit code 3.").waitFor();
  equal(await page.evaluate(() => document.activeElement?.tagName), "TEXTAREA", "the end takes no focus");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await did(page, ["restart"]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await did(page, ["close"]);
});

test("pane: a terminal that cannot be opened says why, and can be tried again", pane({ noWait: true, prepare: (mock) => (mock.terminals.failNext = { error_code: "session_failed", message: "The shell /bin/zish is not there.", remedy: "Set another one in the settings." }) }), async (page) => {
  await page.getByText("The shell /bin/zish is not there.").waitFor();
  await page.getByText("Set another one in the settings.").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await drawn(page);
});

let open;
test("pane: a skeleton in the same frames, words after a second", pane({ noWait: true, reduced: false, prepare: async (mock, page) => {
  open = mock.terminals.hold();
  await page.addInitScript(() => {
    window.seen = { frame: 0 };
    const look = () => {
      window.seen.frame++;
      for (const c of ["term", "term-skeleton"]) window.seen[c] ??= document.querySelector(`.${c}`) ? window.seen.frame : undefined;
      const words = document.querySelector(".term-skeleton p");
      if (words) window.seen.words ??= Number(getComputedStyle(words).opacity);
      requestAnimationFrame(look);
    };
    look();
  });
} }), async (page) => {
  await page.locator(".term-skeleton").waitFor();
  const seen = await until("it was seen", () => page.evaluate(() => window.seen.words !== undefined && window.seen));
  ok(seen["term-skeleton"] - seen.term <= 2, `skeleton ${seen["term-skeleton"] - seen.term} frames later`);
  ok(seen.words < 1, "no words at once");
  const words = page.getByText("Opening the terminal…");
  await until("words", () => words.evaluate((el) => getComputedStyle(el).opacity === "1"));
  open();
  await drawn(page);
  await page.locator(".term-skeleton").waitFor({ state: "detached" });
});

test("pane: a dropped file by content, its path for the program; menu gives the keyboard back", silent({ quietErrors: true }), async (page, mock) => {
  await gives(page, mock, () => page.evaluate(() => {
    const d = new DataTransfer();
    d.items.add(new File(["x"], "notes.txt", { type: "text/plain" }));
    document.querySelector(".term-screen").dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true }));
  }), "'/home/ana/.loop/pastes/notes.txt' ");
  await gives(page, mock, () => page.evaluate(() => {
    const d = new DataTransfer();
    d.setData("text/uri-list", "file:///home/ana/a%20b.txt\r\nfile:///etc/passwd\r\nfile:///mnt/c.txt");
    document.querySelector(".term-screen").dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true }));
  }), "'/home/ana/a b.txt' /home/ana/.loop/pastes/c.txt ");
  await said(page, "You may not read /etc/passwd.");
  await gives(page, mock, () => page.evaluate(() => {
    const d = new DataTransfer();
    d.items.add(new File([new Uint8Array(9)], "image.png", { type: "image/png" }));
    document.querySelector(".xterm textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true, cancelable: true }));
  }), "'/home/ana/.loop/pastes/image.png' ");
  await page.mouse.click(300, 200, { button: "right" });
  await page.getByRole("menuitem", { name: "Split right" }).click();
  await did(page, ["split-right"]);
  await keyboard(page);
});

test("pane: copies a command's output", pane(), async (page) => {
  await page.keyboard.type("test\rstatus\r");
  await prompted(page, "status");
  await page.keyboard.press("Control+Shift+ArrowUp");
  await page.keyboard.press("Control+Shift+ArrowUp");
  await page.mouse.click(300, 200, { button: "right" });
  await page.getByRole("menuitem", { name: "Copy the command’s output" }).click();
  await until("copied", async () => (await clip(page)).startsWith("ok      api-server/internal/auth        39.812s\nFAIL"));
});
