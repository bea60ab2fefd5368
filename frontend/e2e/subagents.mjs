// Rows of sub-agents, pictures of tools, and what a run shows only on demand.
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const row = (page, name) => page.getByRole("article", { name });
const active = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");

/** A run of a channel that has none yet, whose events the test sends. */
async function begun(page, mock) {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const { channel_id: id, dir } = mock.channel("docs & <b>notes</b>");
  const emit = (type, data) => mock.world.emit(type, id, "f".repeat(32), data);
  const call = (n, tool, input, parent = "") => emit("tool.use", { tool_use_id: n, parent_tool_use_id: parent, tool_name: tool, input });
  const answer = (n, output, parent = "", more = {}) => emit("tool.result", { tool_use_id: n, parent_tool_use_id: parent, output, is_error: false, ...more });
  const about = (n, activity, more) => emit("agent.activity", { activity, parent_tool_use_id: n, ...more });
  const say = (content) => emit("message.created", { msg_id: `m${content.length}`, content, is_bot: true });
  emit("message.created", { msg_id: "f".repeat(32), content: "The login test fails about one time in ten on CI. Find out why and fix it.", is_bot: false });
  emit("agent.status", { status: "running", state: "starting", step: "container" });
  emit("agent.status", { status: "running", state: "running", step: "agent" });
  await page.getByText("The login test fails").waitFor();
  const agent = () => {
    call("a", "Agent", { description: "Find every fixed wait in the tests", prompt: "Look for time.Sleep in all tests.\nName each.", subagent_type: "Explore" });
    about("a", "task_started", { agent: { kind: "Explore", state: "running" } });
    about("a", "task_message", { description: "I search first.", model: "claude-sonnet-5-5" });
  };
  return { id, dir, emit, call, answer, about, say, agent };
}

test("sub-agents: one row that says what goes on, and opens to rows of its own on a rail", async (page, mock) => {
  const r = await begun(page, mock);
  r.agent();
  r.call("g", "Grep", { pattern: "time\\.Sleep", glob: "**/*_test.go" }, "a");
  await row(page, "Agent Find every fixed wait in the tests 1 call").getByText("Search time\\.Sleep").waitFor();
  r.answer("g", "Found 23 matches", "a");
  for (const f of ["auth/a.go", "auth/b.go", "session/c.go"]) {
    r.call(f, "Read", { file_path: `${r.dir}/internal/${f}` }, "a");
    r.answer(f, "1→package x\n2→\n", "a");
  }
  r.about("a", "task_progress", { description: "Reading internal/session/c.go", agent: { calls: 4, tokens: 38_000, duration_ms: 40_000 } });
  const agent = row(page, /^Agent Find every fixed wait/);
  await agent.getByText("4 calls, 38 k tokens").waitFor();
  equal(await row(page, /^Search/).count(), 0, "rows of the sub-agent while its own is closed");
  await clean(page, "a sub-agent at work");
  r.about("a", "task_message", { description: "Two of 23 race a write: `login_test.go:61`." });
  r.about("a", "task_notification", { description: "Two of 23 race a write: `login_test.go:61`.", agent: { state: "completed", calls: 4, tokens: 38_200, duration_ms: 48_000 } });
  r.answer("a", "Async agent launched successfully. (internal)");
  r.call("e", "Edit", { file_path: `${r.dir}/internal/auth/store.go`, old_string: "a", new_string: "b" });
  r.answer("e", "updated", "", { files: [{ path: `${r.dir}/internal/auth/store.go`, kind: "edit", added: 1, removed: 1, patch: "@@ -1,1 +1,1 @@\n-a\n+b\n" }] });
  await row(page, /^Edit/).waitFor();
  await agent.getByText("Explore, Sonnet 5.5").waitFor();
  equal((await agent.locator(".gutter").innerText()).trim(), "48 s", "its time");

  await page.locator("article[tabindex='0']").focus();
  await page.keyboard.press("k");
  await until("the sub-agent has the keyboard", async () => (await active(page)).startsWith("Agent"));
  await page.keyboard.press("Enter");
  await row(page, "Read 3 files").waitFor();
  const names = () => page.getByRole("article").evaluateAll((all) => all.map((el) => el.getAttribute("aria-label").split(" ", 2).join(" ").replace(/[/:\d].*$/, "")));
  await becomes(names, ["Prompt, ", "Agent Find", "Asked", "Said", "Read ", "Said", "Edit ", "Under way"], "rows in their order");
  equal(await page.locator("article.rail").count(), 4, "rows on the rail");
  const left = (name) => row(page, name).locator(".main > *").first().evaluate((el) => el.getBoundingClientRect().left);
  ok((await left(/^Read 3/)) - (await left(/^Edit/)) === 22, "they hang 22 px to the right");
  equal(await row(page, /^Asked/).locator(".gutter").evaluate((el) => el.getBoundingClientRect().right), await agent.locator(".gutter").evaluate((el) => el.getBoundingClientRect().right), "the gutter stays");
  await clean(page, "an opened sub-agent", { looks: CONTRAST });

  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await until("a row of the rail has the keyboard", async () => (await active(page)).startsWith("Said"));
  await page.keyboard.press("ArrowLeft");
  await until("the way back", async () => (await active(page)).startsWith("Agent"));
  await page.keyboard.press("ArrowLeft");
  await becomes(() => page.locator("article.rail").count(), 0, "rows after it is closed");
});

