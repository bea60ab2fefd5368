// Every way into every dialog: its first field gets the keyboard, the page behind gets nothing, and
// after the dialog the keyboard is back where it was.
import { enter, live, opens, prompted, quiet, ready, sessions, typed } from "./dock-steps.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";

const FIRST = {
  palette: "[cmdk-input]", settings: "#credential", folder: "#folder-path", worktree: "#worktree-branch", rename: "#rename-name", choices: "#choices-model",
  remove: "[data-first]", close: "[data-first]", doctor: ".dialog-body", shortcuts: ".dialog-body", paste: ".dialog-body", file: ".dialog-body",
  setup: ".dialog-body", image: ".dialog, .build-log", sessions: ".dialog", recordings: ".dialog",
};
const PROMPT = "[data-prompt]", ROW = "[role=treeitem]", TERMINAL = ".xterm-helper-textarea", TAB = "[role=tab]";
const SHORTCUTS = ["Control+b", "Control+l", "Control+.", "Control+,", "Control+o", "F6", "F8", "Alt+ArrowDown", "Alt+Shift+ArrowLeft", "Control+PageDown", "Control+Shift+L", "Control+Shift+T"];

const has = (page, selector) => until(`${selector} has the keyboard`, () => page.evaluate((s) => document.activeElement?.matches(s), selector));
const item = (name) => async (page) => {
  await page.getByRole("menuitem", { name: new RegExp(`^${name}`) }).waitFor();
  await page.keyboard.type(name.slice(0, 5));
  await until(`${name} is highlighted`, () => page.evaluate((n) => document.activeElement?.textContent.startsWith(n), name));
  await page.keyboard.press("Enter");
};
const palette = (words) => async (page) => {
  await page.keyboard.press("Control+Shift+P");
  await has(page, FIRST.palette);
  await page.keyboard.insertText(words);
  await page.keyboard.press("Enter");
};
const presses = (key) => (page) => page.keyboard.press(key);
const button = (name, role = "button") => async (page) => {
  await grab(page.getByRole(role, { name }).first());
  await page.keyboard.press("Enter");
};
const menuOfRow = (name) => async (page) => {
  await page.keyboard.press("Shift+F10");
  await item(name)(page);
};

/** The visible state of the page behind a dialog. None of it may change. */
const behind = (page) => page.evaluate(() => [
  document.querySelector("h1").textContent, Boolean(document.querySelector("nav.sidebar")), document.querySelectorAll("#root [role=tab][id]").length,
  document.querySelectorAll("[role=dialog]").length, document.querySelector("[role=dialog] h2")?.textContent ?? "", document.querySelector("[data-prompt]")?.value ?? "",
]);

const tried = new WeakMap(); // page → names of the dialogs that types() has tried

/**
 * Opens a dialog and checks that its first field gets the keyboard and that the page behind
 * is out of reach. from has the keyboard before, back has it after. What follows from that,
 * types() tries once for each dialog of a page.
 */
async function look(page, mock, dialog, open, from, back = from) {
  const what = `${dialog} from ${from}`;
  if (from) await has(page, from);
  const asked = mock.log.length;
  await open(page);
  await until(`${what} is open`, () => page.evaluate((s) => {
    const [el, shown] = [document.activeElement, document.querySelector("[role=dialog]")];
    return shown?.contains(el) && el.matches(s) && shown.querySelector("h2")?.textContent !== "Loading";
  }, FIRST[dialog]));
  const input = sessions(mock).map(typed);
  // The page behind can neither take the keyboard nor be read by a screen reader.
  ok(await page.evaluate(() => document.getElementById("root").inert), `${what}: the page behind is not inert`);
  await page.evaluate(() => document.querySelectorAll("#root :is(button, textarea, input, [tabindex])").forEach((el) => el.focus()));
  await has(page, FIRST[dialog]);
  if (!tried.has(page)) tried.set(page, new Set());
  if (!tried.get(page).has(dialog)) await types(page, dialog, what);
  tried.get(page).add(dialog);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await has(page, back);
  ok(!(await page.evaluate(() => document.getElementById("root").inert)), `${what}: still inert`);
  equal(mock.log.slice(asked).map((c) => c.name).filter((n) => /Prompt|Cancel|Create|Rename|Remove|Close/.test(n)), [], `${what}: asked of Loop`);
  equal(sessions(mock).map(typed), input, `${what}: typed into a terminal`);
}

