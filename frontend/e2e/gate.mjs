// Calls that the gate holds: their cards, their keys, and the way from one to the next.
import { clean, CONTRAST } from "./clean.mjs";
import { enter, opens, prompted, quiet, ready, sessions, typed } from "./dock-steps.mjs";
import { awake, becomes, equal, frames, grab, ok, test, until } from "./harness.mjs";
import { CONNECT, floodOf } from "./mock/gate.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const card = (page, name = "Write to a file outside the project") => page.getByRole("group", { name });
const answers = (mock) => mock.log.filter((c) => c.name === "Gate.Answer").map(({ args: [, { allow, scope, by }] }) => [allow, scope, by]);
const hasFocus = (locator) => locator.evaluate((el) => el === document.activeElement);

const apart = (page) => page.waitForTimeout(300); // F8 twice within a quarter of a second is the desk

async function held(page, mock, text = "git config and remember it") {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill(text);
  await page.keyboard.press("Enter");
  await card(page).waitFor();
  return mock.channel("docs & <b>notes</b>");
}

test("a held call: its card comes under its tool call, takes nothing, and is allowed by the chord alone", async (page, mock) => {
  await held(page, mock);
  equal(await hasFocus(prompt(page)), true, "the prompt box kept the keyboard");
  const row = page.locator("article.tool");
  await row.getByText("waiting for you").waitFor();
  equal(await page.locator("article").evaluateAll((all) => all.findIndex((el) => el.matches(".gate")) - all.findIndex((el) => el.matches(".tool"))), 1, "place of the card");
  await page.getByRole("treeitem", { name: "docs" }).getByText("needs you").waitFor();
  await becomes(() => page.title(), "(1) docs & <b>notes</b> · Loop");
  await page.getByText("The agent stands still until you answer.").waitFor();
  await page.getByRole("button", { name: "1 waiting for you" }).waitFor();
  // Keys at once after F8 do nothing, and neither does a held key, Enter or a number at any time.
  await page.keyboard.press("F8");
  await until("the card has the keyboard", () => hasFocus(card(page)));
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Escape");
  await awake(card(page));
  for (const key of ["Enter", "1", "2", "Shift+Enter", "y", "a"]) await page.keyboard.press(key);
  await grab(card(page).getByRole("button", { name: "Allow once" }));
  await awake(card(page));
  await page.keyboard.press("Enter");
  await frames(page);
  equal(answers(mock), [], "answers so far");
  await grab(card(page));
  await awake(card(page));
  await page.keyboard.press("r");
  await card(page).getByText("You denied one of these.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText("Git remembers it now.").waitFor();
  equal(answers(mock), [[true, "once", "window"]], "answers");
  await page.locator("article.gate").getByText("Allowed once").waitFor();
  equal(await page.evaluate(() => document.activeElement?.matches("article.gate")), true, "the item has the keyboard after its card");
  await becomes(() => page.title(), "docs & <b>notes</b> · Loop");
  await page.reload();
  await page.locator("article.gate").getByText("Allowed once").waitFor();
});

test("a held call: Escape denies once, a click counts half a second after the card has changed, and the menu only chooses", async (page, mock) => {
  await held(page, mock);
  const [id] = mock.gate.pending.keys();
  await awake(card(page));
  // Changed in the moment before the click.
  await page.evaluate(() => {
    const button = [...document.querySelectorAll("[data-approval] button")].find((b) => b.textContent.startsWith("Allow once"));
    new MutationObserver(() => button.click()).observe(document.querySelector("[data-approval]"), { attributes: true, attributeFilter: ["data-deaf"] });
  });
  mock.gate.change(id, { calls: 3 });
  await until("the card is deaf and clicked", () => card(page).evaluate((el) => el.dataset.deaf !== undefined));
  await card(page).getByText("3 calls, one question").waitFor();
  equal(answers(mock), [], "answers to a card that has just changed");
  mock.gate.end(id, "withdrawn");
  await page.locator("article.gate").getByText("Withdrawn: nothing waits for it any more").waitFor();
  await page.getByText("I was not allowed to").waitFor();

  await prompt(page).fill("git config and remember it again");
  await page.keyboard.press("Enter");
  await card(page).waitFor();
  await awake(card(page));
  await card(page).getByRole("button", { name: "Other answers that are remembered" }).click();
  await page.getByRole("menuitem", { name: "Deny for this project" }).click();
  await card(page).getByRole("radio", { name: "This project" }).waitFor();
  equal(answers(mock), [], "answers by choosing");
  await awake(card(page)); // the menu has renamed the button
  await card(page).getByRole("button", { name: "+5 min" }).click();
  await card(page).getByText(/denied in 9:\d\d/).waitFor();
  await card(page).getByRole("button", { name: "Deny for this project" }).click();
  await page.locator("article.gate").getByText("Denied for this project").waitFor();
  await prompt(page).fill("git config");
  await page.keyboard.press("Enter");
  await card(page).waitFor();
  await page.keyboard.press("F8");
  await until("the card has the keyboard", () => hasFocus(card(page)));
  await awake(card(page));
  await page.keyboard.press("Escape");
  await page.locator("article.gate").getByText("Denied once").waitFor();
  equal(answers(mock), [[false, "project", "window"], [false, "once", "window"]], "answers");
});

test("three held calls: F8 walks them, oldest first, through channels and terminals", async (page, mock) => {
  const api = mock.channel("api-server"), shop = mock.channel("storefront");
  mock.world.now = () => 1_790_000_000_000;
  mock.gate.ask(shop, { ...CONNECT, deadline: undefined });
  mock.world.now = () => 1_790_000_001_000;
  mock.gate.ask(api, { title: "Second", run_id: "a run" });
  mock.world.now = () => 1_790_000_002_000;
  mock.gate.ask(api, { title: "Third\u202e", run_id: "a run", target: `/home/ana/${"deep/".repeat(80)}end\n.sh` });
  await page.getByRole("button", { name: "3 waiting for you" }).waitFor();
  await page.keyboard.press("F8");
  const socket = card(page, "Connect to a local service");
  await until("the terminal's card, in its panel", () => hasFocus(socket));
  await page.getByRole("heading", { name: "storefront" }).waitFor();
  await socket.getByText("An answer to this is never remembered").waitFor();
  await page.getByRole("button", { name: "1 of 3 waiting for you" }).waitFor();
  await apart(page);
  await page.keyboard.press("F8");
  await until("the second", () => hasFocus(card(page, "Second")));
  await apart(page);
  await page.keyboard.press("F8");
  const third = card(page, /^Third/);
  await until("the third", () => hasFocus(third));
  ok((await third.innerText()).includes("RLO"), "a character that reorders is named");
  ok((await third.locator(".approval-subject").innerText()).replaceAll("\n", "").includes("endLF.sh"), "the end of the path is not there");
  await page.keyboard.press("Shift+F8");
  await until("back", () => hasFocus(card(page, "Second")));
  await awake(card(page, "Second"));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "2 waiting for you" }).waitFor();
  await page.keyboard.press("F8");
  await until("the oldest again", () => hasFocus(socket));
  mock.gate.end([...mock.gate.pending.keys()][0], "withdrawn");
  await page.getByRole("list", { name: "Answered last" }).getByText("Withdrawn").waitFor();
  ok(await page.evaluate(() => document.activeElement !== document.body), "the keyboard is lost with the card");
});

