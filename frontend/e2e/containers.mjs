// The panel of containers.
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";
import { draw } from "./mock/containers.mjs";

const panel = (page) => page.getByRole("region", { name: "Containers", exact: true });
const list = (page) => panel(page).getByRole("grid", { name: "Containers of this Loop" });
const rows = (page) => list(page).locator(".containers-row:not(.containers-cols)");
const chosen = (page) => list(page).locator("[aria-selected=true] .containers-name").innerText();
const tab = (page) => panel(page).locator(".containers-tab[aria-selected=true]").innerText();

async function open(page, mock, n = 0) {
  draw(mock.world, n);
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByRole("button", { name: /^Containers/ }).click();
  await rows(page).first().waitFor();
  await becomes(() => list(page).evaluate((el) => el === document.activeElement), true, "the list has the keyboard");
}

test("containers: seen, steered and left by keys", { size: [1440, 900], quietErrors: true }, async (page, mock) => {
  await open(page, mock);
  equal(await rows(page).count(), 8, "containers");
  equal(await chosen(page), "loop-api-server-3cc039");
  await panel(page).getByText("mounts changed: will be recreated").waitFor();
  await panel(page).getByText("of 8 CPUs").waitFor();
  await page.keyboard.press("2");
  await becomes(async () => (await tab(page)).startsWith("Why"), true);
  await panel(page).getByText("holds private keys").waitFor();
  await page.keyboard.press("j"); // is no key of the list
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("A run and 2 terminals go on in it").waitFor();
  await dialog.getByText("(148 MB)").waitFor();
  await clean(page, "the question", { within: DIALOG, looks: CONTRAST });
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await becomes(() => list(page).evaluate((el) => el === document.activeElement), true, "the list has the keyboard again");
  await page.keyboard.press("s");
  await dialog.getByText("Stop the run first.").waitFor();
  equal(await dialog.getByRole("button", { name: "Stop", exact: true }).count(), 0, "buttons that stop a run");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await grab(list(page));
  await page.keyboard.press("c");
  await page.getByRole("menuitem", { name: "Say everything of it" }).waitFor();
  await page.keyboard.press("Escape");
  await grab(list(page));
  await page.keyboard.press("/");
  await page.keyboard.insertText("img-cache");
  await becomes(() => rows(page).count(), 1, "rows that fit");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Delete");
  await dialog.getByText("Nobody holds it.").waitFor();
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await panel(page).getByText("No container fits the filter.").waitFor();
  await panel(page).getByRole("button", { name: "Show all" }).click();
  await becomes(() => rows(page).count(), 7, "one less");
  await panel(page).getByRole("button", { name: "Changed" }).click();
  await becomes(() => rows(page).count(), 2, "changed");
  await panel(page).getByRole("button", { name: "All" }).click();
  await panel(page).getByRole("button", { name: "Clean up…" }).click();
  await dialog.getByText("2 containers that nobody holds would be removed:").waitFor();
  ok(mock.log.some((c) => c.name === "Containers.Prune" && c.args[0] === true) && !mock.log.some((c) => c.name === "Containers.Prune" && c.args[0] === false), "a look removes nothing");
  Object.assign(mock.world.containers.find((c) => c.container_name === "loop-shell-infra-40d1ce"), { status: "stopped", holders: [] }); // was not asked about
  Object.assign(mock.world.containers.find((c) => c.container_name === "loop-old-998e5d"), { status: "running" }); // is used again
  await dialog.getByRole("button", { name: "Remove 2" }).click();
  await page.getByText("1 container was removed. 1 other is used again or gone.").waitFor();
  await becomes(() => rows(page).count(), 6, "cleaned up");
  await grab(list(page));
  await page.keyboard.press("Escape");
  await until("the keyboard went back", () => page.evaluate(() => !document.activeElement?.closest(".containers-panel")));
});

test("containers: every column sorts, by the pointer and by keys, and the chosen one stays so", { size: [1440, 900] }, async (page, mock) => {
  await open(page, mock);
  const first = () => rows(page).first().locator(".containers-name").innerText();
  const head = (name) => list(page).getByRole("columnheader", { name });
  await page.keyboard.press("ArrowDown");
  equal(await chosen(page), "loop-feat-rate-limits-91204d");
  await head("Memory").getByRole("button").click();
  await becomes(first, "loop-storefront-55654e", "the most memory");
  equal(await head("Memory").getAttribute("aria-sort"), "descending");
  await head("Memory").getByRole("button").click();
  await becomes(first, "loop-old-998e5d", "the least memory");
  equal(await chosen(page), "loop-feat-rate-limits-91204d");
  await grab(list(page));
  await page.keyboard.press("o");
  await becomes(first, "loop-go-1.26-7b5289", "the largest");
  await page.keyboard.press("Shift+O");
  await becomes(first, "loop-shell-infra-40d1ce", "the smallest");
  await clean(page, "sorted", { looks: CONTRAST });
  await page.reload();
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByRole("button", { name: /^Containers/ }).click();
  await becomes(first, "loop-shell-infra-40d1ce", "the order after a reload");
  await panel(page).getByText("it goes on, and so does what works in it").waitFor();
});

