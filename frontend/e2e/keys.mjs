// Flows of the person's own keys, by keyboard alone, on a real Loop where they are stored.
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
const row = (page, does) => page.locator("[data-key-row]").filter({ hasText: does });
const chosen = async (loop) => JSON.parse(await loop.text("global")).keys ?? {};

/** Opens the keys by the list of shortcuts, and goes to the row of an action. */
async function keysOf(page, does) {
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.getByRole("button", { name: "Change keys…" }).press("Enter");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await becomes(() => focused(page), "Find an action", "where the dialog begins");
  await find(page, does);
}

async function find(page, does) {
  await page.getByRole("searchbox", { name: "Find an action" }).fill(does);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  while (!(await page.evaluate(() => document.activeElement?.hasAttribute("data-key-row")))) await page.keyboard.press("Tab");
}

test("keys: rebound, shown, in a second window, and reset, by keyboard alone", { loop: {} }, async (page, loop, context) => {
  await page.getByRole("treeitem", { name: "docs" }).press("Enter");
  await page.getByRole("treeitem", { name: "docs" }).focus();
  await keysOf(page, "Show or hide the sidebar");
  await page.keyboard.press("Enter");
  await page.getByText("Press the new key").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Press the new key").waitFor({ state: "detached" });
  ok(await page.getByRole("dialog", { name: "Keys" }).isVisible(), "Esc closed the dialog");
  await until("the row has the keyboard again", async () => (await focused(page)).startsWith("Show or hide the sidebar"));
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Enter");
  await page.getByText("It gives answers").waitFor();
  await page.keyboard.press("Control+t");
  await page.getByText("The browser keeps it: it opens a tab.").waitFor();
  await page.keyboard.press("Control+j");
  await row(page, "sidebar").getByText("Ctrl J").waitFor();
  await becomes(() => chosen(loop), { "page.sidebar": ["Mod+J"] }, "stored");
  await until("the row has the keyboard", async () => (await focused(page)).startsWith("Show or hide the sidebar: Ctrl J, changed"));
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Hide the sidebar" }).and(page.locator("[title='Hide the sidebar (Ctrl J)']")).waitFor();
  await page.keyboard.press("Control+b");
  await page.keyboard.press("Control+j");
  await page.getByRole("button", { name: "Show the sidebar" }).waitFor();
  await page.keyboard.press("Control+j");
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("option", { name: /Show or hide the sidebar/ }).getByText("Ctrl J").waitFor();
  await page.keyboard.press("Escape");

  const second = await context.newPage();
  await second.goto(loop.url);
  await second.getByText("today $").waitFor();
  await second.locator("[title='Hide the sidebar (Ctrl J)']").waitFor();
  await second.keyboard.press("?");
  await second.getByRole("dialog").getByText("Ctrl J").waitFor();
  await second.getByRole("button", { name: "Change keys…" }).press("Enter");
  await find(second, "Show or hide the sidebar");
  await second.getByRole("button", { name: "Reset: Show or hide the sidebar" }).press("Enter");
  await row(second, "sidebar").getByText("Ctrl B").waitFor();
  await page.locator("[title='Hide the sidebar (Ctrl B)']").waitFor(); // the first window, by the event
  await becomes(() => chosen(loop), {}, "reset");
});

test("keys: a conflict names the other action, and the key is taken from it or left", { loop: {} }, async (page, loop) => {
  await page.getByRole("treeitem", { name: "docs" }).press("Enter");
  await page.getByRole("treeitem", { name: "docs" }).focus();
  await keysOf(page, "Go to the prompt box");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+b");
  await page.getByRole("alert").getByText("“Show or hide the sidebar” has this key already.").waitFor();
  await clean(page, "conflict", { within: DIALOG, looks: CONTRAST });
  await becomes(() => focused(page), "Leave it there", "what gets the focus");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor({ state: "detached" });
  equal(await chosen(loop), {}, "left");
  await until("the row has the keyboard", async () => (await focused(page)).startsWith("Go to the prompt box"));
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+b");
  await page.getByRole("button", { name: "Take the key from it" }).press("Enter");
  await becomes(() => chosen(loop), { "page.prompt": ["Mod+B"] }, "taken");
  await page.getByRole("searchbox", { name: "Find an action" }).fill("sidebar");
  await row(page, "Show or hide the sidebar").getByText("Its key went to “Go to the prompt box”").waitFor();
  await page.getByRole("searchbox", { name: "Find an action" }).fill("");
  await page.getByRole("button", { name: "Find by a key" }).click();
  await page.getByRole("button", { name: "Press the key…" }).click(); // and no key after all
  await page.getByRole("button", { name: "Find by a key" }).press("Enter");
  await page.keyboard.press("Control+b");
  await becomes(() => page.locator("[data-key-row]").count(), 1, "found by its key");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+b");
  await until("the prompt box has the keyboard", async () => (await focused(page)) === "Prompt");
  await page.keyboard.type("b");
  equal(await page.getByRole("textbox", { name: "Prompt" }).inputValue(), "b", "a letter is written");
});

