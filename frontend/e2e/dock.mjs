// Panels of the centre: terminals beside the timeline, by keyboard and by mouse.
import { clean, DIALOG, MENU } from "./clean.mjs";
import { boxes, enter, four, inTerminal, live, opens, prompted, quiet, ready, sessions, tabs, typed } from "./dock-steps.mjs";
import { becomes, equal, frames, grab, test, until } from "./harness.mjs";

test("dock: four splits, focus, size, zoom and tabs by keys alone", { size: [1440, 900] }, async (page, mock) => {
  await four(page, mock);
  equal(sessions(mock).map((s) => [s.spec.target ?? "agent", Boolean(s.spec.plain)]), [["agent", false], ["agent", true], ["agent", true], ["agent", true]], "what was asked for");
  await becomes(async () => (await boxes(page)).length, 5, "panels");
  const was = await inTerminal(page);
  await page.keyboard.press("Alt+Shift+ArrowRight");
  await until("the one on the right", async () => (await inTerminal(page)) !== was);
  const right = await inTerminal(page);
  await page.keyboard.press("Alt+Shift+ArrowUp");
  await until("the one above", async () => (await inTerminal(page)) !== right);
  await ready(page);
  await page.keyboard.type("ls");
  await page.keyboard.press("Enter");
  await until("only that one got the keys", () => sessions(mock).filter((s) => typed(s).includes("ls\r")).length === 1);

  // Resize and move.
  const before = await boxes(page);
  await page.keyboard.press("Control+Shift+L");
  const bar = page.getByRole("group", { name: "Arrange panes" });
  const arranging = () => until("the bar has the keyboard", () => bar.evaluate((el) => el === document.activeElement));
  await arranging();
  await page.keyboard.press("ArrowLeft");
  await arranging();
  await page.keyboard.press("ArrowLeft");
  await until("sizes changed", async () => JSON.stringify(await boxes(page)) !== JSON.stringify(before));
  await arranging();
  await page.keyboard.press("=");
  await page.keyboard.press("Shift+ArrowDown");
  await until("it went into the group below", async () => (await tabs(page)).some((t) => t.length === 2));
  await frames(page); // the moved panel gives the keyboard back to the bar
  await arranging();
  await page.keyboard.press("Shift+ArrowDown"); // no group is below: the panel gets a new one
  await until("it has a group again", async () => (await tabs(page)).every((t) => t.length === 1));
  await frames(page);
  await arranging();
  await page.keyboard.press("Enter");
  await ready(page);
  await page.keyboard.press("Control+Shift+X");
  await until("one pane alone", async () => (await boxes(page)).length === 1);
  await page.getByRole("button", { name: "Show all" }).waitFor();
  await ready(page);
  await page.keyboard.press("Control+Shift+X");
  await until("all again", async () => (await boxes(page)).length === 5);
  await ready(page);
  await page.keyboard.press("F6");
  await until("F6 leaves the terminal", async () => !(await page.evaluate(() => document.activeElement?.matches(".xterm-helper-textarea") && document.activeElement.closest(".dock-panel")?.id)) || (await inTerminal(page)) !== was);
  equal(sessions(mock).length, 4, "no terminal was made anew");
});

test("dock: tabs by keys: arrows, rename, close asks only if something runs", quiet, async (page, mock) => {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await live(page, 1);
  await opens(page, mock, "Control+Shift+T", 2);
  await becomes(async () => (await tabs(page)).map((t) => t.length), [1, 2], "a tab beside the first");
  await page.keyboard.press("Control+PageUp");
  await until("the first tab", () => page.getByRole("tab").nth(1).getAttribute("aria-selected").then((v) => v === "true"));
  await ready(page);
  const tab = page.getByRole("tab").nth(1);
  await page.keyboard.press("Shift"); // after any key the terminal no longer claims the focus
  await grab(tab);
  await page.keyboard.press("F2");
  const name = page.getByRole("textbox", { name: "Name of the terminal" });
  await until("the field has the focus", () => name.evaluate((el) => el === document.activeElement));
  await page.keyboard.type("build watcher");
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "build watcher" }).waitFor();
  await ready(page);
  equal(mock.log.find((c) => c.name === "Terminals.Rename").args[1], "build watcher");
  // Nothing runs, so closing asks nothing.
  await prompted(page);
  await page.keyboard.press("Control+Shift+W");
  await page.getByRole("tab", { name: "build watcher" }).waitFor({ state: "detached" });
  await ready(page);
  await prompted(page);
  await page.keyboard.type("tui");
  await page.keyboard.press("Enter");
  await page.getByText("top of").first().waitFor();
  await page.keyboard.press("Control+Shift+W");
  await page.getByRole("dialog", { name: "Close the terminal" }).waitFor();
  await page.getByText("“tui” is running in").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await ready(page);
  await page.keyboard.press("Control+Shift+W");
  await page.getByRole("button", { name: "Close the pane only" }).click();
  await until("only the timeline", async () => (await tabs(page)).length === 1);
  equal(sessions(mock).length, 1, "its session goes on");
  await page.getByRole("button", { name: "Open a panel (1 without a pane)" }).click();
  await page.getByRole("menuitem", { name: /running/ }).click();
  await page.getByText("top of").first().waitFor();
  await ready(page);
  await page.keyboard.press("Control+Shift+W");
  await page.getByRole("button", { name: "End it" }).click();
  await until("it is gone", () => sessions(mock).length === 0);
});