test("sub-agents: the end of a run leads to a file that one has changed", async (page, mock) => {
  const r = await begun(page, mock);
  r.agent();
  r.call("w", "Write", { file_path: `${r.dir}/new.go`, content: "package x\n" }, "a");
  r.answer("w", "created", "a", { files: [{ path: `${r.dir}/new.go`, kind: "create", added: 1, removed: 0, patch: "@@ -0,0 +1,1 @@\n+package x\n" }] });
  r.about("a", "task_notification", { description: "Done.", agent: { state: "completed" } });
  r.answer("a", "Written.");
  r.emit("agent.status", { status: "completed", state: "done", num_turns: 2 });
  await page.getByRole("button", { name: /^1 file/ }).press("Enter");
  await page.getByRole("list", { name: "Changed files" }).getByRole("button", { name: "new.go" }).press("Enter");
  await row(page, /^Write .*new\.go/).waitFor();
});

/** The picture that a tool has shown. */
const shot = (id, width, height, bytes) => ({ id: id.repeat(64), name: "picture", type: "image/png", width, height, bytes });

test("pictures of tools: drawn where they were read, a huge one when it is wanted, any one large", async (page, mock) => {
  const r = await begun(page, mock);
  const png = await page.evaluate(() => {
    const c = Object.assign(document.createElement("canvas"), { width: 320, height: 102 });
    const g = c.getContext("2d");
    g.fillStyle = "#fff";
    g.fillRect(0, 0, 320, 102);
    g.fillStyle = "#2563eb";
    for (let i = 0; i < 4; i++) g.fillRect(30 + i * 80, 20 + i * 15, 60, 3);
    return c.toDataURL("image/png").split(",")[1];
  });
  for (const id of ["a", "b"]) mock.files.pictures.set(id.repeat(64), png);
  r.call("p", "Read", { file_path: `${r.dir}/docs/session-write.png` });
  r.answer("p", "[image]", "", { pictures: [shot("a", 320, 102, 62_000)] });
  r.call("q", "Read", { file_path: `${r.dir}/docs/poster.png` });
  r.answer("q", "[image]", "", { pictures: [shot("b", 6000, 4000, 3_400_000)] });
  const small = row(page, /^Read .*session-write\.png/);
  await small.getByText("320 × 102, 61 KB").waitFor();
  equal(await page.getByText("1 line").count(), 0, "lines of a picture");
  await page.locator("article[tabindex='0']").focus();
  await page.keyboard.press("Enter");
  const huge = row(page, /^Read .*poster\.png/);
  await huge.getByRole("button", { name: "Show poster.png" }).waitFor();
  equal(await huge.locator("img").count(), 0, "huge pictures that were drawn");
  await clean(page, "a huge picture");
  await page.keyboard.press("a");
  await huge.getByRole("img", { name: "poster.png" }).waitFor();
  await page.keyboard.press("k");
  await until("the first has the keyboard", async () => (await active(page)).includes("session-write"));
  await page.keyboard.press("Enter");
  await small.getByRole("img", { name: "session-write.png" }).waitFor();
  await becomes(() => small.getByRole("img", { name: "session-write.png" }).evaluate((el) => [el.getBoundingClientRect().width, el.getBoundingClientRect().height].map(Math.round)), [320, 102], "its own size");
  await clean(page, "a picture");
  await small.getByRole("button", { name: "Enlarge session-write.png" }).click();
  await page.getByRole("dialog", { name: "session-write.png" }).getByRole("img").waitFor();
  await clean(page, "a large picture", { within: DIALOG });
  await page.keyboard.press("Escape");
});

test("a picture that is gone says so, and the row stays", { quietErrors: true }, async (page, mock) => {
  const r = await begun(page, mock);
  r.call("p", "Read", { file_path: `${r.dir}/a.png` });
  r.answer("p", "[image]", "", { pictures: [shot("c", 320, 102, 62_000)] });
  await row(page, /^Read .*a\.png/).getByRole("button").first().click();
  await page.getByText("It is not there any more.").waitFor();
});

test("the run shows no event that Loop has no words for, and the filter does", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  equal(await page.getByText("telemetry").count(), 0, "JSON in the run");
  equal(await row(page, "Start of the run").count(), 0, "starts that were quick");
  await page.getByRole("button", { name: "Show: Whole run" }).click();
  await page.getByRole("menuitemradio", { name: "Unknown events" }).click();
  await page.getByRole("button", { name: "Other output" }).click();
  await page.getByRole("figure", { name: "Event as it came" }).getByText("telemetry").waitFor();
  await clean(page, "unknown events");
});

test("the prompt of what is read sticks, and leads back", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  const stuck = page.getByRole("button", { name: "Go to the prompt: The login test fails" });
  await stuck.waitFor();
  await clean(page, "a prompt that sticks", { looks: CONTRAST });
  await stuck.click();
  await until("the prompt has the keyboard", async () => (await active(page)).startsWith("Prompt"));
  await becomes(() => stuck.count(), 0, "prompts that stick above themselves");
  // A row that the arrows lead to is never below it.
  await page.keyboard.press("End");
  await stuck.waitFor();
  const covered = () => page.evaluate(() => {
    const bar = document.querySelector(".sticky-prompt")?.getBoundingClientRect();
    const at = document.activeElement.getBoundingClientRect();
    return Boolean(bar && at.top < bar.bottom - 1 && at.height < 400);
  });
  for (let i = 0; i < 6; i++) {
    const was = await active(page);
    await page.keyboard.press("k");
    await until("another row", async () => (await active(page)) !== was);
    await becomes(covered, false, `below the prompt: ${await active(page)}`);
  }
});