test("keys: no key, one of the prompt box, all reset, and a file that a person edits", { loop: {}, quietErrors: true }, async (page, loop) => {
  await page.getByRole("treeitem", { name: "docs" }).press("Enter");
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "Keys" }).click();
  await find(page, "Plan first");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Alt+q");
  await becomes(() => chosen(loop), { "prompt.plan": ["Alt+Q"] }, "stored");
  await find(page, "Attach files");
  await page.keyboard.press("Backspace");
  await becomes(async () => (await chosen(loop))["prompt.attach"], [], "no key");
  await find(page, "Next region");
  await page.keyboard.press("Backspace");
  await page.getByText("This action keeps a key").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+l");
  await page.keyboard.press("Alt+m");
  ok(!(await page.getByText("Plan first, read-only").isVisible()), "the earlier key still counts");
  await page.keyboard.press("Alt+q");
  await page.getByText("Plan first, read-only").waitFor();
  await page.getByRole("button", { name: "Attach files" }).and(page.locator("[title='Attach files']")).waitFor();

  await loop.write("global", "{\n  \"keys\": {\n    \"page.sidebar\": [\"Mod+J\"],\n    \"page.sidbar\": [\"Mod+U\"]\n  }\n}\n");
  await page.locator("[title='Hide the sidebar (Ctrl J)']").waitFor();
  await loop.write("global", "{\n  \"keys\": {\n    \"page.sidebar\": [\"Ctrl+Enter\"]\n  }\n}\n");
  await until("the problem is told", async () => (await loop.call("System.Snapshot")).config.problems.some((p) => p.line === 3 && p.col === 22 && p.message.includes("answers in cards")));
  ok(await page.locator("[title='Hide the sidebar (Ctrl J)']").isVisible(), "the last good keys were lost");
  await loop.write("global", "{\n  \"keys\": {\n    \"page.sidebar\": [\"Mod+J\"]\n  }\n}\n");
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "Keys" }).click();
  await page.getByRole("button", { name: "Reset all…" }).press("Enter");
  await page.getByRole("button", { name: "Reset all", exact: true }).press("Enter");
  await becomes(() => chosen(loop), {}, "all reset");
});

test("keys: read by axe, and of 320 pixels", { size: [320, 640] }, async (page) => {
  await page.keyboard.press("?");
  await page.getByRole("button", { name: "Change keys…" }).press("Enter");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await clean(page, "keys", { within: DIALOG, looks: CONTRAST });
  equal(await page.evaluate(() => [...document.querySelectorAll("[role=dialog] *")].filter((el) => el.getBoundingClientRect().right > innerWidth + 1).length), 0, "wider than the page");
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/keys-320.png` });
  await page.setViewportSize({ width: 1280, height: 800 });
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/keys.png` });
  await find(page, "Find in the timeline");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Enter");
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/keys-refused.png` });
  await clean(page, "a refused key", { within: DIALOG, looks: CONTRAST });
  await page.keyboard.press("Control+b");
  await page.getByRole("alert").waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/keys-clash.png` });
});

test("keys: those of the tree are the person's as well", { loop: {} }, async (page, loop) => {
  await page.getByRole("treeitem", { name: "docs" }).press("Enter");
  await page.getByRole("treeitem", { name: "docs" }).focus();
  await keysOf(page, "Rename the channel");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Delete");
  await page.getByText("Lists, buttons and text boxes need it").waitFor();
  await page.keyboard.press("F4");
  await becomes(() => chosen(loop), { "tree.rename": ["F4"] }, "stored");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("treeitem", { name: "docs" }).focus();
  await page.keyboard.press("F2");
  equal(await page.getByRole("dialog").count(), 0, "the earlier key still counts");
  await page.keyboard.press("F4");
  await page.getByRole("textbox", { name: "Name" }).waitFor();
});