test("dock: by mouse: drag a tab beside, into and along, move a line", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  await enter(page);
  for (let i = 1; i <= 3; i++) {
    await page.getByRole("button", { name: "Open a panel" }).last().click();
    await page.getByRole("menuitem", { name: "Shell in the container" }).click();
    await until(`session ${i}`, () => sessions(mock).length === i);
    await ready(page);
    await mock.terminals.calls()["Terminals.Rename"](sessions(mock)[i - 1].id, `t${i}`);
  }
  await page.getByRole("tab", { name: "t3" }).waitFor();
  await becomes(() => tabs(page), [["Timeline"], ["t1", "t2", "t3"]]);
  const drag = async (name, x, y, between = async () => {}) => {
    const b = await page.getByRole("tab", { name }).boundingBox();
    await page.mouse.move(b.x + 20, b.y + 15);
    await page.mouse.down();
    await page.mouse.move(b.x + 40, b.y + 25, { steps: 3 });
    await page.mouse.move(x, y, { steps: 6 });
    await between();
    await page.mouse.up();
  };
  const [, right] = await boxes(page);
  const kept = await page.locator(".xterm-rows").evaluateAll((all) => all.forEach((e, i) => (e.dataset.kept = String(i)))).then(() => 3);
  await drag("t3", right[0] + right[2] / 2, right[1] + right[3] - 30, async () => {
    await page.locator(".dock-drop").waitFor();
  });
  await until("a group below", async () => JSON.stringify(await tabs(page)) === JSON.stringify([["Timeline"], ["t1", "t2"], ["t3"]]));
  await drag("t2", right[0] + right[2] - 20, right[1] + right[3] - 120);
  await until("a group beside that", async () => JSON.stringify(await tabs(page)) === JSON.stringify([["Timeline"], ["t1"], ["t3"], ["t2"]]));
  equal(await page.locator(".xterm-rows[data-kept]").count(), kept, "the terminals are the same elements");
  const first = await page.getByRole("tab", { name: "t1" }).boundingBox();
  await drag("t2", first.x + 4, first.y + 12, async () => page.locator(".dock-caret").waitFor());
  await until("before the other tab", async () => JSON.stringify(await tabs(page)) === JSON.stringify([["Timeline"], ["t2", "t1"], ["t3"]]));
  await drag("t1", 300, 500, () => page.keyboard.press("Escape"));
  equal(await tabs(page), [["Timeline"], ["t2", "t1"], ["t3"]], "Escape leaves all as it was");

  const line = await page.getByRole("separator", { name: "Width of the panes" }).boundingBox();
  const [timeline] = await boxes(page);
  const asked = () => sessions(mock).reduce((n, s) => n + s.sizes.length, 0);
  const before = asked();
  await page.mouse.move(line.x + 3, line.y + 300);
  await page.mouse.down();
  await page.mouse.move(line.x - 117, line.y + 300, { steps: 5 });
  await page.mouse.up();
  await until("the line followed the mouse", async () => Math.abs((await boxes(page))[0][2] - (timeline[2] - 120)) <= 2);
  await until("the programs know their size", () => asked() > before);
  await page.getByRole("tab", { name: "t1" }).click({ button: "middle" });
  await until("closed by the middle button", () => sessions(mock).length === 2);
});

