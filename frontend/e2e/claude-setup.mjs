// The person's own Claude set-up: asked about once, shown, allowed and declined.
import { becomes, equal, test, until } from "./harness.mjs";
import { OWN_SETUP } from "./mock/settings.mjs";

const LINE = "Your CLAUDE.md, 3 skills, 2 agents and more are not used here.";
const dialog = (page) => page.getByRole("dialog", { name: "Your Claude set-up" });
const focused = (page, selector) => until(`${selector} has the keyboard`, () => page.evaluate((s) => document.activeElement.matches(s), selector));
async function byPalette(page) {
  await page.keyboard.press("Control+k");
  await page.keyboard.insertText("your claude set-up");
  await page.keyboard.press("Enter");
  await dialog(page).waitFor();
  await focused(page, ".dialog-body");
}
const line = (page) => page.getByText(LINE);
const asked = (mock) => mock.log.filter((c) => c.name === "Settings.ClaudeSetup").length;

test("claude set-up: by the palette, allowed with what was ticked, then declined", { scenario: "quiet" }, async (page, mock) => {
  mock.settings.own.setup = OWN_SETUP;
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await line(page).waitFor();
  await page.keyboard.press("Control+l");
  await byPalette(page);
  await dialog(page).getByText("3 skills").click();
  await dialog(page).getByText("skills/deploy/rollout.sh").waitFor();
  await dialog(page).getByText("--team api").waitFor();
  await page.getByText("Never comes (3)").focus();
  await page.keyboard.press("Enter");
  await dialog(page).getByText("Loop gives agents their key.").waitFor();
  const tick = page.getByRole("checkbox", { name: "The MCP server tickets" });
  await tick.focus();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Let agents have copies" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Agents get copies from their next run on.").waitFor();
  const { grant, allow } = mock.settings.own;
  equal([grant, allow], ["read", ["mcp:tickets"]], "stored");
  equal(mock.log.filter((c) => c.name === "Settings.Set").map((c) => c.args[2]), ["claude_setup_allow", "claude_setup"], "the grant is last");
  await focused(page, "[data-prompt]");
  await line(page).waitFor({ state: "detached" });
  await byPalette(page);
  await dialog(page).getByText("Agents have copies now.").waitFor();
  equal(await tick.isChecked(), true, "what was allowed is ticked");
  await page.getByRole("button", { name: "Use nothing of it" }).click();
  await page.getByText("Agents have nothing of it from their next run on.").waitFor();
  equal([mock.settings.own.grant, mock.settings.own.allow], ["none", ["mcp:tickets"]], "declined");
});

test("claude set-up: the line asks once, leaves the keyboard alone, and stays away", { scenario: "quiet" }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await until("asked", () => asked(mock) === 1);
  await page.keyboard.press("Control+l");
  await page.keyboard.type("half a ");
  mock.settings.own.setup = OWN_SETUP;
  mock.world.emit("config.changed", "", "", { ...mock.world.config });
  await line(page).waitFor();
  await page.keyboard.type("thought");
  equal(await page.locator("[data-prompt]").inputValue(), "half a thought", "typed");
  await page.getByRole("treeitem", { name: "infra" }).click();
  await line(page).waitFor();
  equal(asked(mock), 2, "read once for each change of the settings");
  await page.getByRole("button", { name: "Show…" }).click();
  await dialog(page).getByText("Needs a yes each").waitFor();
  await page.keyboard.press("Escape");
  await focused(page, "[data-prompt]");
  await page.getByRole("button", { name: "Not now" }).click();
  await focused(page, "[data-prompt]");
  await line(page).waitFor({ state: "detached" });
  await becomes(() => mock.world.memory["setup.later"], "yes", "Loop keeps it");
  await page.reload();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  equal([await line(page).count(), mock.settings.own.grant], [0, ""], "after a reload");
});

test("claude set-up: not in the demo, nor where the channel has its own choice", { scenario: "quiet" }, async (page, mock) => {
  mock.settings.own.setup = OWN_SETUP;
  mock.world.emit("config.changed", "", "", { ...mock.world.config });
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await line(page).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.insertText("model, agent");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Your Claude set-up" }).selectOption("nothing");
  await page.getByRole("button", { name: "Save" }).click();
  await line(page).waitFor({ state: "detached" });
  equal(mock.channel("api-server").choices.claude_setup, "none", "chosen");
  await page.getByRole("treeitem", { name: "infra" }).click();
  await line(page).waitFor();
  await page.getByRole("button", { name: "Demo channel" }).click();
  await line(page).waitFor({ state: "detached" });
});

test("claude set-up: nothing there, and one that cannot be read", { scenario: "quiet", quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await byPalette(page);
  await dialog(page).getByText("There is nothing that agents could use").waitFor();
  equal(await dialog(page).getByRole("button", { name: "Let agents have copies" }).count(), 0, "nothing to allow");
  await page.keyboard.press("Escape");
  mock.world.failNext.set("Settings.ClaudeSetup", { code: "directory", cause: "Your own Claude set-up could not be read.", remedy: "Check who may read /home/ana/.claude." });
  await byPalette(page);
  await dialog(page).getByText("Check who may read").waitFor();
  mock.settings.own.setup = OWN_SETUP;
  await page.getByRole("button", { name: "Load again" }).click();
  await dialog(page).getByText("3 skills").waitFor();
  mock.world.failNext.set("Settings.Set", { code: "config", cause: "The settings file cannot be written.", remedy: "Check that the disk is not full." });
  await page.getByRole("button", { name: "Let agents have copies" }).click();
  await dialog(page).getByText("The settings file cannot be written.").waitFor();
  equal(mock.settings.own.grant, "", "nothing was stored");
});

test("claude set-up: on a real Loop, from the settings", { loop: {} }, async (page, loop) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "Agents" }).click();
  await page.getByRole("button", { name: "Show what there is…" }).click();
  await dialog(page).getByText("There is nothing that agents could use").waitFor();
  equal((await loop.call("Settings.ClaudeSetup")).grant, "", "grant");
});
