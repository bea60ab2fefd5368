// Questions, plans, the queue, threads and conversations.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const open = (page, name) => page.getByRole("treeitem", { name }).click();
async function send(page, text) {
  await prompt(page).fill(text);
  await page.keyboard.press("Enter");
}
/** While a question is open, Enter asks first what the text is. */
async function sendNext(page, text) {
  await send(page, text);
  await page.getByRole("button", { name: "Send as next prompt" }).waitFor();
  await page.keyboard.press("Control+Enter");
}
const answers = (mock) => mock.log.filter((c) => c.name === "Runs.Answer").map((c) => c.args[1]);

test("a question: answered by keyboard, kept over a reload, never by Enter alone", async (page, mock) => {
  await open(page, "docs");
  await send(page, "ask me something");
  const card = page.getByRole("region", { name: "The agent has some questions" });
  await card.waitFor();
  equal(await page.evaluate(() => document.activeElement?.hasAttribute("data-prompt")), true, "the prompt box kept the focus");
  await page.getByRole("treeitem", { name: "docs" }).getByText("needs you").waitFor();
  await page.reload();
  await card.waitFor();
  await sendNext(page, "this waits");
  await page.getByText("waits for your answer", { exact: true }).waitFor();
  await page.keyboard.press("F8");
  await until("the card has the focus", () => card.evaluate((el) => el === document.activeElement));
  await page.keyboard.press("Enter");
  equal(answers(mock).length, 0, "answers after Enter");
  const sendButton = card.getByRole("button", { name: "Send answer" });
  equal(await sendButton.isDisabled(), true, "incomplete answer can be sent");
  await grab(card.getByRole("radio", { name: "SQLite" }));
  await page.keyboard.press("ArrowDown");
  await page.getByText("postgres://localhost/test").waitFor();
  await grab(card.getByRole("checkbox", { name: "Lint" }));
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  equal(answers(mock).length, 0, "answers after Enter in a box");
  await card.getByRole("textbox", { name: "Or in your own words" }).last().fill("and the docs");
  await page.keyboard.press("Control+Enter");
  await card.waitFor({ state: "detached" });
  equal(answers(mock), [{ action: "answer", choices: [["Postgres"], ["Lint"]], texts: ["", "and the docs"] }], "answer");
  await page.getByText("Lint, and the docs", { exact: true }).waitFor();
  await until("both went on", () => mock.log.filter((c) => c.name === "Runs.Prompt").length === 2);
  await page.getByText("Done", { exact: true }).nth(1).waitFor();
});

const bar = (page) => page.locator(".composer .banner");
const rowsOf = (page) => page.getByRole("list", { name: "Waiting prompts" }).getByRole("listitem");
const hasFocus = (card) => card.evaluate((el) => el === document.activeElement);

test("a prompt behind a question: says why it waits, leads to the card, and starts after the answer", async (page, mock) => {
  await open(page, "docs");
  mock.play.paused = true; // the run must not end before the second prompt waits
  await send(page, "ask me something");
  await send(page, "from before the question");
  const row = rowsOf(page).filter({ hasText: "from before the question" });
  await row.getByText("next", { exact: true }).waitFor();
  mock.play.paused = false;
  const card = page.getByRole("region", { name: "The agent has some questions" });
  await card.waitFor();
  await row.getByText("waits for your answer", { exact: true }).waitFor();
  await bar(page).getByText("The agent waits for your answer. A prompt is sent after it.").waitFor();
  equal(await page.evaluate(() => document.activeElement?.hasAttribute("data-prompt")), true, "the prompt box kept the focus");
  await sendNext(page, "from after it");
  const said = async () => (await page.locator(".sr-only[role=status]").allInnerTexts()).join();
  await until("the reason is announced", async () => (await said()).includes("It waits until you have answered the agent."));
  await prompt(page).fill("much later");
  await page.getByRole("button", { name: "More ways to send" }).click();
  await page.getByRole("menuitem", { name: "Send in 1 hour" }).click();
  await rowsOf(page).getByText(/^in (5\d m|1 h).*, after your answer$/).waitFor();
  await row.getByRole("button", { name: "Go to the question" }).click();
  await until("the card has the focus", () => hasFocus(card));
  await prompt(page).focus();
  await bar(page).getByRole("button", { name: "Go to the question" }).click();
  await until("the card has it again", () => hasFocus(card));
  equal(answers(mock).length, 0, "answers");
  await card.getByRole("button", { name: "Decline" }).click();
  await bar(page).waitFor({ state: "detached" });
  await page.locator("article.prompt", { hasText: "from after it" }).waitFor();
  await becomes(() => rowsOf(page).locator(".queue-text").allInnerTexts(), ["much later"], "what waits");
  equal(await page.getByText("after your answer").count(), 0, "reasons left");
});