/** Typed text goes into the dialog; shortcuts change nothing behind it and do not take the keyboard. */
async function types(page, dialog, what) {
  if (await page.evaluate(() => document.activeElement.matches("input"))) {
    await page.keyboard.type("zq");
    equal((await page.evaluate(() => document.activeElement.value)).slice(-2), "zq", `${what}: typed`);
  } else if (!FIRST[dialog].includes("data-first")) {
    await page.keyboard.type("zq");
    await page.keyboard.press("Enter");
  }
  const was = await behind(page);
  for (const key of SHORTCUTS) await page.keyboard.press(key);
  equal(await behind(page), was, `${what}: shortcuts`);
  ok(await page.evaluate(() => document.activeElement.closest("[role=dialog]")), `${what}: a shortcut took the keyboard`);
}

const OF_CHANNEL = { worktree: "New worktree", sessions: "Conversations", rename: "Rename", choices: "Model, agent", remove: "Remove" };
const BY_PALETTE = {
  worktree: "new worktree", sessions: "conversations", rename: "rename channel", choices: "model, agent", remove: "remove channel", settings: "settings", doctor: "run the checks",
  shortcuts: "keyboard shortcuts", folder: "open a project", image: "build the agent image", recordings: "recordings of", setup: "your claude set-up",
};

test("focus: a new worktree by the palette is named in its dialog, not to the agent", quiet, async (page, mock) => {
  await enter(page);
  await page.keyboard.press("Control+l");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new worktree");
  await page.keyboard.press("Enter");
  await page.keyboard.type("fix-login"); // typed at once: no key may get lost or go elsewhere
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "fix-login" }).waitFor();
  await has(page, PROMPT);
  equal(await page.locator(PROMPT).inputValue(), "", "the prompt box");
  equal(mock.log.filter((c) => c.name === "Channels.CreateWorktree").map((c) => c.args[0].branch), ["fix-login"]);
  equal(mock.log.filter((c) => c.name === "Runs.Prompt").length, 0, "prompts");
});

