// Files dropped on the prompt box and pasted into it.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clean, CONTRAST } from "./clean.mjs";
import { equal, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const value = (page) => prompt(page).inputValue();
const becomes = (page, text) => until(`the prompt is ${JSON.stringify(text)}`, async () => (await value(page)) === text);

/** Holds back the answers for pasted files until the caller calls the returned function. */
function hold(mock) {
  let go = () => {};
  mock.world.held.set("Terminals.PasteFile", new Promise((r) => { go = r; }));
  return go;
}

/** Runs body with a maker of files in a temporary folder. */
async function withFiles(body) {
  const dir = mkdtempSync(join(tmpdir(), "loop-drop-"));
  try {
    await body((name, text) => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    }, dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** A drag from outside the page: over a place, then a drop there or a move to another place. */
async function drag(context, page, at, files) {
  const cdp = await context.newCDPSession(page);
  const send = async (type, over) => {
    const b = await until("the place is there", () => over.boundingBox()); // rows are drawn anew
    await cdp.send("Input.dispatchDragEvent", { type, x: b.x + b.width / 2, y: b.y + b.height / 2, data: { items: [], files, dragOperationsMask: 1 } });
  };
  await send("dragEnter", at);
  await send("dragOver", at);
  return { drop: () => send("drop", at), leave: (to) => send("dragOver", to) };
}

const content = (page, selector, kind, files) => page.evaluate(({ selector: s, kind: k, files: all }) => {
  const d = new DataTransfer();
  for (const [name, size, type] of all) d.items.add(new File([new Uint8Array(size)], name, { type }));
  const e = k === "paste" ? new ClipboardEvent("paste", { clipboardData: d, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true });
  document.querySelector(s).dispatchEvent(e);
}, { selector, kind, files });

test("prompt: files dropped on it are named at the caret, with the place marked before", async (page, mock, context) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("look at and say");
  await prompt(page).evaluate((el) => el.setSelectionRange(7, 7));
  await withFiles(async (file) => {
    const box = page.locator(".prompt-box");
    const files = [file("one.txt", "1"), file("two.pdf", "2")];
    const away = await drag(context, page, box, files);
    await page.locator(".prompt-box.over").waitFor();
    await away.leave(page.locator(".statusbar"));
    await page.locator(".prompt-box.over").waitFor({ state: "detached" });
    const d = await drag(context, page, box, files);
    await page.locator(".prompt-box.over").waitFor();
    await d.drop();
    await becomes(page, "look at '/home/ana/.loop/pastes/one.txt' '/home/ana/.loop/pastes/two.pdf' and say");
    equal(await page.locator(".prompt-box.over").count(), 0, "marked");
    await page.keyboard.type(" please"); // the box has the focus, and its caret is behind the files
    await becomes(page, "look at '/home/ana/.loop/pastes/one.txt' '/home/ana/.loop/pastes/two.pdf' please and say");
    const sent = mock.log.filter((c) => c.name === "Terminals.PasteFile").map((c) => c.args.slice(1));
    equal(sent, [["one.txt", btoa("1")], ["two.pdf", btoa("2")]], "what Loop got");
  });
});

const thumbs = (page, place = ".prompt-box") => page.locator(`${place} .pictures img`);
const drawn = (page, n, place) => until(`${n} pictures are drawn`, async () => (await thumbs(page, place).evaluateAll((all) => all.filter((i) => i.naturalWidth > 0).length)) === n);

test("prompt: pasted pictures go along as pictures; text stays text", async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).focus();
  await content(page, "[data-prompt]", "paste", [["image.png", 9, "image/png"]]);
  await drawn(page, 1);
  equal(await value(page), "", "the text");
  await page.evaluate(() => navigator.clipboard.writeText("what is this"));
  await page.keyboard.press("Control+v");
  await becomes(page, "what is this");
  await content(page, ".prompt-box", "drop", [["other.jpg", 12, "image/jpeg"], ["note.txt", 3, "text/plain"]]);
  await drawn(page, 2);
  await becomes(page, "what is this '/home/ana/.loop/pastes/note.txt' ");
  await page.reload();
  await drawn(page, 2); // they are kept with the draft
  await clean(page, "the prompt box", { looks: CONTRAST });
  await page.getByRole("button", { name: "Remove other.jpg" }).click();
  await drawn(page, 1);
  await page.getByRole("button", { name: "Show image.png" }).click();
  const large = page.getByRole("dialog", { name: "image.png" });
  await large.getByRole("img").waitFor();
  await page.keyboard.press("Escape");
  await large.waitFor({ state: "detached" });
  await prompt(page).focus();
  await page.keyboard.press("Enter");
  await drawn(page, 1, ".bubble ~");
  equal(await thumbs(page).count(), 0, "pictures in the box");
  const sent = mock.log.find((c) => c.name === "Runs.Prompt").args[0];
  equal(sent.attachments.map((a) => a.name), ["image.png"], "sent");
});