test("what is typed into the prompt box can be the answer, or changes to the plan", { quietErrors: true }, async (page, mock) => {
  await open(page, "docs");
  await send(page, "ask me something");
  const card = page.getByRole("region", { name: "The agent has some questions" });
  await card.getByRole("radio", { name: "Postgres" }).click();
  equal(await bar(page).getByRole("button", { name: "Answer the question" }).count(), 0, "nothing to send");
  await prompt(page).fill("and keep it small");
  mock.world.failNext.set("Runs.Answer", { code: "invalid_input", cause: "The answer is too long.", remedy: "Put it into a file." });
  await bar(page).getByRole("button", { name: "Answer the question" }).click();
  await page.getByText("The answer is too long.").waitFor();
  equal(await prompt(page).inputValue(), "and keep it small", "text after a failure");
  await bar(page).getByRole("button", { name: "Answer the question" }).click();
  await card.waitFor({ state: "detached" });
  equal(answers(mock).at(-1), { action: "answer", choices: [["Postgres"], []], texts: ["", ""], text: "and keep it small" }, "answer");
  equal(await prompt(page).inputValue(), "", "text after the answer");
  await page.getByText("In your own words").waitFor();
  await send(page, "make a plan");
  await bar(page).getByText("The agent waits for your word on its plan.").waitFor();
  await prompt(page).fill("also make a plan for the docs");
  await bar(page).getByRole("button", { name: "Send as changes" }).click();
  await until("revised", () => answers(mock).at(-1).action === "revise");
  equal(answers(mock).at(-1), { action: "revise", text: "also make a plan for the docs" }, "changes");
});

test("a plan: changes asked for, then approved; answered elsewhere is said", { quietErrors: true }, async (page, mock) => {
  await open(page, "docs");
  await send(page, "make a plan");
  const card = page.getByRole("region", { name: "The agent has a plan" });
  await card.getByText("Move the call out of the critical section.").waitFor();
  await card.getByRole("button", { name: "Request changes" }).click();
  await page.getByRole("textbox", { name: "What should change?" }).fill("also make a plan for the docs");
  await card.getByRole("button", { name: "Send changes" }).click();
  await until("revised", () => answers(mock).length === 1);
  equal(answers(mock)[0], { action: "revise", text: "also make a plan for the docs" }, "answer");
  await page.getByText("Changes to the plan asked for").waitFor();
  await card.getByRole("button", { name: "Approve plan" }).waitFor();
  const q = [...mock.world.questions.values()].find((x) => x.state === "open");
  mock.world.failNext.set("Runs.Answer", { code: "conflict", cause: "That question was answered already.", remedy: "Look at the timeline." });
  await card.getByRole("button", { name: "Approve plan" }).click();
  await page.getByText("That question was answered already.").waitFor();
  ok(q.state === "open", "still open here");
  await card.getByRole("button", { name: "Approve plan" }).click();
  await page.getByText("Plan approved").waitFor();
});