test("a held call of a program in a terminal: its pane says so, keeps the keyboard, and F8 leaves it", quiet, async (page, mock) => {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await prompted(page);
  await page.keyboard.press("F8"); // nothing is held, so it is the program's
  await until("the program has the key", () => typed(sessions(mock)[0]).endsWith("\x1b[19~"));
  const size = JSON.stringify([sessions(mock)[0].cols, sessions(mock)[0].rows]);
  mock.gate.ask(mock.channel("api-server"), CONNECT);
  const banner = page.locator(".term-held");
  await banner.getByText("node wants to connect to").waitFor();
  await ready(page);
  equal(JSON.stringify([sessions(mock)[0].cols, sessions(mock)[0].rows]), size, "size of the terminal");
  await clean(page, "terminal", { within: ".term-held" });
  await page.keyboard.press("F8");
  await until("the card has the keyboard", () => hasFocus(card(page, "Connect to a local service")));
  ok(!typed(sessions(mock)[0]).endsWith("\x1b[19~\x1b[19~"), "the program had the key too");
  await awake(card(page, "Connect to a local service"));
  await page.keyboard.press("Escape");
  await banner.waitFor({ state: "detached" });
  equal(answers(mock), [[false, "once", "window"]], "answers");
  await page.getByText("Nothing waits").waitFor();
});

