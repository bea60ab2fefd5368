// Flows of the settings: parts, search, drafts, and a project that wants more rights.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { awake, becomes, clickAt, equal, ok, test, until } from "./harness.mjs";
import { dialog, field, focused, MINE, row, settings, titles } from "./settings-steps.mjs";

test("settings form: where a value is from, change, reset, refuse", { loop: { config: MINE }, quietErrors: true }, async (page, loop) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await settings(page, "Containers");
  const memory = row(page, "container_memory_mb");
  await memory.getByText("global line 3").waitFor();
  const box = page.getByRole("textbox", { name: "Memory limit" });
  await box.fill("lots");
  await page.keyboard.press("Enter");
  await memory.getByText("Type a whole number.").waitFor();
  await box.fill("12");
  await page.keyboard.press("Enter");
  await memory.getByText("must be from 256 to").waitFor();
  equal(await box.inputValue(), "12", "the text that was refused");
  await page.keyboard.press("Escape");
  await becomes(() => box.inputValue(), "4096", "Escape restores");
  ok(await dialog(page).isVisible(), "Escape closed the dialog");
  await page.getByRole("combobox", { name: "Save to" }).selectOption("project");
  await box.fill("1024");
  await memory.getByRole("button", { name: "Save Memory limit" }).click();
  await memory.getByText("project line 2").waitFor();
  ok((await loop.text("project")).includes('"container_memory_mb": 1024'), "not in the project's file");
  await memory.getByRole("button", { name: "Reset Memory limit" }).click();
  await memory.getByText("global line 3").waitFor();
  await page.getByRole("tab", { name: "Image", exact: true }).click();
  await becomes(() => field(page, "container_image_autobuild").isDisabled(), true, "what is for all projects cannot be changed for one");
  await page.getByRole("combobox", { name: "Save to" }).selectOption("global");
  await page.getByRole("tab", { name: "Files and variables" }).click();
  await page.getByRole("textbox", { name: "Mounts", exact: true }).fill("loop-npm:~/.npm\n\n ~/.gitconfig:~/.gitconfig:ro ");
  await page.keyboard.press("Control+Enter");
  await until("the list is in the file", async () => (await loop.text("global")).includes("loop-npm"));
  const text = await loop.text("global");
  ok(text.includes("// mine"), "the comment was lost");
  equal(JSON.parse(text.replace("// mine", "")).mounts, ["loop-npm:~/.npm", "~/.gitconfig:~/.gitconfig:ro"], "list");
});

test("settings search: by meaning, best first, and what is changed", { loop: { config: MINE } }, async (page) => {
  await settings(page);
  await focused(page, "#credential");
  await page.getByRole("tab", { name: "Model access" }).focus();
  await page.keyboard.press("/");
  await focused(page, "[type=search]");
  const first = async (words, title) => {
    await page.getByRole("searchbox").fill(words);
    await becomes(async () => (await titles(page))[0], title, words);
  };
  await first("ram", "Memory limit");
  await first("sound", "Sound");
  await first("corporate proxy", "Proxy for http");
  await first("egress", "Network of containers");
  await first("font_sizes.chat", "Text size of the timeline");
  await first("memroy limit", "Memory limit");
  for (const [words, name] of [["price", "container_timeout_sec"], ["cost", "claude_retry.max_attempts"], ["how do I mute the bell", "terminal.bell"]]) {
    await page.getByRole("searchbox").fill(words);
    await row(page, name).waitFor();
  }
  await page.getByRole("searchbox").fill("dark");
  await page.getByRole("radiogroup", { name: "Theme" }).waitFor();
  await page.getByRole("searchbox").fill("api key");
  await page.locator("#credential").waitFor();
  await page.getByRole("searchbox").fill("xylophone");
  await page.getByText("No setting fits “xylophone”.").waitFor();
  await page.getByRole("button", { name: "Show all settings" }).click();
  await page.getByRole("button", { name: "Changed 1" }).click();
  await becomes(() => titles(page), ["Memory limit"], "what is changed");
  await page.getByRole("tab", { name: "Network" }).click();
  await page.getByText("Proxy for http", { exact: true }).waitFor();
});