test("plan first: what the menu, the queue, the timeline and the card say", async (page, mock) => {
  await open(page, "docs");
  const planFirst = async (text) => {
    await prompt(page).fill(text);
    await page.getByRole("button", { name: "More ways to send" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Plan first: your folders are read-only until you approve" }).click();
    await page.keyboard.press("Escape");
    await page.getByText("Plan first, read-only", { exact: true }).waitFor();
    await prompt(page).press("Enter");
  };
  const card = page.getByRole("region", { name: "The agent has a plan" });
  await planFirst("make a plan");
  await card.getByText("This run could not write to your folders. Approving starts one that can.").waitFor();
  equal(await page.getByText("Plan first, read-only", { exact: true }).count(), 0, "the next prompt does not plan");
  await page.getByText("This run plans first: your folders and volumes are read-only in its container.").waitFor();
  await planFirst("this waits");
  await page.getByRole("list", { name: "Waiting prompts" }).getByText("plans first: this waits").waitFor();
  await page.getByRole("button", { name: "Remove from the queue" }).click();
  await card.getByRole("button", { name: "Request changes" }).click();
  await page.getByRole("textbox", { name: "What should change?" }).fill("make a plan with tests");
  await card.getByRole("button", { name: "Send changes" }).click();
  await until("it planned again", () => mock.world.questions.size === 2);
  await card.getByText("This run could not write to your folders.").waitFor();
  await card.getByRole("button", { name: "Approve plan" }).click();
  await card.waitFor({ state: "detached" });
  const runs = () => [...mock.world.runs.values()].filter((r) => r.channel_id === [...mock.world.questions.values()][0].channel_id);
  await until("the approved run", () => runs().at(-1).prompt.includes("approved"));
  equal(runs().filter((r) => r.prompt !== "this waits").map((r) => !!r.plan), [true, true, false], "which runs planned");
});

test("the queue: reorder by keyboard, edit in place, send now, delay", async (page, mock) => {
  await open(page, "docs");
  await send(page, "hang");
  await page.getByRole("button", { name: "Stop", exact: false }).first().waitFor();
  for (const t of ["one", "two", "three"]) await send(page, t);
  const rows = page.getByRole("list", { name: "Waiting prompts" }).getByRole("listitem");
  const texts = () => rows.locator(".queue-text").allInnerTexts();
  await until("three wait", async () => (await texts()).length === 3);
  await grab(rows.nth(2).getByRole("button", { name: "Edit" }));
  await page.keyboard.press("Alt+ArrowUp");
  await until("three moved up", async () => (await texts()).join() === "one,three,two");
  await rows.nth(0).getByRole("button", { name: "Edit" }).click();
  const editor = page.getByRole("textbox", { name: "Edit the waiting prompt" });
  await becomes(() => editor.inputValue(), "one", "text in the editor");
  await editor.fill("one, but better");
  await page.keyboard.press("Control+Enter");
  await until("edited", async () => (await texts()).includes("one, but better"));
  equal(mock.log.filter((c) => c.name === "Runs.Hold").length, 1, "holds");
  await prompt(page).fill("much later");
  await page.getByRole("button", { name: "More ways to send" }).click();
  await page.getByRole("menuitem", { name: "Send in 1 hour" }).click();
  await page.getByText(/^in (5\d m|1 h)/).waitFor();
  mock.play.speed = 0.01; // the next run must not end before it is interrupted
  await rows.filter({ hasText: "two" }).getByRole("button", { name: "Send now" }).click();
  await page.getByText("Stopped").waitFor();
  await until("two begins", async () => (await page.locator("article.prompt").allInnerTexts()).some((t) => t.includes("two")));
  await prompt(page).fill("hang on, at once");
  await page.keyboard.press("Control+Enter");
  await until("it interrupted", () => mock.log.filter((c) => c.name === "Runs.Prompt").at(-1)?.args[0].interrupt === true);
});

test("threads, worktrees and conversations", { quietErrors: true }, async (page, mock) => {
  await open(page, "docs");
  await send(page, "go");
  await page.getByText("Done", { exact: true }).waitFor();
  await grab(page.locator("article.text").first());
  await page.keyboard.press("f");
  await page.getByRole("treeitem", { name: "Thread 1" }).waitFor();
  await page.getByText("Copy of the conversation", { exact: true }).waitFor();
  ok(mock.log.find((c) => c.name === "Channels.ForkAt")?.args[1].at, "the message is named");
  const tree = page.getByRole("tree", { name: "Projects" });
  await grab(tree.getByRole("treeitem", { name: "api-server" }));
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "New worktree" }).click();
  await page.getByRole("combobox", { name: "Branch" }).fill("bad name");
  await page.keyboard.press("Enter");
  await page.getByText("That is not a name for a branch.").waitFor();
  await page.getByRole("combobox", { name: "Branch" }).fill("fix-login");
  await page.keyboard.press("Enter");
  await tree.getByRole("treeitem", { name: "fix-login" }).waitFor();
  equal(await tree.getByRole("treeitem", { name: "fix-login" }).getAttribute("aria-level"), "2", "level");
  const api = mock.channel("api-server").channel_id;
  mock.world.sessions.set(api, [
    { session_id: "s1", title: "Fix the flaky test", messages: 12, size_bytes: 40000, updated_at: new Date(Date.now() - 3600e3).toISOString(), current: true },
    { session_id: "s2", title: "<img src=x onerror=alert(1)> older", messages: 3, size_bytes: 900, updated_at: new Date(Date.now() - 9e8).toISOString() },
  ]);
  await grab(tree.getByRole("treeitem", { name: "api-server" }));
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Conversations" }).click();
  await page.getByText("<img src=x onerror=alert(1)> older").waitFor();
  await page.getByRole("button", { name: "Go on with: <img" }).click();
  await page.getByText("The next message goes on with that conversation.").waitFor();
  equal(mock.world.channels.get(api).next_session, { mode: "resume", session_id: "s2" }, "next session");
  await grab(tree.getByRole("treeitem", { name: "api-server" }));
  await page.keyboard.press("Delete");
  await page.getByRole("button", { name: "Remove all 2" }).click();
  await until("both are gone", async () => (await tree.getByRole("treeitem", { name: "fix-login" }).count()) + (await tree.getByRole("treeitem", { name: "api-server" }).count()) === 0);
});

