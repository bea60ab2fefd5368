// Conversations in terminals, what threads are called and continue, and answers in the prompt box.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const article = (page, name) => page.getByRole("article", { name });
const open = (page, name) => page.getByRole("treeitem", { name }).first().click();
const answers = (mock) => mock.log.filter((c) => c.name === "Runs.Answer").map((c) => c.args[1]);
const bar = (page) => page.locator(".composer .banner");
const inPrompt = (page) => page.evaluate(() => document.activeElement?.hasAttribute("data-prompt"));

/** A conversation of a terminal in a channel, as Loop tells it. */
function talkOf(mock) {
  const { channel_id: id } = mock.channel("docs & <b>notes</b>");
  const talk_id = "talk-one";
  const began = mock.world.now() - 12 * 60_000;
  const emit = (type, data) => mock.world.emit(type, id, talk_id, data);
  const tell = (more) => emit("terminal.talk", { talk_id, channel_id: id, session_id: "s-pane", terminal_id: "gone", title: "Why does <b>login</b> fail on CI?", prompts: 1, began_ms: began, last_ms: mock.world.now(), ...more });
  const say = (content, bot = true) => emit("message.created", { msg_id: content, content, is_bot: bot, is_processed: true, uuid: `u${content.length}` });
  const begin = () => {
    tell({ working: true, turn_began_ms: mock.world.now() - 5000 });
    say("Why does <b>login</b> fail on CI?", false);
    emit("tool.use", { tool_use_id: "t1", tool_name: "Bash", input: { command: "go test ./login", description: "Run the tests" } });
  };
  const end = (more = {}) => {
    emit("tool.result", { tool_use_id: "t1", output: "ok", is_error: false });
    say("The clock of the test is the computer's own.");
    tell({ prompts: 4, cost_usd: 0.2349, ...more });
  };
  const delegate = () => {
    tell({ working: true, prompts: 5, turn_began_ms: mock.world.now() - 5000 });
    emit("tool.use", { tool_use_id: "a1", tool_name: "Agent", input: { description: "Find the clock", prompt: "Where is the clock set?", subagent_type: "Explore" } });
    emit("tool.result", { tool_use_id: "a1", output: "Async agent launched successfully. More", is_error: false });
    emit("agent.activity", { activity: "task_started", parent_tool_use_id: "a1", agent: { kind: "Explore", state: "running" } });
    emit("tool.use", { tool_use_id: "a2", parent_tool_use_id: "a1", tool_name: "Bash", input: { command: "grep -rn clock ." } });
  };
  const found = () => {
    emit("tool.result", { tool_use_id: "a2", parent_tool_use_id: "a1", output: "login.go", is_error: false });
    emit("agent.activity", { activity: "task_message", description: "It is set in login.go.", parent_tool_use_id: "a1" });
    emit("agent.activity", { activity: "task_notification", parent_tool_use_id: "a1", agent: { kind: "Explore", state: "completed", calls: 1, tokens: 420 } });
    tell({ prompts: 5 });
  };
  return { id, tell, say, begin, end, delegate, found };
}

test("a conversation in a terminal: one row that counts as work and as cost, and opens to its own", { size: [1280, 800] }, async (page, mock) => {
  await open(page, "docs");
  await prompt(page).waitFor();
  const t = talkOf(mock);
  t.begin();
  const row = article(page, /^In the terminal/);
  await row.getByText(/^working/).waitFor();
  const item = page.getByRole("treeitem", { name: "docs" });
  await item.getByText("working").waitFor();
  equal(await page.getByRole("button", { name: "Stop", exact: true }).count(), 0, "there is no run to stop");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  equal(await page.getByText("go test ./login").count(), 0, "its rows while it is folded");
  await clean(page, "a conversation at work", { looks: CONTRAST });
  t.end();
  await row.getByText("4 prompts · 12 m · $0.23").waitFor();
  equal(await row.locator("b").count(), 0, "its title is a text");
  await item.getByText("working").waitFor({ state: "detached" });

  await grab(row);
  await page.keyboard.press("Enter");
  await article(page, "Agent").getByText("The clock of the test is the computer's own.").waitFor();
  equal(await page.locator("article.rail").count(), 3, "rows on the rail");
  await page.keyboard.press("ArrowDown");
  await becomes(() => page.evaluate(() => document.activeElement?.className.includes("prompt")), true, "its prompt has the keyboard");
  await page.keyboard.press("b");
  equal(await page.getByRole("region", { name: "Back to here" }).count(), 0, "there is no way back in a terminal");
  await page.keyboard.press("ArrowLeft");
  await until("the row has the keyboard", () => row.evaluate((el) => el === document.activeElement));
  await clean(page, "an open conversation", { looks: CONTRAST });
  equal(await page.getByRole("button", { name: "Show the terminal" }).count(), 0, "the terminal is gone");
  await page.getByRole("button", { name: "Go on with it here" }).click();
  await page.getByText("The next message goes on with that conversation.").waitFor();
  equal(mock.world.channels.get(t.id).next_session, { mode: "resume", session_id: "s-pane" }, "next session");
  await until("the prompt box has the keyboard", () => inPrompt(page));

  await page.reload();
  await row.getByText("4 prompts · 12 m · $0.23").waitFor();
  equal(await page.locator("article.rail").count(), 0, "it is folded again");
  t.tell({ prompts: 5, unpriced: ["claude-new"], cost_estimated: true, broken: true });
  await row.getByText("cost not known yet · broken off").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await row.waitFor();
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than 320 px");
});