test("a new held call moves nothing that is read", { scenario: "long" }, async (page, mock) => {
  const ch = mock.channel("monorepo");
  await page.getByRole("treeitem", { name: "monorepo" }).click();
  await page.getByText("Task 700").waitFor();
  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, -900);
  await page.getByRole("button", { name: "jump to the newest" }).waitFor();
  const scroller = page.locator(".scroller");
  const seen = () => scroller.evaluate((el) => [...el.querySelectorAll("article")].map((a) => [a.ariaPosInSet, Math.round(a.getBoundingClientRect().top)]).filter(([, y]) => y > 80 && y < 500));
  let before = [];
  await until("it rests", async () => {
    const was = JSON.stringify(before);
    await frames(page, 10);
    before = await seen();
    return before.length > 0 && JSON.stringify(before) === was;
  });
  mock.gate.ask(ch, { tool_use_id: "b699", run_id: "last" });
  await page.getByRole("button", { name: "1 waiting for you" }).waitFor();
  await frames(page, 10);
  equal(await seen(), before, "what is read");
});

const flooded = (page) => page.getByRole("group", { name: /^This run is paused/ });
const sent = (mock) => mock.log.filter((c) => c.name === "Gate.Answer").flatMap(({ args: [, { groups }] }) => [(groups ?? []).map((g) => `${g.id} ${g.verdict}`)]);

test("a run that asks too much: its groups are walked and chosen by keys, only the chord sends, and answered ones leave", { quietErrors: true }, async (page, mock) => {
  const ch = await held(page, mock);
  await page.keyboard.press("F8");
  await until("the card has the keyboard", () => hasFocus(card(page)));
  const [first] = mock.gate.pending.keys();
  const run = [...mock.world.runs.values()].at(-1);
  const { a } = mock.gate.ask(ch, floodOf(), run);
  mock.gate.end(first, "gathered");
  // The card that had the keyboard has gone over into this one, so this one has it now.
  await until("the flood's card has the keyboard", () => hasFocus(flooded(page)));
  equal(await page.locator("article.gate").count(), 1, "rows of held calls");
  await flooded(page).getByText("it asked 23 times in 36 s").waitFor();
  await flooded(page).getByText("Nothing is chosen yet.").waitFor();
  await flooded(page).getByText("and 3 more processes").waitFor();
  await awake(flooded(page));
  for (const key of ["Control+Enter", "Enter", "1", "y", " "]) await page.keyboard.press(key);
  equal(sent(mock), [], "answers with nothing chosen");
  const at = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  await page.keyboard.press("ArrowDown");
  await becomes(at, "14 calls: write to /home/ana/.npm/_prebuilds/**, no answer chosen");
  await page.keyboard.press("ArrowRight");
  await flooded(page).getByText("Show 11 more").waitFor();
  await page.keyboard.press("a");
  await becomes(at, "14 calls: write to /home/ana/.npm/_prebuilds/**, chosen: Allow in this run");
  await page.keyboard.press("End");
  await page.keyboard.press("o"); // a credential is never asked about for longer, so this is nothing
  await becomes(at, "1 call: read /home/ana/.npmrc, no answer chosen");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("d");
  await becomes(at, "2 calls: run /tmp/prebuild-7/bin/vips *, chosen: Deny");
  await flooded(page).getByText("2 of 4 groups have no answer yet; their 7 calls stay held.").waitFor();
  equal(sent(mock), [], "answers by choosing");
  await page.keyboard.press("Control+Enter");
  await until("they are sent", () => sent(mock).length === 1);
  equal(sent(mock), [["g-files run", "g-program deny"]], "what is sent");
  await page.getByRole("button", { name: "Deny all 7" }).waitFor();
  equal(await flooded(page).locator("[data-group]").count(), 2, "groups that are left");
  // A group that has changed meanwhile is answered by nothing.
  const secret = flooded(page).getByRole("group", { name: /npmrc/ });
  await secret.getByRole("button", { name: "Allow once" }).click();
  mock.world.failNext.set("Gate.Answer", { code: "conflict", cause: "The calls that wait are others than were shown.", remedy: "Look at the groups again, then answer." });
  await page.keyboard.press("Control+Enter");
  await flooded(page).getByText("The calls that wait are others than were shown.").waitFor();
  await flooded(page).getByRole("group", { name: /gvfsd/ }).getByRole("button", { name: "One by one" }).click();
  await page.keyboard.press("Control+Enter");
  await page.locator("article.gate").getByText("21 allowed, 2 denied").waitFor();
  await page.getByRole("button", { name: /of 6 waiting for you|6 waiting for you/ }).waitFor();
  equal([...mock.gate.pending.values()].some((x) => x.approval_id === a.approval_id), false, "the flood waits");
});