test("worktrees: branches are listed, found and chosen, and what stays behind is said first", { quietErrors: true }, async (page, mock) => {
  const at = Date.now() - 86_400_000;
  mock.world.branches = {
    branches: [
      { name: "main", current: true, where: "/home/ana/src/api-server", at_ms: at, subject: "One" }, { name: "fix/login", where: "/home/ana/src/api-server/.worktrees/fix-login", in: "login <b>", at_ms: at, subject: "Two" },
      { name: "fix/logout", at_ms: at, subject: "Three" }, { name: "v2", where: "/elsewhere", at_ms: at, subject: "Four" },
    ],
    changes: 4, changed: ["internal/auth/login.go", "go.mod", "notes.txt", "x"],
  };
  await open(page, "api-server");
  mock.world.failNext.set("Channels.Branches", { code: "dir", cause: "“/home/ana” is no git repository.", remedy: "Run “git init” there." });
  const again = async () => {
    await page.keyboard.press("Control+Shift+P");
    await page.keyboard.insertText("new worktree");
    await page.keyboard.press("Enter");
  };
  const dialog = page.getByRole("dialog", { name: "New worktree" });
  await again();
  await dialog.getByText("The branches could not be listed.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await again();
  const branch = dialog.getByRole("combobox", { name: "Branch" });
  await until("the field has the keyboard", () => branch.evaluate((el) => el === document.activeElement));
  await dialog.getByText("internal/auth/login.go, go.mod, notes.txt and 1 more. They stay here: the worktree begins without them.").waitFor();
  await page.keyboard.press("ArrowDown");
  const rows = () => dialog.getByRole("option").allTextContents();
  const told = () => dialog.getByRole("option").evaluateAll((all) => all.map((el) => [".branch-name", ".branch-place"].map((s) => el.querySelector(s).textContent).join(": ")));
  await becomes(told, ["main: current", "fix/login: in “login <b>”", "fix/logout: ", "v2: checked out elsewhere"]);
  await clean(page, "branches", { looks: CONTRAST });
  await page.keyboard.press("Enter"); // what is checked out cannot be chosen
  equal(await branch.inputValue(), "");
  await page.keyboard.insertText("log fix");
  await becomes(async () => (await rows()).length, 2);
  await page.keyboard.press("Escape");
  await becomes(async () => (await rows()).length, 0, "Escape closes the list first");
  await dialog.waitFor();
  await branch.fill("fix/login");
  await dialog.getByText("This branch is checked out already, in “login <b>”. Choose another one.").waitFor();
  await dialog.getByRole("button", { name: "Make worktree" }).and(page.locator(":disabled")).waitFor();
  await branch.fill("logout");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await becomes(() => branch.inputValue(), "fix/logout");
  await dialog.getByText("This branch is there already, and is gone on with.").waitFor();
  equal(await dialog.getByRole("combobox", { name: "Start from" }).count(), 0, "it begins where it is");
  await branch.fill("fix/new");
  await dialog.getByRole("combobox", { name: "Start from" }).fill("v2");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  equal(mock.log.find((c) => c.name === "Channels.CreateWorktree").args[0].base, "v2");
});

test("each further try is a row, and so are the steps", async (page) => {
  await open(page, "docs");
  await send(page, "it retries");
  await page.getByText("The model is overloaded (529).").first().waitFor();
  await page.getByText("Tried again once, in vain").waitFor();
  await page.getByText("Compacting the conversation").waitFor();
  await page.getByText("Trying again with the compacted conversation.").waitFor();
  await page.getByText("1 of 3").waitFor();
  await page.getByText("Done", { exact: true }).waitFor();
});