test("prompt: the key and the button choose files; what is no picture is refused with its remedy", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("look");
  for (const press of [() => prompt(page).press("Alt+a"), () => page.getByRole("button", { name: "Attach files" }).click()]) {
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press()]);
    await chooser.setFiles([{ name: `shot${mock.log.length}.png`, mimeType: "image/png", buffer: Buffer.from(`x${mock.log.length}`) }]);
    equal(await prompt(page).evaluate((el) => el === document.activeElement), true, "the box has the keyboard");
  }
  await drawn(page, 2);
  mock.world.noPicture = true;
  await content(page, ".prompt-box", "drop", [["bad.png", 3, "image/png"]]);
  await page.getByText("This is no picture that the model takes. Attach a PNG, JPEG, GIF or WebP.").waitFor();
  await drawn(page, 2);
  equal(await value(page), "look", "the draft");
});

test("prompt: in the window, where the event of a paste has no files", async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).focus();
  await page.evaluate(async () => {
    window.runtime = { ClipboardGetText: () => navigator.clipboard.readText() };
    const canvas = new OffscreenCanvas(2, 2);
    canvas.getContext("2d").fillRect(0, 0, 2, 2);
    const picture = await canvas.convertToBlob({ type: "image/png" });
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
  });
  await content(page, "[data-prompt]", "paste", []);
  await drawn(page, 1);
  equal(mock.log.filter((c) => c.name === "Files.Attach").map((c) => atob(c.args[2]).slice(1, 4)), ["PNG"], "content");
});

test("prompt: it is as high as its text also when it becomes narrow", async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("a line that is as long as the box is wide ".repeat(2));
  const cut = () => prompt(page).evaluate((el) => el.scrollHeight - el.clientHeight);
  equal(await cut(), 0, "cut off at first");
  await page.setViewportSize({ width: 760, height: 700 });
  await until("nothing is cut off", async () => (await cut()) === 0);
});

test("prompt: a chip without room ends in an ellipsis", async (page) => {
  await page.getByRole("button", { name: "Demo channel" }).click();
  await page.getByText("Claude Code, scripted model").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  const chip = page.locator(".prompt-chips");
  await until("it is short", () => chip.locator(".ellipsis").evaluate((el) => el.scrollWidth > el.clientWidth));
  equal(await chip.evaluate((el) => el.scrollWidth <= el.clientWidth), true, "it fits");
});

test("a terminal is marked while a file is dragged over it", { reduced: false }, async (page, mock, context) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("shell in the container");
  await page.keyboard.press("Enter");
  await page.locator(".term-skeleton").waitFor({ state: "detached" });
  const term = page.locator(".term");
  await term.locator(".xterm-screen").waitFor();
  const shown = () => term.evaluate((el) => getComputedStyle(el, "::after").opacity === "1");
  equal(await shown(), false, "marked at first");
  await withFiles(async (file) => {
    const d = await drag(context, page, term, [file("a.txt", "a")]);
    await until("marked", shown);
    await d.leave(page.locator(".statusbar"));
    await until("not marked any more", async () => !(await shown()));
  });
});

