// The strip of tabs in little room, and the state that a folded project shows.
import { enter, opens, quiet, ready, sessions, tabs } from "./dock-steps.mjs";
import { becomes, equal, frames, grab, ok, SOAK, test, until } from "./harness.mjs";

const strip = (page) => page.locator(".dock-strip").last();
/** Tabs and buttons that overlap or stick out of their strip. */
const crowded = (page) => page.evaluate(() => [...document.querySelectorAll(".dock-strip:not(.off)")].flatMap((s) => {
  const box = s.getBoundingClientRect();
  const list = s.querySelector(".dock-tabs").getBoundingClientRect();
  const rest = [...s.querySelectorAll(".dock-list, .dock-tools > *")].filter((e) => e.offsetWidth > 0).map((e) => [e.className, e.getBoundingClientRect()]);
  const all = [["tabs", list], ...rest];
  return all.flatMap(([name, r], i) => [
    ...(r.left < box.left - 1 || r.right > box.right + 1 ? [`${name} sticks out`] : []),
    ...all.slice(i + 1).filter(([, o]) => r.left < o.right - 1 && o.left < r.right - 1).map(([other]) => `${name} over ${other}`),
  ]);
}));
const front = (page) => page.evaluate(() => [...document.querySelectorAll(".dock-strip:not(.off) .dock-tab.active")].every((t) => {
  const [a, b] = [t.getBoundingClientRect(), t.parentElement.getBoundingClientRect()];
  return a.left >= b.left - 1 && a.right <= b.right + 1;
}));

async function named(page, mock, count, from = 0) {
  for (let i = from; i < count; i++) {
    await opens(page, mock, "Control+Shift+T", i + 1);
    await mock.terminals.calls()["Terminals.Rename"](mock.terminals.last().id, `work ${i + 1}`);
  }
  await page.getByRole("tab", { name: `work ${count}` }).waitFor();
}

test("strip: gives up tags, then names, then lists; nothing stands over anything", { ...quiet, size: [1400, 700], long: true }, async (page, mock) => {
  await enter(page);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("this computer");
  await page.keyboard.press("Enter");
  await ready(page);
  await named(page, mock, 4, 1);
  await page.keyboard.press("Control+Shift+X"); // one pane alone is as wide as the window
  await page.getByRole("button", { name: "Hide the sidebar" }).click();
  const seen = [];
  for (let w = 1400; w >= 160; w -= SOAK ? 20 : 80) {
    await page.setViewportSize({ width: w, height: 700 });
    await frames(page, 4);
    await becomes(() => crowded(page), [], `at ${w} px`);
    await until(`the tab in front can be seen at ${w} px`, () => front(page));
    const form = await page.evaluate(() => { const s = [...document.querySelectorAll(".dock-strip:not(.off)")][0]; return `${s.querySelector(".dock-tabs").dataset.form}${s.querySelector(".dock-list") ? " list" : ""}`; });
    if (seen.at(-1) !== form) seen.push(form);
  }
  equal(seen.filter((f) => f !== "icons"), ["whole", "untagged", "icons list", "one list"], "in this order");
});

const MANY = 20;

test("strip: more tabs than 320 px have room for: arrows, the wheel, the list and its keys", { ...quiet, size: [1200, 700] }, async (page, mock) => {
  await enter(page);
  await named(page, mock, MANY);
  await page.keyboard.press("Control+Shift+X");
  await page.getByRole("button", { name: "Hide the sidebar" }).click();
  await page.setViewportSize({ width: 320, height: 700 });
  const list = page.getByRole("button", { name: /more tabs: list all/ });
  await list.waitFor();
  await becomes(() => crowded(page), []);
  ok(await front(page), "the tab in front can be seen");
  equal((await tabs(page)).at(-1).length, MANY, "all are tabs");
  // Arrow keys reach every tab and bring it into sight.
  await grab(page.getByRole("tab", { name: `work ${MANY}` }));
  for (const key of ["ArrowLeft", "ArrowLeft", "Home", "End", "Home"]) {
    await page.keyboard.press(key);
    await until(`in sight after ${key}`, () => front(page));
  }
  await becomes(() => page.getByRole("tab", { selected: true }).last().textContent(), "work 1running");
  // The wheel scrolls the strip.
  const at = () => strip(page).locator(".dock-tabs").evaluate((el) => el.scrollLeft);
  const was = await at();
  await strip(page).locator(".dock-tabs").hover();
  await page.mouse.wheel(0, 300);
  await until("it scrolled", async () => (await at()) > was + 100);
  // The list has every tab with its state in words, and works by keys alone.
  await list.focus();
  await page.keyboard.press("Enter");
  await becomes(() => page.getByRole("menuitem").count(), MANY, "items");
  await page.getByText(`${MANY} tabs of this group`).waitFor();
  await page.getByRole("menuitem", { name: /work 1 .*shown/ }).waitFor();
  const item = (name) => until(`the item ${name}`, () => page.evaluate((n) => document.activeElement?.textContent.startsWith(n), name));
  await page.keyboard.press("End");
  await item(`work ${MANY}`);
  await page.keyboard.press("ArrowUp");
  await item(`work ${MANY - 1}`);
  await page.keyboard.press("Enter");
  await becomes(() => page.getByRole("tab", { selected: true }).last().textContent(), `work ${MANY - 1}running`);
  await ready(page);
  await until("it is in sight", () => front(page));
  // The Delete key in the list closes a tab. Below 320 pixels the plus button is an item of the pane's menu.
  await list.click();
  await page.getByRole("menuitem", { name: `work ${MANY}` }).hover();
  await page.keyboard.press("Delete");
  await becomes(() => sessions(mock).length, MANY - 1, "one was closed");
  await page.setViewportSize({ width: 300, height: 700 });
  await page.getByRole("button", { name: "Open a panel" }).last().waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Actions for/ }).last().click();
  await page.getByRole("menuitem", { name: "Shell in the container" }).click();
  await becomes(() => sessions(mock).length, MANY, "one was opened");
  await ready(page);
});

test("tree: a folded project says the strongest state below it", async (page, mock) => {
  const api = mock.channel("api-server").channel_id;
  const kids = [["fix-login", "working"], ["flaky", "needs_you"], ["docs-pass", "needs_you"], ["old", "failed"]].map(([name, state]) => mock.world.addChannel(name, `/home/ana/src/api-server/${name}`, "worktree", { parent_id: api, state }));
  const row = page.getByRole("treeitem", { name: /^api-server/ });
  await page.getByRole("treeitem", { name: "fix-login" }).waitFor();
  await grab(row);
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("treeitem", { name: "fix-login" }).waitFor({ state: "detached" });
  await page.getByRole("treeitem", { name: "api-server 2 need you" }).waitFor();
  equal(await row.getAttribute("aria-expanded"), "false");
  for (const k of kids.slice(1, 3)) mock.world.emit("channel.updated", k.channel_id, "", { ...k, state: "done" });
  await page.getByRole("treeitem", { name: "api-server failed" }).waitFor();
  ok(await row.locator(".state.failed svg").count(), "with its sign");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem", { name: "api-server done" }).waitFor();
  // A row that vanishes leaves the focus to its neighbour.
  await grab(page.getByRole("treeitem", { name: "fix-login" }));
  mock.world.channels.delete(kids[0].channel_id);
  mock.world.emit("channel.deleted", kids[0].channel_id, "", {});
  await page.getByRole("treeitem", { name: "fix-login" }).waitFor({ state: "detached" });
  await until("a row has the keyboard", () => page.evaluate(() => document.activeElement?.matches("[role=treeitem]")));
});
