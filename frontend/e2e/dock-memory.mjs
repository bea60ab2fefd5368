// A layout of panels comes back: after a reload, in another browser, under another address.
import { boxes, enter, four, live, opens, prompted, quiet, ready, sessions, tabs, typed } from "./dock-steps.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";

const kept = (mock, n) => until("Loop keeps the layout", () => Object.entries(mock.world.memory).some(([k, v]) => k.startsWith("dock.") && v.split('"terminal"').length === n + 1));

test("dock: a reload and another channel bring all panes back, bad memory does no harm", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  await four(page, mock);
  const before = await boxes(page);
  await kept(mock, 4);
  await page.reload();
  await live(page, 4);
  await becomes(() => boxes(page), before, "the same places");
  equal(sessions(mock).length, 4, "the same sessions");
  await page.getByText("ana@loop-api-server").nth(3).waitFor();
  await enter(page, "docs");
  await becomes(async () => (await boxes(page)).length, 1, "another channel has its own");
  await enter(page);
  await live(page, 4);
  await becomes(() => boxes(page), before, "and back");
  // A session ends while no page is open.
  const gone = sessions(mock)[1];
  mock.terminals.sessions.delete(gone.id);
  await page.reload();
  await page.getByText("This terminal is no longer there").waitFor();
  await page.getByRole("button", { name: "Open a new one here" }).click();
  await until("a new one in its place", () => sessions(mock).length === 4);
  await live(page, 4);
  await until("Loop keeps the new one", () => Object.values(mock.world.memory).some((v) => v.includes(mock.terminals.last().id)));
  await until("rubbish: as at the start", async () => {
    // Each try writes the rubbish anew: a layout still on its way may have replaced it.
    for (const k of Object.keys(mock.world.memory)) if (k.startsWith("dock.")) mock.world.memory[k] = '{"version":1,"root":{"kind":"split","parts":[{"kind":"group"';
    await page.reload();
    await page.getByRole("textbox", { name: "Prompt" }).waitFor();
    return JSON.stringify(await tabs(page)) === '[["Timeline"]]';
  });
  await page.getByRole("button", { name: "Open a panel (4 without a pane)" }).waitFor();
});

test("dock: another browser has the same panes, and what it changes comes back", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  await four(page, mock);
  await kept(mock, 4);
  const places = await boxes(page);
  const other = await page.context().browser().newContext({ viewport: { width: 1440, height: 900 } });
  const second = await other.newPage();
  await second.goto(mock.url);
  await live(second, 4);
  await becomes(() => boxes(second), places, "the same places");
  equal(sessions(mock).length, 4, "the same sessions");
  await grab(second.locator(".xterm-helper-textarea").first());
  await second.keyboard.press("Control+=");
  await until("the size of the text is kept", () => mock.world.memory["terminal.zoom"] === "1");
  await other.close();
  await page.reload();
  await live(page, 4);
  await becomes(() => page.evaluate(() => localStorage.getItem("loop.terminal.zoom")), "1");
});

test("dock: tabs say where a shell waits and what runs; an idle one closes without a question after a reload", { ...quiet, size: [1440, 900] }, async (page, mock) => {
  await enter(page);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("shell in");
  await page.keyboard.press("Enter");
  await ready(page);
  await live(page, 1);
  await page.getByRole("tab", { name: "api-server" }).waitFor();
  await prompted(page);
  await page.keyboard.type("tui");
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "tui" }).waitFor();
  await page.reload();
  await live(page, 1);
  await page.getByRole("tab", { name: "tui" }).waitFor();
  await grab(page.locator(".xterm-helper-textarea"));
  await page.keyboard.press("Control+Shift+W");
  await page.getByText("“tui” is running in").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await ready(page);
  await page.keyboard.type("q");
  await page.getByRole("tab", { name: "api-server" }).waitFor();
  await page.reload();
  await live(page, 1);
  await grab(page.locator(".xterm-helper-textarea"));
  await opens(page, mock, "Control+Shift+D", 2);
  equal(mock.terminals.last().spec.dir, "/home/ana/src/api-server", "it begins where the other is");
  await live(page, 2);
  await grab(page.locator(".xterm-helper-textarea").first());
  await prompted(page);
  await page.keyboard.press("Control+Shift+W");
  await until("closed, nothing was asked", () => sessions(mock).length === 1);
  ok(!(await page.getByRole("dialog").isVisible()), "no dialog");
});

test("dock: a cleared terminal stays cleared", quiet, async (page, mock) => {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await prompted(page);
  await page.keyboard.type("seq 60");
  await page.keyboard.press("Enter");
  await page.getByText("line 60").waitFor();
  await prompted(page);
  await page.keyboard.press("Control+Shift+K");
  await page.getByText("line 60").waitFor({ state: "detached" });
  await page.keyboard.type("false");
  await page.keyboard.press("Enter");
  await until("the shell goes on", () => typed(mock.terminals.last()).endsWith("false\r"));
  await page.reload();
  await live(page, 1);
  await page.getByText("$ false").waitFor();
  await grab(page.locator(".xterm-helper-textarea"));
  await prompted(page);
  ok(!(await page.locator(".xterm-rows").textContent()).includes("line"), "nothing of it comes back");
});