test("a sub-agent in a conversation in a terminal: one row that opens to its own", { size: [1280, 800] }, async (page, mock) => {
  await open(page, "docs");
  await prompt(page).waitFor();
  const t = talkOf(mock);
  t.begin();
  t.end();
  t.delegate();
  const row = article(page, /^In the terminal/);
  await row.getByText(/^working/).waitFor();
  await grab(row);
  await page.keyboard.press("Enter");
  const agent = page.locator("article", { hasText: "Find the clock" });
  await agent.getByText("1 call").waitFor();
  equal(await page.getByText("It is set in login.go.").count(), 0, "its rows while it is folded");
  t.found();
  await agent.getByText("1 call, 420 tokens").waitFor();
  await row.getByText("5 prompts").waitFor();
  await grab(agent);
  await page.keyboard.press("Enter");
  await page.getByText("It is set in login.go.").waitFor();
  await page.getByText("Where is the clock set?").waitFor();
  await clean(page, "an open sub-agent of a conversation", { looks: CONTRAST });
});

test("a thread: named by its first prompt, and it leads to what it continues", { size: [1280, 800] }, async (page) => {
  await open(page, "docs");
  await prompt(page).fill("go");
  await page.keyboard.press("Enter");
  await page.getByText("Done", { exact: true }).waitFor();
  await grab(page.locator("article.text").first());
  await page.keyboard.press("f");
  const tree = page.getByRole("tree", { name: "Projects" });
  await tree.getByRole("treeitem", { name: "Thread 1" }).waitFor();
  const continues = page.getByRole("button", { name: /^Continues docs/ });
  await continues.waitFor();
  await clean(page, "a thread", { looks: CONTRAST });
  await prompt(page).fill("Fix the login\nand say why");
  await page.keyboard.press("Enter");
  await tree.getByRole("treeitem", { name: "Fix the login" }).waitFor();
  await becomes(() => page.title().then((t) => t.includes("Fix the login")), true, "the window's title");
  await grab(continues);
  await page.keyboard.press("Enter");
  await until("the message has the keyboard", () => page.evaluate(() => document.activeElement?.matches("article.text")));
  equal(await continues.count(), 0, "the project continues nothing");
});

test("Enter asks whether a text is the answer; numbers choose, and the card says what is missing", { size: [1280, 800] }, async (page, mock) => {
  await open(page, "docs");
  await prompt(page).fill("ask me something");
  await page.keyboard.press("Enter");
  const card = page.getByRole("region", { name: "The agent has some questions" });
  await card.getByText("0 of 2 answered. Missing:").waitFor();
  await prompt(page).fill("and keep it small");
  await bar(page).getByText("Enter asks what this text is.").waitFor();
  await page.keyboard.press("Enter");
  await bar(page).getByRole("button", { name: "Send as next prompt" }).waitFor();
  equal([answers(mock).length, await inPrompt(page), await prompt(page).inputValue()], [0, true, "and keep it small"], "nothing is sent, and the focus stays");
  await clean(page, "the choice", { looks: CONTRAST });
  await page.keyboard.press("Escape");
  await bar(page).getByRole("button", { name: "Send as next prompt" }).waitFor({ state: "detached" });
  equal(await prompt(page).inputValue(), "and keep it small", "the text after Escape");

  await page.keyboard.press("F8");
  await until("the card has the focus", () => card.evaluate((el) => el === document.activeElement));
  await page.keyboard.press("2");
  equal(await card.getByRole("radio", { name: "Postgres" }).isChecked(), true, "2 chooses the second");
  await card.getByText("1 of 2 answered. Missing:").waitFor();
  await page.keyboard.press("1");
  await card.getByText(/answered/).waitFor({ state: "detached" });
  equal(answers(mock).length, 0, "numbers alone answer nothing");
  await card.getByRole("textbox", { name: "Or in your own words" }).last().fill("2");
  equal(await card.getByRole("radio", { name: "Postgres" }).isChecked(), true, "a number in a text chooses nothing");

  await prompt(page).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await card.waitFor({ state: "detached" });
  equal(answers(mock).at(-1).text, "and keep it small", "the text of the answer");
  await becomes(() => prompt(page).inputValue(), "", "the box after the answer");
});

test("a plan has number keys: one declines, three only chooses", { size: [1280, 800] }, async (page, mock) => {
  await open(page, "docs");
  await prompt(page).fill("make a plan");
  await page.keyboard.press("Enter");
  const card = page.getByRole("region", { name: "The agent has a plan" });
  await card.waitFor();
  await page.keyboard.press("F8");
  await until("the card has the focus", () => card.evaluate((el) => el === document.activeElement));
  await page.keyboard.press("3");
  await card.getByText("Chosen: Approve plan.").waitFor();
  equal(answers(mock).length, 0, "3 alone approves nothing");
  await clean(page, "a chosen plan", { looks: CONTRAST });
  await page.keyboard.press("2");
  await card.getByText("Say what should change.").waitFor();
  await page.keyboard.type("1 is too much");
  equal(answers(mock).length, 0, "a number in a text declines nothing");
  await page.keyboard.press("Control+Enter");
  await until("revised", () => answers(mock).length === 1);
  equal(answers(mock)[0], { action: "revise", text: "1 is too much" }, "the changes");
});