test("focus: a dialog that is still being fetched has the keyboard already", { ...quiet, alone: true }, async (page, mock, context) => {
  let go;
  const held = new Promise((r) => (go = r));
  await context.route(/FolderDialog.*\.js/, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await enter(page);
  await page.keyboard.press("Control+l");
  await page.keyboard.press("Control+o");
  await page.getByRole("dialog", { name: "Loading" }).waitFor();
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  go();
  await has(page, FIRST.folder);
  await page.keyboard.press("Escape");
  await has(page, PROMPT);
  equal([await page.locator(PROMPT).inputValue(), mock.log.filter((c) => c.name === "Runs.Prompt").length], ["", 0], "what was typed");
});

test("focus: by the palette, from the prompt box and from the tree", quiet, async (page, mock) => {
  await enter(page);
  for (const [dialog, words] of Object.entries(BY_PALETTE)) {
    await page.keyboard.press("Control+l");
    await look(page, mock, dialog, palette(words), PROMPT);
    if (!["worktree", "settings", "recordings"].includes(dialog)) continue; // where the palette came from is the same for all
    await grab(page.locator(ROW).first());
    await look(page, mock, dialog, palette(words), ROW);
  }
});

test("focus: by the menu of a channel, by its keys and by shortcuts", quiet, async (page, mock) => {
  await enter(page);
  const row = page.getByRole("treeitem", { name: "api-server" });
  for (const [dialog, name] of Object.entries(OF_CHANNEL)) {
    await grab(row);
    await look(page, mock, dialog, menuOfRow(name), ROW);
    await page.keyboard.press("Control+l");
    await look(page, mock, dialog, async () => {
      await row.click({ button: "right" });
      await item(name)(page);
    }, PROMPT, ROW);
    await page.keyboard.press("Control+l");
    await look(page, mock, dialog, async () => {
      await row.hover();
      await page.locator(".row:hover .row-menu").click();
      await page.getByRole("menuitem", { name: new RegExp(`^${name}`) }).click();
    }, PROMPT);
  }
  await grab(row);
  for (const [dialog, key] of Object.entries({ rename: "F2", remove: "Delete", palette: "Control+Shift+P", folder: "Control+o", settings: "Control+,", shortcuts: "?" })) await look(page, mock, dialog, presses(key), ROW);
  await page.keyboard.press("Control+l");
  for (const [dialog, key] of Object.entries({ palette: "Control+k", folder: "Control+o", settings: "Control+," })) await look(page, mock, dialog, presses(key), PROMPT);
  for (const name of ["Keep it", "Cancel"]) {
    await grab(row);
    await page.keyboard.press(name === "Cancel" ? "F2" : "Delete");
    await page.getByRole("button", { name }).click();
    await has(page, ROW);
  }
  // The key that opens the palette also closes it.
  await page.keyboard.press("Control+k");
  await has(page, FIRST.palette);
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await has(page, ROW);
});

test("focus: the menu of a channel has its own arrow keys", quiet, async (page) => {
  await enter(page);
  await grab(page.getByRole("treeitem", { name: "api-server" }));
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menu").waitFor();
  const highlighted = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await page.keyboard.press("ArrowDown");
  await until("an item has the keyboard", async () => (await highlighted()).startsWith("New"));
  const first = await highlighted();
  await page.keyboard.press("ArrowDown");
  await until("the next item", async () => (await highlighted()) !== first && page.evaluate(() => document.activeElement.matches("[role=menuitem]")));
  await page.keyboard.press("End");
  await until("the last item", async () => (await highlighted()).startsWith("Remove"));
  await page.keyboard.type("con"); // letters choose an item of the menu
  await until("the item by its letters", async () => (await highlighted()).startsWith("Conversations"));
  await page.keyboard.press("ArrowLeft");
  equal(await page.getByRole("treeitem", { name: "api-server" }).count(), 1, "the tree did not move");
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  await becomes(() => page.evaluate(() => document.activeElement?.textContent.startsWith("api-server")), true, "the row it came from");
});

test("focus: by the buttons of the frame, the status bar and the notes over the prompt box", quiet, async (page, mock) => {
  await enter(page);
  const { world } = mock;
  for (const [dialog, name] of [["palette", "Go to channel"], ["settings", "Settings"], ["folder", "Open a project folder"], ["doctor", "Docker 28"], ["doctor", "Gate on"]]) await look(page, mock, dialog, button(name), "", "button");
  world.emit("image.build_status", "", "", { ...world.image, state: "missing" });
  await look(page, mock, "image", button("no agent image yet"), "", "button.status-item");
  world.emit("image.build_status", "", "", { ...world.image, state: "building", progress: 0.4, step: "Packages" });
  await look(page, mock, "image", button("building image"), "", "button.status-item");
  await look(page, mock, "image", button(/^Show$/), "", ".banner button");
  world.emit("image.build_status", "", "", world.image);
  world.emit("engine.status", "", "", { ...world.engine, ok: false, failure: { code: "no_engine", cause: "No Docker engine answers.", remedy: "Start Docker." } });
  await look(page, mock, "doctor", button(/^Check$/), "", ".banner button");
  await look(page, mock, "doctor", button("does not answer"), "", "button.status-item");
  world.emit("engine.status", "", "", world.engine);
  world.emit("config.changed", "", "", { ...world.config, has_credentials: false, problems: [{ line: 1, col: 1, field: "x", message: "is wrong.", remedy: "Mend it." }] });
  await look(page, mock, "settings", button("Add key"), "", ".banner button");
  await look(page, mock, "settings", button("problem in config.json"), "", "button.status-item");
});

test("focus: by the first page", { scenario: "fresh" }, async (page, mock) => {
  for (const [dialog, name, role] of [["folder", "Open a project folder"], ["folder", "Open a folder"], ["doctor", "All checks"], ["settings", "Add key"]]) await look(page, mock, dialog, button(name, role), "", "button");
  await look(page, mock, "image", button("Build it now"), "", "button, .dialog, [tabindex]");
  await page.evaluate(() => document.activeElement.blur());
  await look(page, mock, "palette", presses("Control+k"), "body", "body");
});

test("focus: by terminals, their tabs and menus", quiet, async (page, mock) => {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await prompted(page);
  await page.keyboard.type("tui");
  await page.keyboard.press("Enter");
  await page.getByText("top of").first().waitFor();
  const tab = page.getByRole("tab").nth(1);
  await look(page, mock, "close", presses("Control+Shift+W"), TERMINAL);
  await look(page, mock, "close", palette("close the terminal"), TERMINAL);
  await look(page, mock, "rename", palette("rename channel"), TERMINAL);
  await look(page, mock, "palette", presses("Control+Shift+P"), TERMINAL);
  await look(page, mock, "settings", palette("settings"), TERMINAL);
  await look(page, mock, "close", async () => {
    await page.locator(".term-screen").click({ button: "right", modifiers: ["Shift"] });
    await item("Close")(page);
  }, TERMINAL);
  const actions = async () => {
    await page.getByRole("button", { name: /^Actions for/ }).last().click();
    await item("Close")(page);
  };
  await look(page, mock, "close", actions, TERMINAL);
  await look(page, mock, "recordings", async () => {
    await page.getByRole("button", { name: "Open a panel" }).last().click();
    await item("Recordings")(page);
  }, TERMINAL);
  await grab(tab);
  await look(page, mock, "close", presses("Delete"), TAB);
  await look(page, mock, "close", async () => {
    await page.keyboard.press("Shift+F10");
    await item("Close")(page);
  }, TAB);
  // The field for a new name takes the tab's place.
  for (const open of [presses("F2"), async () => { await page.keyboard.press("Shift+F10"); await item("Rename")(page); }, palette("rename the terminal")]) {
    await grab(tab);
    await open(page);
    await has(page, ".dock-rename");
    await page.keyboard.press("Escape");
    await ready(page);
  }
  // After a choice in a dialog the keyboard is in the right place.
  await page.keyboard.press("Control+Shift+W");
  await page.getByRole("button", { name: "Close the pane only" }).click();
  await until("the pane is gone", async () => (await page.getByRole("tab").count()) === 1);
  await has(page, PROMPT);
  equal(sessions(mock).length, 1, "its session goes on");
});

test("focus: by pastes, files that output names, recordings, and settings that want more", { ...quiet, quietErrors: true }, async (page, mock) => {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await prompted(page);
  await page.evaluate(() => navigator.clipboard.writeText("one\ntwo\nthree"));
  await look(page, mock, "paste", presses("Control+Shift+V"), TERMINAL);
  await look(page, mock, "paste", async () => {
    await page.locator(".term-screen").click({ button: "right" });
    await item("Paste")(page);
  }, TERMINAL);
  await palette("shell on this computer")(page);
  await until("a shell on this computer", () => sessions(mock).length === 2);
  await live(page, 2);
  await mock.terminals.last().write("\x1b]7;file://box/home/ana/shop\x07\r\npkg/settings.go:40:2: wrong\r\n");
  const line = page.locator(".xterm-rows > div", { hasText: "settings.go" });
  await line.waitFor();
  await look(page, mock, "file", async () => {
    const b = await line.boundingBox();
    await page.mouse.move(b.x + 40, b.y + b.height / 2);
    await page.getByText("Ctrl click shows it").waitFor();
    await page.keyboard.down("Control");
    await page.mouse.click(b.x + 40, b.y + b.height / 2);
    await page.keyboard.up("Control");
  }, TERMINAL);
  // A recording is played where the list was; closing it leads back to the list, then to the terminal.
  mock.terminals.addRecording("a.cast", `${JSON.stringify({ version: 2, width: 80, height: 24, timestamp: 1767000000, title: "demo" })}\n[2.5,"o","hello"]`);
  await palette("recordings of")(page);
  await page.getByRole("button", { name: /^Play/ }).click();
  await has(page, ".player-screen");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Delete/ }).click();
  await has(page, "[data-first]"); // the safe answer has the keyboard
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.keyboard.press("Escape");
  await has(page, TERMINAL);
  const id = mock.channel("api-server").channel_id;
  mock.settings.texts.project = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  mock.world.emit("trust.requested", id, "", { channel_id: id, path: "/x", sha256: "x", fields: ["mounts"] });
  await look(page, mock, "settings", button("Look at them"), "", ".banner button");
});

test("focus: a message over a dialog is said and can be closed, and the dialog stays", { ...quiet, quietErrors: true }, async (page, mock) => {
  await enter(page);
  mock.world.failNext.set("System.SetTheme", { code: "internal", cause: "The settings could not be written.", remedy: "Look at the disk." });
  await page.keyboard.press("Control+,");
  await has(page, FIRST.settings);
  await page.getByRole("tab", { name: "Look" }).click();
  await page.getByRole("radio", { name: "Light" }).click();
  const message = page.locator(".toast", { hasText: "The settings could not be written." });
  await message.waitFor();
  await message.getByRole("button", { name: "Close" }).click();
  await message.waitFor({ state: "detached" });
  equal(await page.getByRole("dialog").count(), 1, "the dialog");
  ok(await page.evaluate(() => document.activeElement.closest("[role=dialog]")), "the keyboard left the dialog");
});