test("containers: logs follow and are searched, ports open, and origins show their line", { size: [1440, 900], quietErrors: true }, async (page, mock) => {
  await open(page, mock);
  await page.keyboard.press("Control+f");
  const find = panel(page).getByRole("searchbox", { name: "Search the log" });
  await becomes(() => find.evaluate((el) => el === document.activeElement), true, "the search has the keyboard");
  const log = panel(page).getByRole("log");
  await log.getByText("Following.").waitFor();
  await page.keyboard.insertText("401");
  await panel(page).getByText("1 of 2").waitFor();
  await page.keyboard.press("Enter");
  await panel(page).getByText("2 of 2").waitFor();
  await find.fill("");
  await panel(page).getByRole("checkbox", { name: "Follow" }).check();
  mock.world.logs.push("one line more");
  await log.getByText("one line more").waitFor();
  await clean(page, "logs", { looks: CONTRAST });
  await page.keyboard.press("Escape");
  await page.keyboard.press("4");
  await panel(page).getByText("Sign in – Fernway").waitFor();
  equal(await panel(page).getByRole("button", { name: "Open port 5432" }).isDisabled(), true, "what is no page does not open");
  await clean(page, "ports");
  await grab(list(page));
  await page.keyboard.press("2");
  await page.keyboard.press("Enter");
  await becomes(() => panel(page).locator(".containers-tab[aria-selected=true]").evaluate((el) => el === document.activeElement), true, "the tab has the keyboard");
  await panel(page).getByRole("checkbox", { name: "Changed only" }).check();
  await becomes(() => panel(page).locator(".containers-why tbody tr").count(), 2, "what differs or was left out");
  await clean(page, "why", { looks: CONTRAST });
  await panel(page).getByRole("table").getByRole("button", { name: ".loop/config.json:14" }).click();
  await page.getByRole("dialog").getByText("config.json:14").waitFor();
  ok(mock.log.some((c) => c.name === "Terminals.ReadFile" && c.args[1] === "host" && c.args[4] === 14), "the file was read at its line");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await grab(list(page));
  await page.keyboard.press("4");
  await panel(page).getByRole("button", { name: "Open port 8080" }).click();
  await page.getByRole("region", { name: "Browser" }).waitFor();
});

test("containers: what is asked about goes, and no other takes its place", { size: [1440, 900], quietErrors: true }, async (page, mock) => {
  await open(page, mock);
  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("loop-api-server-3cc039").waitFor();
  const [gone] = mock.world.containers.splice(mock.world.containers.findIndex((c) => c.container_name === "loop-api-server-3cc039"), 1);
  mock.world.emit("container.removed", gone.channel_id, "", gone);
  await dialog.waitFor({ state: "detached" });
  await becomes(() => rows(page).count(), 7, "one less");
  ok(!mock.log.some((c) => c.name === "Containers.Remove"), "nothing was removed");
});

test("containers: narrow, empty, failing, and with a dead engine", { size: [1440, 900], quietErrors: true }, async (page, mock) => {
  mock.world.failNext.set("Containers.Watch", { code: "internal", cause: "The containers cannot be read.", remedy: "Try again." });
  await page.getByRole("button", { name: /^Containers/ }).click(); // no channel is chosen
  await panel(page).getByText("The containers cannot be read.").waitFor();
  await panel(page).getByRole("button", { name: "Try again" }).click();
  await panel(page).getByText("None now. A run makes one.").waitFor();
  await clean(page, "empty");
  await open(page, mock, 20);
  await clean(page, "overview", { looks: CONTRAST });
  mock.world.engine = { ...mock.world.engine, ok: false, failure: { code: "no_engine", cause: "The engine does not answer.", remedy: "Start it." } };
  mock.world.emit("engine.status", "", "", mock.world.engine);
  await panel(page).getByText("The engine does not answer.").waitFor();
  equal(await panel(page).getByRole("button", { name: "Stop…" }).isDisabled(), true, "actions are off");
  mock.world.engine = { ...mock.world.engine, ok: true, failure: undefined };
  mock.world.emit("engine.status", "", "", mock.world.engine);
  await panel(page).getByText("The engine does not answer.").waitFor({ state: "detached" });
  await page.setViewportSize({ width: 640, height: 800 });
  await grab(list(page));
  equal(await panel(page).getByRole("region", { name: "The chosen container" }).isVisible(), false, "details, while the list is shown");
  await page.keyboard.press("Enter");
  await panel(page).getByRole("region", { name: "The chosen container" }).waitFor();
  equal(await list(page).isVisible(), false, "the list, while the details are shown");
  await clean(page, "narrow details");
  await page.keyboard.press("Escape");
  await becomes(() => list(page).evaluate((el) => el === document.activeElement), true, "Escape goes back to the list");
  await page.setViewportSize({ width: 360, height: 640 });
  await clean(page, "narrow list");
  equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, "nothing sticks out");
});