test("a run that asks too much: Escape denies all", async (page, mock) => {
  const ch = await held(page, mock);
  for (const id of mock.gate.pending.keys()) mock.gate.end(id, "gathered");
  mock.gate.ask(ch, floodOf(), [...mock.world.runs.values()].at(-1));
  await flooded(page).waitFor();
  await page.keyboard.press("F8");
  await until("the card has the keyboard", () => hasFocus(flooded(page)));
  await page.keyboard.press("Escape"); // too early
  await awake(flooded(page));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("a");
  await page.keyboard.press("Escape");
  await page.locator("article.gate").getByText("Denied once").waitFor();
  equal(answers(mock), [[false, "once", "window"]], "answers");
});

test("the panel of what waits: Escape gives the keyboard back, also to who came by the mouse", async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const panel = page.getByRole("region", { name: "Waiting for you" });
  await grab(prompt(page));
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("what waits for you");
  await page.keyboard.press("Enter");
  await until("the panel has the keyboard", () => hasFocus(panel));
  await page.keyboard.press("Escape");
  await until("the prompt box has it back", () => hasFocus(prompt(page)));
  const row = page.getByRole("treeitem", { name: "api-server" });
  await row.focus();
  await panel.getByText("Nothing waits").click();
  await until("the panel has the keyboard again", () => hasFocus(panel));
  await page.keyboard.press("Escape");
  await until("the tree has it back", () => hasFocus(row));
});

test("axe: held calls, their rule, a run that asks too much, and nothing that waits", async (page, mock) => {
  const ch = await held(page, mock);
  await card(page).getByRole("button", { name: "Show the rule" }).click();
  await awake(card(page));
  await clean(page, "card", { looks: CONTRAST });
  mock.gate.ask(ch, CONNECT);
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("what waits for you");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Waiting for you" }).waitFor();
  await awake(card(page, "Connect to a local service"));
  await clean(page, "panel", { looks: CONTRAST });
  for (const id of mock.gate.pending.keys()) mock.gate.end(id, "expired");
  await page.getByText("Nothing waits").waitFor();
  const flood = mock.gate.ask(ch, floodOf(), [...mock.world.runs.values()].at(-1)).a;
  await page.getByRole("button", { name: "Deny all 23" }).waitFor();
  await clean(page, "flood", { looks: CONTRAST });
  mock.gate.end(flood.approval_id, "broken");
  mock.world.emit("gate.status", "", "", { state: "broken", text: "broken: no reply", why: "Restart the container." });
  await page.getByRole("button", { name: "Gate broken: no reply" }).waitFor();
  await clean(page, "over", { looks: CONTRAST });
});

test("gate: a channel says that you drive its browser while its agent waits", async (page, mock) => {
  const ch = mock.channel("infra");
  const row = page.getByRole("treeitem", { name: "infra" });
  const drives = (on) => mock.world.emit("browser.held", ch.channel_id, "", { held: on });
  await row.getByText("failed").waitFor();
  const before = (await page.locator(".statusbar .need").allInnerTexts()).length;
  equal(before, 0, "who needs the person");
  drives(true);
  await row.getByText("you drive").waitFor();
  await page.getByRole("button", { name: "1 needs you" }).waitFor();
  await page.getByRole("button", { name: /^1 waiting for you/ }).waitFor();
  await clean(page, "a channel that is driven");
  await page.keyboard.press("F8");
  await page.getByRole("tab", { name: "Browser" }).waitFor();
  equal(await row.getAttribute("aria-selected"), "true", "the channel is shown");
  drives(false);
  await row.getByText("failed").waitFor();
  await becomes(() => page.locator(".statusbar .need").count(), 0);
  const demo = mock.world.addChannel("Demo", "/home/ana/.loop/channels/demo/work", "demo");
  mock.world.emit("browser.held", demo.channel_id, "", { held: true });
  await page.getByRole("button", { name: /^Demo channel/ }).getByText("you drive").waitFor();
});
