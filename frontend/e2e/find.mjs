// Finding in the timeline, and in all that was said and done.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const bar = (page) => page.getByRole("search", { name: "Find in the timeline" });
const count = (page) => bar(page).getByRole("status");
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? "");

test("find: in a timeline by the keyboard, from the newest hit back, with its words marked", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+f");
  const field = bar(page).getByRole("textbox");
  await until("the field has the keyboard", () => field.evaluate((el) => el === document.activeElement));
  await page.keyboard.type("session");
  await becomes(() => count(page).innerText().then((t) => /^\? of \d+$/.test(t)), true, "a count");
  await page.keyboard.press("Enter");
  await becomes(() => count(page).innerText().then((t) => t.startsWith("1 of ")), true, "the newest");
  ok(await field.evaluate((el) => el === document.activeElement), "the field keeps the keyboard");
  await until("words are marked", () => page.evaluate(() => (CSS.highlights.get("loop-found")?.size ?? 0) > 0));
  await clean(page, "the field to find", { looks: CONTRAST });
  await page.keyboard.press("Shift+Enter");
  await becomes(() => count(page).innerText().then((t) => { const [, at, of] = /^(\d+) of (\d+)/.exec(t) ?? []; return at === of; }), true, "around to the oldest");
  await page.keyboard.press("Escape");
  await becomes(() => bar(page).count(), 0, "fields");
  await becomes(() => page.evaluate(() => document.activeElement?.tagName), "ARTICLE", "the row of the hit has the keyboard");
  await becomes(() => page.evaluate(() => CSS.highlights.has("loop-found")), false, "marks are gone");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("no such words");
  await becomes(() => count(page).innerText(), "Nothing found");
  mock.world.findFails = true;
  await page.keyboard.type("!");
  await becomes(() => count(page).innerText(), "The database could not be read.");
});

test("find: Enter right behind the last letter acts on these words", async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("session");
  await becomes(() => count(page).innerText().then((t) => /^\? of \d+$/.test(t)), true, "a count");
  const release = mock.world.hold("Channels.Find");
  await bar(page).getByRole("textbox").fill("39.812s");
  await page.keyboard.press("Enter");
  equal((await count(page).innerText()).slice(0, 2), "? ", "no hit of before");
  release();
  await page.getByRole("figure", { name: "Output" }).getByText("39.812s").waitFor();
});

test("find: a hit in what a row hides opens it", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("39.812s");
  await becomes(() => count(page).innerText(), "? of 1");
  await page.keyboard.press("Enter");
  await page.getByRole("figure", { name: "Output" }).getByText("39.812s").waitFor();
});

test("find: all that hides a hit opens, and its own row is gone to", async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const { channel_id: id, dir } = mock.channel("docs & <b>notes</b>");
  const emitter = (run) => (type, data) => mock.world.emit(type, id, run, data);
  const emit = emitter("f".repeat(32));
  emit("message.created", { msg_id: "f".repeat(32), content: "Look around.", is_bot: false });
  emit("agent.status", { status: "running", state: "running", step: "agent" });
  emit("tool.use", { tool_use_id: "a", parent_tool_use_id: "", tool_name: "Agent", input: { description: "Read all", prompt: "Read.", subagent_type: "Explore" } });
  emit("agent.activity", { activity: "task_started", parent_tool_use_id: "a", agent: { kind: "Explore", state: "running" } });
  for (const f of ["a.go", "b.go", "c.go"]) {
    emit("tool.use", { tool_use_id: f, parent_tool_use_id: "a", tool_name: "Read", input: { file_path: `${dir}/${f}` } });
    emit("tool.result", { tool_use_id: f, parent_tool_use_id: "a", output: `1→package needle${f[0]}\n`, is_error: false });
  }
  const talk = emitter("talk-find");
  const began = mock.world.now() - 60_000;
  talk("terminal.talk", { talk_id: "talk-find", channel_id: id, session_id: "s", terminal_id: "gone", title: "A talk", prompts: 1, began_ms: began, last_ms: began });
  talk("message.created", { msg_id: "m-talk", content: "In the haystack.", is_bot: true, is_processed: true });
  await page.getByRole("article", { name: /^Agent Read all/ }).waitFor();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("needleb");
  await becomes(() => count(page).innerText(), "? of 1");
  await page.keyboard.press("Enter");
  await page.getByText("package needleb").waitFor();
  await bar(page).getByRole("textbox").fill("haystack");
  await page.keyboard.press("Enter");
  await page.getByRole("article").getByText("In the haystack.").waitFor();
  await page.keyboard.press("Escape");
  await becomes(() => focused(page).then((t) => t.includes("In the haystack.")), true, "its own row has the keyboard");
});

test("find: a hit in what left by a rewind is shown there", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.locator("article.prompt").first().focus();
  await page.keyboard.press("b");
  await page.getByRole("region", { name: "Back to here" }).getByText("4 change back").waitFor();
  await page.keyboard.press("Control+Enter");
  await until("what left is folded", async () => (await page.locator("article.tool").count()) === 0);
  await until("the box has the keyboard", () => page.evaluate(() => document.activeElement?.matches("[data-prompt]")));
  await page.keyboard.press("Control+f");
  await page.keyboard.type("39.812s");
  await becomes(() => count(page).innerText(), "? of 1");
  await page.keyboard.press("Enter");
  await page.getByRole("figure", { name: "Output" }).getByText("39.812s").waitFor();
});