test("dock: typing into all is unmistakable and reaches the visible ones only", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  await four(page, mock);
  await opens(page, mock, "Control+Shift+T", 5); // the fifth covers the fourth
  await page.keyboard.press("Control+Shift+B");
  await page.getByText("Typing goes to all 4 visible terminals.").waitFor();
  await becomes(() => page.locator(".dock-panel.target").count(), 4, "marked panes");
  await page.keyboard.type("ls");
  await page.keyboard.press("Enter");
  await until("all of them have it, once", () => sessions(mock).filter((s) => typed(s) === "ls\r").length === 4);
  await page.keyboard.press("Control+Shift+B");
  await page.getByText("Typing goes to all 4 visible").waitFor({ state: "detached" });
  await page.keyboard.type("x");
  await until("one again", () => sessions(mock).filter((s) => typed(s) === "ls\rx").length === 1);
});

test("dock: this computer is marked; bell, new output, away and the end are said on the tab", quiet, async (page, mock) => {
  await enter(page);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("this computer");
  await page.keyboard.press("Enter");
  await ready(page);
  const host = mock.terminals.last();
  equal(host.spec.target, "host");
  await page.getByRole("tab", { name: "This computer" }).waitFor();
  await opens(page, mock, "Control+Shift+D", 2);
  equal(mock.terminals.last().spec.target, "host", "a split of it is there too");
  await opens(page, mock, "Control+Shift+T", 3);
  const behind = sessions(mock)[1];
  await live(page, 3);
  await frames(page); // the covered pane now knows that it is hidden
  void behind.write("more\r\n");
  await page.getByRole("tab", { name: "new output" }).waitFor();
  void behind.write("\x07");
  await page.getByRole("tab", { name: /bell/ }).waitFor();
  equal(await page.evaluate(() => document.activeElement?.closest(".dock-panel.off")), null, "the bell took no focus");
  await page.getByRole("tab", { name: /bell/ }).click();
  await page.getByRole("tab", { name: /bell/ }).waitFor({ state: "detached" });
  host.end(3);
  await page.getByRole("tab", { name: /ended/ }).waitFor();
  await page.getByRole("button", { name: "Restart" }).click();
  await until("the same again in its place", () => mock.terminals.last().spec.target === "host" && sessions(mock).length === 3 && !mock.terminals.sessions.has(host.id));
});

test("dock: record, play, delete", quiet, async (page, mock) => {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await page.getByRole("button", { name: /^Actions for/ }).last().click();
  await page.getByRole("menuitem", { name: "Record" }).click();
  await page.getByRole("tab", { name: /recording/ }).waitFor();
  await ready(page);
  await page.keyboard.type("ls");
  await page.keyboard.press("Enter");
  await until("it ran", () => typed(mock.terminals.last()).includes("\r"));
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("stop recording");
  await page.keyboard.press("Enter");
  await until("kept", () => mock.terminals.recordings.size === 1);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("recordings of");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Play/ }).click();
  await page.getByRole("slider", { name: "Position" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Delete/ }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Nothing was recorded yet.").waitFor();
});

test("dock axe: splits, menus, bars, dialogs", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  await four(page, mock);
  await clean(page, "four splits");
  await page.keyboard.press("Control+Shift+B");
  await page.getByText("Typing goes to all 4 visible").waitFor();
  await clean(page, "typing into all");
  await page.keyboard.press("Control+Shift+B");
  await page.getByRole("button", { name: "Open a panel" }).last().click();
  await page.getByRole("menu").waitFor();
  await clean(page, "menu of new terminals", { within: MENU });
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Actions for/ }).last().click();
  await page.getByRole("menu").waitFor();
  await clean(page, "menu of a pane", { within: MENU });
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  await ready(page); // the menu has given the keyboard back
  await page.keyboard.press("Shift");
  await grab(page.getByRole("tab").nth(2));
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Name of the terminal" }).waitFor();
  await clean(page, "renaming", { within: ".dock-strip:has(input)" });
  await page.keyboard.press("Escape");
  await ready(page);
  await page.keyboard.press("Control+Shift+L");
  const bar = page.getByRole("group", { name: "Arrange panes" });
  await until("the bar has the keyboard", () => bar.evaluate((el) => el === document.activeElement));
  await clean(page, "arranging");
  await page.keyboard.press("Escape");
  await ready(page);
  mock.terminals.addRecording("a.cast", `${JSON.stringify({ version: 2, width: 80, height: 24, timestamp: 1767000000, title: "demo" })}\n[2.5,"o","hello"]`);
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("recordings of");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Play/ }).waitFor();
  await clean(page, "recordings", { within: DIALOG });
});