test("prompt: progress; typing goes on; nothing is sent without its files; a cancel", async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("see");
  let release = hold(mock);
  await content(page, ".prompt-box", "drop", [["a.zip", 3, "application/zip"], ["b.zip", 3, "application/zip"]]);
  await page.getByText("Taking a.zip into the container, 1 of 2").waitFor();
  await page.keyboard.type(" what is wrong");
  await page.keyboard.press("Enter");
  equal(await page.getByRole("button", { name: "Send", exact: true }).isDisabled(), true, "Send waits");
  release();
  await becomes(page, "see '/home/ana/.loop/pastes/a.zip' '/home/ana/.loop/pastes/b.zip' what is wrong");
  await page.getByText("Taking").waitFor({ state: "detached" });
  release = hold(mock);
  // After a change of the channel, a dropped file still goes to the draft it was meant for.
  await content(page, ".prompt-box", "drop", [["c.zip", 3, "application/zip"]]);
  await page.getByRole("treeitem", { name: "infra" }).click();
  await prompt(page).fill("other");
  release();
  await until("it is in the draft", () => page.evaluate(() => Object.values(localStorage).some((v) => v.includes("/c.zip'"))));
  equal(await value(page), "other", "the other channel's draft");
  await page.getByRole("treeitem", { name: "docs" }).click();
  const draft = await value(page);
  ok(draft.includes("what is wrong") && draft.includes("/c.zip' "), draft);
  release = hold(mock);
  await content(page, ".prompt-box", "drop", [["d.zip", 3, "application/zip"]]);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Taking").waitFor({ state: "detached" });
  release(); // too late
  equal(mock.log.filter((c) => c.name === "Runs.Prompt").length, 0, "sent");
  await prompt(page).focus();
  await page.keyboard.press("Enter");
  await until("sent", () => mock.log.some((c) => c.name === "Runs.Prompt"));
  equal(mock.log.find((c) => c.name === "Runs.Prompt").args[0].prompt, draft.trim(), "prompt");
});

test("prompt: too large, a folder, refused: cause and remedy, and the draft stays", { quietErrors: true }, async (page, mock, context) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("my draft");
  await withFiles(async (file, dir) => {
    const large = file("large.iso", "");
    truncateSync(large, 10 * 1024 * 1024 + 1);
    mkdirSync(join(dir, "folder"));
    await (await drag(context, page, page.locator(".prompt-box"), [large, join(dir, "folder"), file("empty.txt", ""), file("fine.txt", "x")])).drop();
    await page.getByText("large.iso is larger than 10 MiB. Copy it into the project's folder").waitFor();
    await page.getByText("folder cannot be read. If it is a folder, take the files in it").waitFor();
    await page.getByText("empty.txt is empty.").waitFor();
    await becomes(page, "my draft '/home/ana/.loop/pastes/fine.txt' ");
  });
  for (let i = 0; i < 3; i++) await page.getByRole("button", { name: "Dismiss" }).first().click();
  equal(await page.getByText("larger than").count(), 0, "dismissed");
  // A file manager may give paths only. A path is under the channel's folders, is copied, or cannot be used.
  await page.evaluate(() => {
    const d = new DataTransfer();
    d.setData("text/uri-list", "file:///home/ana/a%20b.txt\r\nfile:///mnt/c.txt\r\nfile:///etc/shadow");
    document.querySelector(".prompt-box").dispatchEvent(new DragEvent("drop", { dataTransfer: d, bubbles: true, cancelable: true }));
  });
  await becomes(page, "my draft '/home/ana/.loop/pastes/fine.txt' '/home/ana/a b.txt' /home/ana/.loop/pastes/c.txt ");
  await page.getByText("You may not read /etc/shadow. Change its permissions").waitFor();
  mock.down();
  await content(page, ".prompt-box", "drop", [["x.zip", 3, "application/zip"]]);
  await page.getByText("Loop does not answer. Start it again").first().waitFor();
  ok((await value(page)).startsWith("my draft "), "the draft is lost");
});

test("a file dropped anywhere else leaves the page where it is", async (page, mock, context) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Image not loaded:").waitFor();
  const at = page.url();
  await page.evaluate(() => (window.still = true));
  await withFiles(async (file) => {
    const files = [file("page.html", "<p>elsewhere")];
    for (const where of [".sidebar", ".scroller", ".statusbar"]) {
      const d = await drag(context, page, page.locator(where).first(), files);
      await d.drop();
    }
    await page.keyboard.press("Control+,");
    const d = await drag(context, page, page.getByRole("dialog"), files);
    await d.drop();
    await page.waitForTimeout(300);
    equal(page.url(), at, "address");
    ok(await page.evaluate(() => window.still), "the page was loaded anew");
    equal(await page.locator("[data-prompt]").inputValue(), "", "prompt");
    // WebKit loads a dropped file unless the page prevents all three events.
    const kept = await page.evaluate(() => ["dragenter", "dragover", "drop"].map((k) => !document.body.dispatchEvent(new DragEvent(k, { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true }))));
    equal(kept, [true, true, true], "prevented");
  });
});