test("find: a hit that the filter hides takes the filter away", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.getByRole("button", { name: "Show: Whole run" }).click();
  await page.getByRole("menuitemradio", { name: "Messages" }).click();
  await page.getByRole("button", { name: "Show: Messages" }).waitFor();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("39.812s");
  await becomes(() => count(page).innerText(), "? of 1");
  await page.keyboard.press("Enter");
  await page.getByRole("figure", { name: "Output" }).getByText("39.812s").waitFor();
  await page.getByRole("button", { name: "Show: Whole run" }).waitFor();
});

test("find: everywhere, to a row that is on no loaded page", { scenario: "long" }, async (page) => {
  await page.keyboard.press("Control+Shift+f");
  const dialog = page.getByRole("dialog", { name: "Find in all that was said and done" });
  const field = dialog.getByRole("combobox");
  await until("the field has the keyboard", () => field.evaluate((el) => el === document.activeElement));
  await clean(page, "nothing sought yet", { looks: CONTRAST });
  await page.keyboard.type("Task 3: look");
  await dialog.getByText("1, newest first").waitFor();
  equal(await dialog.getByRole("option").count(), 1);
  await clean(page, "hits", { looks: CONTRAST });
  await page.keyboard.press("Enter");
  await becomes(() => dialog.count(), 0, "dialogs");
  await becomes(() => focused(page).then((t) => t.includes("Task 3: look at module 2")), true, "the row has the keyboard");
  await page.keyboard.press("Control+Shift+f");
  await field.fill("Task 699 zebra");
  await dialog.getByText("Nothing was said or done with these words").waitFor();
  await field.fill("tidy");
  await dialog.getByText("100 and more").waitFor();
  for (let i = 0; i < 14; i++) await page.keyboard.press("PageDown");
  await dialog.getByText("200 and more").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await clean(page, "hits where it is narrow");
  await page.keyboard.press("Escape");
  await becomes(() => dialog.count(), 0, "dialogs");
});

const files = (page) => page.getByRole("region", { name: "Files of the container" });

test("links: a place that an item names is shown in the panel of files, and asked about", { size: [1500, 900], quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  const id = [...mock.world.channels.values()].find((c) => c.name === "api-server").channel_id;
  mock.world.emit("message.created", id, "r-links", { msg_id: "m-links", content: "The address is in `cmd/main.go:3`, as main.go:2 says; nowhere/none.go:9 is gone.", is_bot: true });
  await page.getByRole("button", { name: "cmd/main.go:3", exact: true }).click();
  const content = files(page).getByRole("group", { name: "Content of main.go" });
  await content.locator("li[aria-current=location]").waitFor();
  equal(await content.locator("li").evaluateAll((all) => all.findIndex((el) => el.getAttribute("aria-current")) + 1), 3, "the line");
  await until("the content has the keyboard", () => content.evaluate((el) => el === document.activeElement));
  await clean(page, "a line of a file", { looks: CONTRAST });
  await page.keyboard.press("Shift+ArrowDown");
  await files(page).getByRole("button", { name: "Ask about lines 3–4" }).waitFor();
  await page.keyboard.press("a");
  await becomes(() => page.getByRole("textbox", { name: "Prompt" }).inputValue().then((v) => /@\S*cmd\/main\.go#L3-4 $/.test(v)), true, "the prompt names the lines");
  await content.locator("li").nth(1).locator("[data-no]").click();
  await files(page).getByRole("button", { name: "Ask about line 2" }).waitFor();
  await page.getByRole("button", { name: "nowhere/none.go:9", exact: true }).click();
  await files(page).getByText("Try again").waitFor();
  await page.getByRole("article", { name: "Agent" }).last().focus();
  await page.keyboard.press("o");
  await content.locator("li[aria-current=location]").waitFor();
});

test("links: an item's own link leads back to it, by the palette and by the address", { scenario: "long" }, async (page) => {
  await page.getByRole("treeitem", { name: "monorepo" }).click();
  await page.keyboard.press("Control+Shift+f");
  await page.getByRole("dialog").getByRole("combobox").fill("Task 9: look");
  await page.getByRole("dialog").getByText("1, newest first").waitFor();
  await page.keyboard.press("Enter");
  await becomes(() => focused(page).then((t) => t.includes("Task 9: look")), true, "the row has the keyboard");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.keyboard.press("l");
  await page.getByText("Copied the link to this item.").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.goto(link);
  await page.reload();
  await page.goto(link);
  await becomes(() => focused(page).then((t) => t.includes("Task 9: look")), true, "by the address");
  await page.keyboard.press("End");
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText(link);
  await page.getByRole("option", { name: /^Go to the item of / }).waitFor();
  await page.keyboard.press("Enter");
  await becomes(() => focused(page).then((t) => t.includes("Task 9: look")), true, "by the palette");
});

test("palette: finds files of the container, and what was said", { size: [1500, 900] }, async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("main.go");
  const option = page.getByRole("option", { name: /^main\.go/ });
  await option.waitFor();
  await clean(page, "files in the palette");
  await option.click();
  await files(page).getByRole("group", { name: "Content of main.go" }).waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("session is written");
  await page.getByRole("option", { name: /^Find these words/ }).click();
  await page.getByRole("dialog", { name: "Find in all that was said and done" }).getByRole("option").first().waitFor();
});
