// Flows of the settings: form, file, history, keys, and a project that wants more rights.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const MINE = "{\n  // mine\n  \"container_memory_mb\": 4096\n}\n";
const dialog = (page) => page.getByRole("dialog");
async function settings(page, part) {
  await page.keyboard.press("Control+,");
  await dialog(page).waitFor();
  if (part) await page.getByRole("tab", { name: part }).click();
}

test("settings form: where a value is from, change, reset, refuse", { loop: { config: MINE }, quietErrors: true }, async (page, loop) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await settings(page, "All settings");
  const row = (name) => page.getByRole("listitem").filter({ has: page.getByText(name, { exact: true }) });
  await row("container_memory_mb").getByText("global line 3").waitFor();
  await page.getByRole("searchbox").fill("container_memory");
  await until("one field is left", async () => (await page.locator(".field-row").count()) === 1);
  const box = page.getByRole("textbox", { name: "container_memory_mb" });
  await box.fill("lots");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Type a whole number.").waitFor();
  await box.fill("12");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("must be from 256 to").waitFor();
  await box.fill("1024");
  await page.getByRole("combobox", { name: "Changes go to" }).selectOption("project");
  await becomes(() => box.inputValue(), "4096", "a change that was not saved does not move to another file");
  await box.fill("1024");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await row("container_memory_mb").getByText("project line 2").waitFor();
  ok((await loop.text("project")).includes('"container_memory_mb": 1024'), "not in the project's file");
  await page.getByRole("button", { name: "Reset container_memory_mb" }).click();
  await row("container_memory_mb").getByText("global line 3").waitFor();
  await page.getByRole("searchbox").fill("");
  await becomes(() => page.getByRole("checkbox", { name: "container_image_autobuild" }).isDisabled(), true, "what is for all projects cannot be changed for one");
  await page.getByRole("combobox", { name: "Changes go to" }).selectOption("global");
  await page.getByRole("textbox", { name: "mounts" }).fill("loop-npm:~/.npm\n\n ~/.gitconfig:~/.gitconfig:ro ");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await until("the list is in the file", async () => (await loop.text("global")).includes("loop-npm"));
  const text = await loop.text("global");
  ok(text.includes("// mine"), "the comment was lost");
  equal(JSON.parse(text.replace("// mine", "")).mounts, ["loop-npm:~/.npm", "~/.gitconfig:~/.gitconfig:ro"], "list");
});

test("settings file and history: a conflict, an error, back to an earlier text", { loop: { config: MINE }, quietErrors: true }, async (page, loop) => {
  await settings(page, "File");
  const box = page.getByRole("textbox", { name: loop.files.global });
  await until("the text is there", async () => (await box.inputValue()).includes("// mine"));
  await box.fill("{\n  \"claude_model\": \"opus\"");
  await page.getByRole("button", { name: "Save file" }).click();
  await page.getByText("is not closed").waitFor();
  ok((await box.inputValue()).includes("opus"), "the text was lost");
  await box.fill("{\n  \"claude_model\": \"opus\"\n}\n");
  await page.getByRole("button", { name: "Save file" }).click();
  await until("saved", async () => (await loop.text("global")).includes("opus"));
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("as it is now").waitFor();
  await page.getByRole("button", { name: /Restore the file/ }).click();
  await becomes(() => loop.text("global"), MINE, "restored");
  await page.getByText("restored", { exact: false }).first().waitFor();
});

test("a project that wants more: shown, approved as it is, asked again after one byte", { loop: {}, quietErrors: true }, async (page, loop) => {
  const wants = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  await loop.write("project", wants);
  await page.getByRole("treeitem", { name: "docs" }).click();
  await settings(page, "All settings");
  const card = page.getByRole("region", { name: "Settings that wait for approval" });
  await card.getByText("/:/host", { exact: false }).waitFor();
  await page.getByText("it is not in force").waitFor();
  await page.keyboard.press("Enter");
  const { channels } = await loop.call("System.Snapshot");
  const approved = async () => (await loop.call("Settings.Get", channels.find((c) => c.name === "docs").channel_id)).approved;
  equal(await approved(), [], "approved by Enter");
  await loop.write("project", `${wants} `);
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.getByText("has changed since it was shown").waitFor();
  await page.keyboard.press("Escape");
  await settings(page, "All settings");
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.waitFor({ state: "detached" });
  equal(await approved(), [loop.files.project], "approved");
});

test("a project's own image: shown with all that its build gets, and approved", { loop: {} }, async (page, loop) => {
  const folder = `${dirname(loop.files.project)}/container`;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/tool`, "#!/bin/sh\necho the tool\n");
  await writeFile(`${folder}/Dockerfile`, "FROM loop-agent\nCOPY tool /usr/local/bin/tool\n");
  await page.getByRole("treeitem", { name: "docs" }).click();
  await settings(page, "All settings");
  const card = page.getByRole("region", { name: "Settings that wait for approval" });
  await card.getByRole("heading", { name: "The project brings an image of its own" }).waitFor();
  await card.getByText("echo the tool").waitFor();
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.waitFor({ state: "detached" });
  const { channels } = await loop.call("System.Snapshot");
  equal((await loop.call("Settings.Get", channels.find((c) => c.name === "docs").channel_id)).approved, [`${folder}/Dockerfile`], "approved");
});

test("a project that wants more: it asks when it is opened, and no more once it is approved", async (page, mock) => {
  mock.settings.texts.project = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByText("Runs go without mounts until you approve them as they are.").waitFor();
  await page.getByText("This project's settings are not approved.").waitFor();
  await page.getByRole("button", { name: "Look at them" }).click();
  await page.getByRole("button", { name: "Approve this text" }).click();
  await page.getByRole("region", { name: "Settings that wait for approval" }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByText("This project's settings are not approved.").waitFor({ state: "detached" });
});

test("a project that wants more: a folder that is opened asks at once, and nothing is approved by itself", async (page, mock) => {
  mock.settings.texts.project = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  await page.keyboard.press("Control+o");
  await page.getByRole("dialog", { name: "Open a project folder" }).waitFor();
  await page.getByRole("textbox", { name: "Path" }).fill("/home/ana/src/fresh");
  await page.getByRole("button", { name: "Open this folder" }).click();
  const open = page.getByRole("dialog", { name: /^Settings of/ });
  await open.getByRole("region", { name: "Settings that wait for approval" }).waitFor();
  await until("the dialog has the keyboard", () => page.evaluate(() => document.querySelector("[role=dialog]")?.contains(document.activeElement)));
  await page.keyboard.press("Escape");
  await open.waitFor({ state: "detached" });
  await until("the prompt has it back", () => page.evaluate(() => document.activeElement?.matches("[data-prompt]")));
  await page.getByText("This project's settings are not approved.").waitFor();
  equal(mock.log.filter((c) => c.name === "Settings.Approve").length, 0);
});

const KEY = "{\n  \"anthropic_api_key\": \"sk-ant-api03-secret\"\n}\n";
test("keys: where they are kept, moved and removed", { loop: { config: KEY } }, async (page, loop) => {
  await settings(page);
  await page.getByText("in config.json").waitFor();
  await page.getByRole("button", { name: "Move out of config.json" }).click();
  await page.getByText("in an encrypted file of Loop's folder").waitFor();
  ok(!(await loop.text("global")).includes("sk-ant"), "the key is still in config.json");
  await page.getByRole("button", { name: "Remove the API key" }).click();
  await until("removed", async () => (await loop.call("System.Credentials")).every((k) => !k.set));
});
