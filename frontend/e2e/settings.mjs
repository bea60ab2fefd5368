// Settings: the form, the file, history, keys, and a project that wants more.
import { becomes, equal, ok, test, until } from "./harness.mjs";

const dialog = (page) => page.getByRole("dialog");
async function settings(page, part) {
  await page.keyboard.press("Control+,");
  await dialog(page).waitFor();
  if (part) await page.getByRole("tab", { name: part }).click();
}
const calls = (mock, name) => mock.log.filter((c) => c.name === name);

test("settings form: where a value is from, change, reset, refuse", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await settings(page, "All settings");
  const row = (name) => page.getByRole("listitem").filter({ has: page.getByText(name, { exact: true }) });
  await row("container_memory_mb").getByText("global line 3").waitFor();
  await page.getByRole("searchbox").fill("memory");
  await until("one field is left", async () => (await page.locator(".field-row").count()) === 1);
  const box = page.getByRole("textbox", { name: "container_memory_mb" });
  await box.fill("lots");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Type a whole number.").waitFor();
  await box.fill("12");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("must be at least 256").waitFor();
  await box.fill("1024");
  await page.getByRole("combobox", { name: "Changes go to" }).selectOption("project");
  await becomes(() => box.inputValue(), "4096", "a change that was not saved does not move to another file");
  await box.fill("1024");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("it is not in force").waitFor();
  equal(calls(mock, "Settings.Set").at(-1).args.slice(0, 4), ["project", mock.channel("docs & <b>notes</b>").channel_id, "container_memory_mb", 1024], "call");
  await page.getByRole("button", { name: "Reset container_memory_mb" }).click();
  await page.getByText("it is not in force").waitFor({ state: "detached" });
  await page.getByRole("searchbox").fill("");
  await becomes(() => page.getByRole("checkbox", { name: "container_image_autobuild" }).isDisabled(), true, "what is for all projects cannot be changed for one");
  await page.getByRole("combobox", { name: "Changes go to" }).selectOption("global");
  await page.getByRole("textbox", { name: "mounts" }).fill("loop-npm:~/.npm\n\n ~/.gitconfig:~/.gitconfig:ro ");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await until("the list was sent", () => calls(mock, "Settings.Set").some((c) => c.args[2] === "mounts"));
  equal(calls(mock, "Settings.Set").at(-1).args[3], ["loop-npm:~/.npm", "~/.gitconfig:~/.gitconfig:ro"], "list");
});

test("settings file and history: a conflict, an error, back to an earlier text", { quietErrors: true }, async (page, mock) => {
  await settings(page, "File");
  const box = page.getByRole("textbox", { name: "/home/ana/.loop/config.json" });
  await until("the text is there", async () => (await box.inputValue()).includes("// mine"));
  await box.fill("{\n  \"claude_model\": \"opus\"");
  await page.getByRole("button", { name: "Save file" }).click();
  await page.getByText("a bracket is not closed").waitFor();
  ok((await box.inputValue()).includes("opus"), "the text was lost");
  await box.fill("{\n  \"claude_model\": \"opus\"\n}\n");
  await page.getByRole("button", { name: "Save file" }).click();
  await until("saved", () => mock.settings.texts.global.includes("opus"));
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("as it is now").waitFor();
  await page.getByRole("button", { name: /Restore the file/ }).click();
  await until("restored", () => mock.settings.texts.global.includes("4096"));
  await page.getByText("restored", { exact: false }).first().waitFor();
});

test("a project that wants more: shown, approved as it is, asked again after one byte", { quietErrors: true }, async (page, mock) => {
  const id = mock.channel("docs & <b>notes</b>").channel_id;
  mock.settings.texts.project = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  await page.getByRole("treeitem", { name: "docs" }).click();
  mock.world.emit("trust.requested", id, "", { channel_id: id, path: "/home/ana/src/docs notes/.loop/config.json", sha256: "x", fields: ["mounts"] });
  await page.getByText("This project's settings are not approved.").waitFor();
  await page.getByRole("button", { name: "Look at them" }).click();
  const card = page.getByRole("region", { name: "Settings that wait for approval" });
  await card.getByText("/:/host", { exact: false }).waitFor();
  await page.keyboard.press("Enter");
  equal(calls(mock, "Settings.Approve").length, 0, "approved by Enter");
  mock.settings.texts.project += " ";
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.getByText("The file has changed since it was shown.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Look at them" }).click();
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByText("This project's settings are not approved.").waitFor({ state: "detached" });
});

test("keys: where they are kept, moved and removed", async (page, mock) => {
  await settings(page);
  await page.getByText("in config.json").waitFor();
  await page.getByRole("button", { name: "Move out of config.json" }).click();
  await page.getByText("in the system's keyring").waitFor();
  await page.getByRole("button", { name: "Remove the API key" }).click();
  await until("removed", () => !mock.world.config.has_credentials);
});
