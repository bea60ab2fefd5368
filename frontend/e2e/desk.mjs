// The desk: all channels on one screen, and the queue of what waits, answered by the keyboard.
import { clean, CONTRAST, MENU } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { CONNECT } from "./mock/gate.mjs";
import { openWindow } from "./window.mjs";

const desk = (page) => page.getByRole("region", { name: "Desk" });
const queue = (page) => desk(page).getByRole("group", { name: "Needs you", exact: true });
const framed = (page) => desk(page).locator("[data-desk][aria-current=true]");
const gateAnswers = (mock) => mock.log.filter((c) => c.name === "Gate.Answer").map(({ args: [, { allow, scope }] }) => [allow, scope]);
const answers = (mock) => mock.log.filter((c) => c.name === "Runs.Answer").map((c) => c.args[1]);
const awake = (page) => page.waitForTimeout(650); // keys count half a second after a change

async function send(page, channel, text) {
  await page.getByRole("treeitem", { name: channel }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill(text);
  await page.keyboard.press("Enter");
}

async function threeWait(page, mock) {
  await send(page, "docs", "make a plan");
  await page.getByRole("region", { name: "The agent has a plan" }).waitFor();
  await send(page, "infra", "git config and remember it");
  await page.getByRole("group", { name: "Write to a file outside the project" }).waitFor();
  const storefront = mock.channel("storefront");
  mock.world.ask({ run_id: "r-one", channel_id: storefront.channel_id }, "ask_user", { questions: [{ question: "When should a guest give the address?", options: [{ label: "Before payment", description: "needed for tax" }, { label: "After payment", description: "two fields fewer" }] }] });
}

test("desk: F8 twice opens it; numbers choose, one denies, and only the chord allows", { size: [1440, 900] }, async (page, mock) => {
  await threeWait(page, mock);
  await page.keyboard.press("F8");
  await page.keyboard.press("F8");
  await desk(page).waitFor();
  await becomes(() => queue(page).getByRole("article").count(), 3, "cards");
  await becomes(() => framed(page).evaluate((el) => el === document.activeElement), true, "the framed card has the keyboard");
  ok(await framed(page).getByText("Write to a file outside the project").isVisible(), "the one with a deadline is first");
  await page.keyboard.press("2");
  await page.keyboard.press("Control+Enter");
  equal(gateAnswers(mock), [], "answers at once after it opened");
  await awake(page);
  await clean(page, "the desk", { looks: CONTRAST });
  await page.keyboard.press("3");
  await framed(page).getByText("Chosen: For this run.").waitFor();
  equal(gateAnswers(mock), [], "a number alone answers nothing");
  await page.keyboard.press("Control+Enter");
  await becomes(() => queue(page).getByRole("article").count(), 2, "cards");
  equal(gateAnswers(mock), [[true, "run"]], "answers");
  await becomes(() => framed(page).evaluate((el) => el === document.activeElement), true, "the next card has the keyboard");
  ok(await framed(page).getByText(/A plan in/).isVisible(), "the oldest is next");
  await page.keyboard.press("1");
  equal(answers(mock).length, 0, "answers at once after the card before went");
  await awake(page);
  await page.keyboard.press("j");
  await framed(page).getByText("When should a guest give the address?").waitFor();
  await page.keyboard.press("2");
  await framed(page).getByRole("radio", { name: /After payment/ }).isChecked();
  await framed(page).getByRole("radio", { name: /After payment/ }).focus();
  await page.keyboard.press("k"); // another card, though an option has the keyboard
  await framed(page).getByText(/A plan in/).waitFor();
  await page.keyboard.press("j");
  await framed(page).getByText("When should a guest give the address?").waitFor();
  await page.keyboard.press("Control+Enter");
  await becomes(() => queue(page).getByRole("article").count(), 1, "cards");
  equal(answers(mock), [{ action: "answer", choices: [["After payment"]], texts: [""] }], "answer");
  await awake(page);
  await page.keyboard.press("Home");
  await page.keyboard.press("1");
  await queue(page).getByText("Nobody waits for you.").waitFor();
  equal(answers(mock).at(-1), { action: "cancel" }, "the plan was declined");
});

test("desk: a held call is denied by one key; Enter opens and never allows; Esc goes back", { size: [1440, 900] }, async (page, mock) => {
  await send(page, "infra", "git config and remember it");
  await page.getByRole("group", { name: "Write to a file outside the project" }).waitFor();
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByRole("button", { name: /^Desk/ }).click();
  await desk(page).waitFor();
  await becomes(() => framed(page).evaluate((el) => el === document.activeElement), true, "the framed card has the keyboard");
  await awake(page);
  await page.keyboard.press("Escape");
  await page.getByText("Fixed.").waitFor();
  await page.getByRole("button", { name: /^Desk/ }).click();
  await awake(page);
  await page.keyboard.press("Enter");
  await until("the card in its timeline has the keyboard", () => page.getByRole("group", { name: "Write to a file outside the project" }).evaluate((el) => el === document.activeElement));
  equal(gateAnswers(mock), [], "answers");
  await page.getByRole("button", { name: /^Desk/ }).click();
  await awake(page);
  await page.keyboard.press("1");
  await queue(page).getByText("Nobody waits for you.").waitFor();
  equal(gateAnswers(mock), [[false, "once"]], "answers");
});

test("desk: what ended is marked as seen, what works is told, and many are lines", { size: [1440, 900] }, async (page, mock) => {
  await page.getByRole("button", { name: /^Desk/ }).click();
  await desk(page).waitFor();
  const storefront = mock.channel("storefront");
  const run = { run_id: "r-end", channel_id: storefront.channel_id };
  mock.world.emit("message.created", run.channel_id, run.run_id, { msg_id: "m", content: "Tidy up.", is_bot: false });
  mock.world.emit("agent.status", run.channel_id, run.run_id, { status: "running", state: "running" });
  const file = (path, alarm) => ({ path: `${storefront.dir}/${path}`, kind: "edit", added: 1, removed: 0, ...(alarm && { alarm }) });
  mock.world.emit("tool.use", run.channel_id, run.run_id, { tool_use_id: "t-end", tool_name: "MultiEdit", input: {} });
  mock.world.emit("tool.result", run.channel_id, run.run_id, { tool_use_id: "t-end", output: "ok", is_error: false, files: [file("shop.ts"), file(".github/workflows/ci.yml", "CI workflow"), file(".husky/pre-commit", "Git hook")] });
  mock.world.emit("agent.status", run.channel_id, run.run_id, { status: "completed", state: "done", result: "All tidy now.", duration_ms: 5000, cost_usd: 0.0312 });
  storefront.last_event_id = 1e9;
  storefront.state = "done";
  mock.world.emit("channel.updated", run.channel_id, "", mock.world.view(storefront));
  const done = desk(page).getByRole("group", { name: "Finished, not looked at" });
  await done.getByText("All tidy now.").waitFor();
  await done.getByText("$0.03").waitFor();
  await done.getByText("Touched: CI workflow, Git hook").waitFor();
  await done.getByText("Look at them before you accept them.").waitFor();
  await clean(page, "an end that nobody has looked at", { looks: CONTRAST });
  await done.getByRole("article").focus();
  await page.keyboard.press("s");
  await becomes(() => done.count(), 0, "groups");
  for (let i = 0; i < 20; i++) mock.gate.ask(storefront, { ...CONNECT, target: `/run/socket-${i}` });
  await becomes(() => queue(page).getByRole("article").count(), 20, "cards");
  await becomes(() => queue(page).locator(".desk-line").count(), 19, "lines");
  await page.setViewportSize({ width: 320, height: 700 });
  await clean(page, "the desk where it is narrow");
  equal(await desk(page).evaluate((el) => el.scrollWidth - el.clientWidth), 0, "hidden to the right");
});

test("desk: of many that ended, each line says what it touched beyond the project", { size: [1440, 900] }, async (page, mock) => {
  const dir = "/home/ana/src/shop";
  const file = { path: `${dir}/.github/workflows/ci.yml`, kind: "edit", added: 1, removed: 0, alarm: "CI workflow" };
  for (let i = 0; i < 8; i++) {
    const ch = mock.world.addChannel(`shop-${i}`, dir);
    const emit = (type, data) => mock.world.emit(type, ch.channel_id, `r-${i}`, data);
    emit("message.created", { msg_id: `m-${i}`, content: "Tidy up.", is_bot: false });
    emit("tool.use", { tool_use_id: `t-${i}`, tool_name: "MultiEdit", input: {} });
    emit("tool.result", { tool_use_id: `t-${i}`, output: "ok", is_error: false, files: i === 0 ? [file] : [] });
    emit("agent.status", { status: "completed", state: "done", result: "Tidy.", duration_ms: 5000 });
    Object.assign(ch, { last_event_id: 1e9, state: "done" });
    mock.world.emit("channel.updated", ch.channel_id, "", mock.world.view(ch));
  }
  await page.getByRole("button", { name: /^Desk/ }).click();
  const done = desk(page).getByRole("group", { name: "Finished, not looked at" });
  await becomes(() => done.locator(".desk-line").count(), 8, "lines");
  const line = done.locator(".desk-line", { hasText: "shop-0" });
  await line.getByText("Touched: CI workflow").waitFor();
  equal(await done.getByText("Touched:").count(), 1, "alarms");
  await line.getByText("Look at them before you accept them.").waitFor({ state: "attached" });
  await clean(page, "lines with an alarm", { looks: CONTRAST });
  await page.setViewportSize({ width: 320, height: 700 });
  await clean(page, "lines with an alarm where it is narrow");
  ok((await line.locator(".desk-alarm").evaluate((el) => el.clientWidth)) > 60, "the alarm is in sight");
});

test("desk: r opens the review of the card's channel", { size: [1440, 900] }, async (page, mock) => {
  mock.reviews.run = { files: [{ path: "internal/auth/login.go" }] };
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").first().waitFor();
  await page.getByRole("button", { name: /^Desk/ }).click();
  await desk(page).locator(`[data-desk="${mock.channel("api-server").channel_id}"]`).focus();
  await page.keyboard.press("r");
  await page.getByRole("region", { name: "Review", exact: true }).getByText("login.go").first().waitFor();
  const scope = mock.log.findLast((c) => c.name === "Review.Status").args[1];
  ok(scope.kind === "run" && scope.from, `the run: ${JSON.stringify(scope)}`);
  await until("the list has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".review-list")));
});

test("desk: what rings is chosen for the framed card's channel", { size: [1440, 900], open: (page, mock) => { mock.world.mode = "window"; return openWindow(page, mock); }, quietErrors: true }, async (page, mock) => {
  await page.getByRole("button", { name: /^Desk/ }).click();
  await desk(page).waitFor();
  const storefront = mock.channel("storefront");
  await desk(page).locator(`[data-desk="${storefront.channel_id}"]`).focus();
  const menu = page.getByRole("button", { name: "Rings for needs you, failed, done, of storefront" });
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitemradio", { name: "as in the settings: needs you, failed, done" }).waitFor();
  await clean(page, "the menu of what rings", { within: MENU, looks: CONTRAST });
  await page.getByRole("menuitemradio", { name: "needs you, failed", exact: true }).press("Enter");
  const after = page.getByRole("button", { name: "Rings for needs you, failed, of storefront" });
  await after.waitFor();
  await until("the button has the keyboard again", () => after.evaluate((el) => el === document.activeElement));
  equal(mock.log.find((c) => c.name === "Channels.Choose").args, [storefront.channel_id, { notify: "problems" }]);
});
