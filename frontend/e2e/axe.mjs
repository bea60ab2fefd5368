// The accessibility checker axe finds nothing in any state of the page.
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { grab, test, until } from "./harness.mjs";
import { OWN_SETUP } from "./mock/settings.mjs";

const working = (mock) => until("the agent works", () => [...mock.world.runs.values()].some((r) => r.state === "running"));

test("axe: first page", { scenario: "fresh" }, (page) => clean(page, "first page"));
test("axe: timeline, all kinds of rows, opened", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await clean(page, "end of the timeline");
  for (const n of ["Edit internal", "Plan 2 of 3"]) await page.getByRole("button", { name: n }).first().click();
  await clean(page, "opened rows");
  await page.locator(".scroller").evaluate((el) => (el.scrollTop = 0));
  await page.getByRole("button", { name: "Thought" }).click();
  await clean(page, "start of the timeline");
});
test("axe: failed, interrupted, empty", async (page) => {
  for (const [n, there] of [["storefront", "The container ran out of memory"], ["infra", "Loop stopped while this run"], ["docs", "Nothing here yet"]]) {
    await page.getByRole("treeitem", { name: n }).click();
    await page.locator(".panel").getByText(there).first().waitFor();
    await clean(page, n);
  }
});
test("axe: running with a queue", async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  for (const t of ["hang", "next", "after"]) {
    await page.getByRole("textbox", { name: "Prompt" }).fill(t);
    await page.keyboard.press("Enter");
  }
  await page.getByText("after", { exact: true }).waitFor();
  await working(mock);
  await clean(page, "running");
});
test("axe: in the background, cut off", async (page, mock) => {
  const send = async (text) => { await page.getByRole("textbox", { name: "Prompt" }).fill(text); await page.keyboard.press("Enter"); };
  await page.getByRole("treeitem", { name: "docs" }).click();
  await send("start the dev server");
  await page.getByText("Waiting for 1 background task").waitFor();
  await send("next");
  await page.getByText("The next prompt waits").waitFor();
  await clean(page, "waiting");
  mock.play.pauseAt = "count";
  await page.getByRole("button", { name: "End now", exact: true }).click();
  await page.getByText("that count").waitFor();
  await page.keyboard.press("Control+.");
  await page.getByText("Cut off here").waitFor();
  await clean(page, "cut off");
});
test("axe: a question, a plan, an edited queue, conversations", async (page, mock) => {
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  const send = async (text) => { await prompt.fill(text); await page.keyboard.press("Enter"); };
  await page.getByRole("treeitem", { name: "docs" }).click();
  await send("it retries, then ask me");
  await page.getByRole("radio", { name: "Postgres" }).click();
  await clean(page, "question");
  await page.getByRole("button", { name: "Decline" }).click();
  await send("make a plan");
  await page.getByRole("button", { name: "Request changes" }).click();
  await clean(page, "plan");
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await page.getByRole("button", { name: "Decline" }).click();
  for (const t of ["hang", "next", "after"]) await send(t);
  await page.getByRole("button", { name: "Edit" }).last().click();
  await page.getByRole("textbox", { name: "Edit the waiting prompt" }).waitFor();
  await working(mock);
  await clean(page, "queue");
  await grab(page.getByRole("treeitem", { name: "docs" }));
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Conversations" }).click();
  await page.getByText("No conversation is kept here yet.").waitFor();
  await clean(page, "conversations");
});
test("axe: settings, all parts, and an approval", async (page, mock) => {
  mock.settings.texts.project = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.keyboard.press("Control+,");
  await page.getByRole("region", { name: "Settings that wait for approval" }).waitFor();
  for (const part of ["Model access", "Files and variables", "Look", "File", "History"]) {
    await page.getByRole("tab", { name: part, exact: true }).click();
    await page.locator(".dialog .skeleton").first().waitFor({ state: "detached" });
    await clean(page, part, { within: DIALOG });
  }
});
test("axe: the person's own Claude set-up, and the line that asks", { scenario: "quiet" }, async (page, mock) => {
  mock.settings.own.setup = OWN_SETUP;
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByRole("button", { name: "Show…" }).waitFor();
  await clean(page, "the line");
  await page.getByRole("button", { name: "Show…" }).click();
  await page.getByText("Never comes").click();
  await page.getByText("3 skills", { exact: true }).click();
  await clean(page, "the dialog", { within: DIALOG, looks: CONTRAST });
});
test("axe: offline", { quietErrors: true }, async (page, mock) => {
  mock.down();
  await page.getByText("Loop does not answer.").waitFor();
  await clean(page, "offline");
});
test("axe: dialogs", { scenario: "quiet" }, async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const dialogs = { palette: "Control+k", settings: "Control+,", folder: "Control+o", rename: "F2", remove: "Delete", shortcuts: "?" };
  for (const [name, keys] of Object.entries(dialogs)) {
    await grab(page.getByRole("treeitem", { name: "api-server" }));
    await page.keyboard.press(keys);
    await page.getByRole("dialog").waitFor();
    await clean(page, name, name === "palette" ? {} : { within: DIALOG });
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.getByRole("button", { name: "Gate on" }).first().click();
  await page.getByRole("dialog").waitFor();
  await clean(page, "Gate on", { within: DIALOG });
});