test("settings by keyboard: parts, a model from the list, one that is typed", { loop: {} }, async (page, loop) => {
  await settings(page);
  await focused(page, "#credential");
  await page.getByRole("tab", { name: "Model access" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("tab", { name: "Agents", exact: true, selected: true }).waitFor();
  const box = page.getByRole("combobox", { name: "Model", exact: true });
  await until("Tab goes on to the model", async () => {
    await page.keyboard.press("Tab");
    return box.evaluate((el) => el === document.activeElement);
  });
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: "opus for hard work" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".optionlist-row").first().waitFor({ state: "detached" });
  ok(await dialog(page).isVisible(), "Escape of the list closed the dialog");
  await page.keyboard.type("son");
  await becomes(() => page.locator(".optionlist-row").first().textContent(), "sonnetfor most work", "filtered");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until("saved", async () => (await loop.text("global")).includes('"claude_model": "sonnet"'));
  await box.fill("claude-own-model");
  await page.keyboard.press("Enter");
  await until("saved", async () => (await loop.text("global")).includes('"claude_model": "claude-own-model"'));
  await box.fill("own");
  await page.getByRole("option", { name: "claude-own-model typed before" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape"); // the text goes back
  await becomes(() => box.inputValue(), "claude-own-model", "restored");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
});

test("settings drafts: what fails stays, also when the dialog closes", { loop: { config: MINE }, quietErrors: true }, async (page, loop) => {
  await settings(page, "Containers");
  const box = page.getByRole("textbox", { name: "Memory limit" });
  await box.fill("1");
  await page.keyboard.press("Enter");
  await page.getByText("must be from 256 to").waitFor();
  await page.getByRole("textbox", { name: "Limit on processes", exact: true }).fill("99");
  await page.getByRole("button", { name: "Close" }).click();
  await dialog(page).waitFor({ state: "detached" });
  await settings(page, "Containers");
  equal(await box.inputValue(), "1", "the draft");
  await page.getByText("must be from 256 to").waitFor();
  await page.getByRole("button", { name: "Not saved 2" }).click();
  await becomes(() => titles(page), ["Memory limit", "Limit on processes"], "what is not saved");
  await loop.write("global", MINE.replace("4096", "3000"));
  await page.getByText("Meanwhile all projects got 3000.").waitFor();
  equal(await box.inputValue(), "1", "what was typed");
  await box.fill("2000");
  await row(page, "container_memory_mb").getByRole("button", { name: "Save mine" }).click();
  await until("saved", async () => (await loop.text("global")).includes("2000"));
  await page.getByRole("button", { name: "Not saved 1" }).waitFor();
  await page.getByRole("button", { name: "Discard what was typed for Limit on processes" }).click();
  await page.getByRole("button", { name: /^Not saved/ }).waitFor({ state: "detached" });
});

test("settings drafts: a file that changes between the look and the save", { loop: { config: MINE }, quietErrors: true }, async (page, loop) => {
  await settings(page, "Containers");
  const box = page.getByRole("textbox", { name: "Memory limit" });
  await box.fill("2000");
  // The page does not hear of it, as in the second before Loop looks at its files again.
  await page.route("**/Settings.Get", (r) => r.abort());
  await loop.write("global", MINE.replace("4096", "3000"));
  await page.keyboard.press("Enter");
  await row(page, "container_memory_mb").getByText("has another value by now").waitFor();
  ok((await loop.text("global")).includes("3000"), "overwritten");
  equal(await box.inputValue(), "2000", "what was typed");
  await page.unroute("**/Settings.Get");
});

test("a project that wants more: shown, approved as it is, asked again after one byte", { loop: {}, quietErrors: true }, async (page, loop) => {
  const wants = "{\n  \"mounts\": [\"/:/host\"]\n}\n";
  await loop.write("project", wants);
  await page.getByRole("treeitem", { name: "docs" }).click();
  await settings(page, "Files and variables");
  const card = page.getByRole("region", { name: "Settings that wait for approval" });
  await card.getByText("/:/host", { exact: false }).waitFor();
  await page.getByText("it is not in force").waitFor();
  await page.keyboard.press("Enter");
  const { channels } = await loop.call("System.Snapshot");
  const approved = async () => (await loop.call("Settings.Get", channels.find((c) => c.name === "docs").channel_id)).approved;
  equal(await approved(), [], "approved by Enter");
  await loop.write("project", `${wants} `);
  await awake(card);
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.getByText("has changed since it was shown").waitFor();
  await page.keyboard.press("Escape");
  await settings(page, "Files and variables");
  await awake(card);
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
  await settings(page, "Files and variables");
  const card = page.getByRole("region", { name: "Settings that wait for approval" });
  await card.getByRole("heading", { name: "The project brings an image of its own" }).waitFor();
  await card.getByText("echo the tool").waitFor();
  await awake(card);
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
  const card = page.getByRole("region", { name: "Settings that wait for approval" });
  await awake(card);
  await clickAt(page, "/:/another", "Approve this text");
  mock.settings.texts.project = "{\n  \"mounts\": [\"/:/another\"]\n}\n";
  mock.world.emit("config.changed", "", "", { ...mock.world.config });
  await card.getByText("The text has changed since you opened this.").waitFor();
  await card.getByText("/:/another", { exact: false }).waitFor();
  equal(mock.log.filter((c) => c.name === "Settings.Approve").length, 0, "approved unseen");
  await awake(card);
  await card.getByRole("button", { name: "Approve this text" }).click();
  await card.waitFor({ state: "detached" });
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

test("settings at 320 pixels, and no part that axe dislikes", { loop: { config: MINE } }, async (page) => {
  await page.setViewportSize({ width: 320, height: 700 });
  await settings(page);
  const pick = page.getByRole("combobox", { name: "Part of the settings" });
  for (const part of await pick.locator("option").allTextContents()) {
    await pick.selectOption({ label: part });
    await page.getByRole("heading", { name: part, exact: true }).last().waitFor();
    await until(`${part} fits`, () => page.evaluate(() => [document.documentElement, document.querySelector(".settings-body")].every((el) => el.scrollWidth <= el.clientWidth)));
  }
  await page.setViewportSize({ width: 1200, height: 800 });
  for (const part of ["Model access", "Agents", "Containers", "Gate", "Terminals", "Look", "Loop itself", "File", "History"]) {
    await page.getByRole("tab", { name: part, exact: true }).click();
    await page.locator(".dialog .skeleton").first().waitFor({ state: "detached" });
    await clean(page, part, { within: DIALOG, looks: CONTRAST });
  }
});
