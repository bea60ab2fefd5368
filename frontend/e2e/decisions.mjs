// The record of decisions in its panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";
import { recordsOf } from "./mock/record.mjs";

const panel = (page) => page.getByRole("region", { name: "Decisions" });
const list = (page) => panel(page).getByRole("listbox", { name: "Decisions" });
const chosen = (page) => list(page).locator("[aria-selected=true]").getAttribute("title");

async function open(page) {
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("decisions of the gate");
  await page.keyboard.press("Enter");
  await panel(page).waitFor();
}

/** The tool calls that the timeline of the channel has. */
function fill(mock, name = "api-server", n = 3) {
  const ch = mock.channel(name);
  const tools = mock.world.events.get(ch.channel_id).filter((e) => e.type === "tool.use").map((e) => [e.run_id, e.data.tool_use_id]);
  mock.gate.record.list = recordsOf(ch, tools[0][0], [tools[0][1], tools[1][1]], n);
  return ch;
}

test("decisions: newest first by tool call, walked by J and K, with all that is known beside them", { size: [2000, 900] }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  fill(mock);
  await open(page);
  await until("the list has the keyboard by itself", () => page.evaluate(() => document.activeElement?.matches(".decisions-list")));
  await list(page).getByText("× 210").waitFor();
  await panel(page).getByText("Chain verified").waitFor();
  await panel(page).getByText("6 entries · 213 calls").waitFor();
  await page.keyboard.press("j");
  await becomes(() => chosen(page), "expired: connect to /run/user/1000/bus, by nobody answered");
  await page.keyboard.press("j");
  await becomes(() => chosen(page), "denied: read /home/ana/.netrc⟨RLO⟩, by credential.home");
  await page.keyboard.press("j");
  await becomes(() => chosen(page), "allowed: write to /home/ana/.gitconfig, by you, once");
  const detail = panel(page).locator(".decisions-right .decisions-detail");
  for (const part of ["Allowed once", "startup.git-home", "Asks before something writes", "version 27", "after 1 m 12 s", "/usr/bin/git, says it is git config --global", "4 of 6 on", "holds"]) await detail.getByText(part, { exact: false }).first().waitFor();
  await page.keyboard.press("c");
  await page.getByText("Entry copied.").waitFor();
  await page.keyboard.press("ArrowLeft");
  await list(page).getByText("× 210").waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await list(page).getByText("× 210").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.insertText("gitconfig");
  await becomes(() => list(page).getByRole("option").count(), 2, "rows that fit");
  await page.keyboard.insertText("nothing at all");
  await panel(page).getByRole("button", { name: "Show all" }).click();
  await panel(page).getByRole("button", { name: "Denied 2" }).click();
  await becomes(() => list(page).getByRole("option").count(), 4, "rows that were denied");
  equal(mock.gate.record.asked.filter((q) => q.decision === "refused").length, 1, "the record filters");
  await grab(list(page));
  await page.keyboard.press("End");
  await page.keyboard.press("t");
  await until("its tool call has the keyboard", () => page.evaluate(() => document.activeElement?.matches("article.tool")));
});

test("decisions: Escape closes the entry, then gives the keyboard back to where it was", async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  fill(mock);
  const box = page.getByRole("textbox", { name: /prompt/i }).first();
  await grab(box);
  await open(page);
  await until("the list has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".decisions-list")));
  await page.keyboard.press("j");
  await becomes(() => list(page).locator("[aria-selected=true]").count(), 1);
  await page.keyboard.press("/");
  await page.keyboard.press("Escape");
  await until("the list again", () => page.evaluate(() => document.activeElement?.matches(".decisions-list")));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await until("the prompt box has it back", () => box.evaluate((el) => el === document.activeElement));
  // Who came by the mouse goes back in the same way, also over a panel that covered this one.
  await page.getByRole("treeitem", { name: "storefront" }).focus();
  await list(page).getByText("gitconfig").click();
  await page.keyboard.press("m");
  await until("the editor has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".rules-editor textarea")));
  for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
  await until("the list is in front again", () => page.evaluate(() => document.activeElement?.matches(".decisions-list")));
  for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
  await until("the tree has it back", () => page.evaluate(() => document.activeElement?.textContent.includes("storefront")));
});

test("decisions: M begins the rule of an entry in the editor, where only the person saves it", { size: [2000, 1000] }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  fill(mock);
  await open(page);
  const rules = page.getByRole("region", { name: "Rules", exact: true });
  const editor = rules.getByRole("form", { name: "New rule" });
  const patterns = editor.getByRole("textbox", { name: "Files, one pattern" });
  const edits = () => mock.log.filter((c) => c.name === "GateRules.Edit").map((c) => JSON.parse(c.args[0].rule));
  await grab(list(page));
  for (const key of ["j", "j", "m"]) await page.keyboard.press(key);
  await page.getByText("Its name has characters that cannot be seen").waitFor();
  for (const key of ["End", "m"]) await page.keyboard.press(key);
  await page.getByText("This entry names no object that a rule could name.").waitFor();
  equal(await rules.count(), 0, "panels of rules");
  for (const key of ["k", "m"]) await page.keyboard.press(key);
  await until("the editor has the keyboard", () => patterns.evaluate((el) => el === document.activeElement));
  equal(await patterns.inputValue(), "/home/ana/.gitconfig", "the object");
  equal([await editor.getByRole("radio", { name: "Allow" }).isChecked(), await editor.getByRole("checkbox", { checked: true }).count()], [true, 1], "the decision, and the operation alone");
  await until("it can be saved", () => editor.getByRole("button", { name: "Save" }).isEnabled());
  equal(edits(), [], "rules before the person saves");
  // A rule that is being written is not lost to the next one.
  await patterns.fill("/home/ana/.gitconf*");
  await open(page);
  await until("the list has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".decisions-list")));
  for (const key of ["Home", "m"]) await page.keyboard.press(key);
  await page.getByText("Save or cancel the rule that you are writing first.").waitFor();
  await until("the editor has the keyboard again", () => patterns.evaluate((el) => el === document.activeElement));
  equal(await patterns.inputValue(), "/home/ana/.gitconf*", "what was written");
  await until("it can be saved still", () => editor.getByRole("button", { name: "Save" }).isEnabled());
  await page.keyboard.press("Control+Enter");
  await page.getByText("was saved. It counts from now on, also for programs that run.").waitFor();
  equal(edits(), [{ paths: ["/home/ana/.gitconf*"], operations: ["write"], decision: "allow" }], "rules that were saved");
});

test("decisions: nothing yet, a broken chain, a failure, and very many", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await open(page);
  await panel(page).getByText("Nothing was decided yet").waitFor();
  const ch = fill(mock);
  const { record } = mock.gate;
  record.breaks = [{ day: "2026-11-22", entry: 4, text: "Entry 4 does not follow 3." }];
  await panel(page).getByRole("button", { name: "Verify again" }).click();
  await panel(page).getByText("Entry 4 does not follow 3.").waitFor();
  // A new decision has the record read again.
  const first = record.list[0];
  const news = () => mock.world.emit("gate.decided", ch.channel_id, first.run_id, { channel_id: ch.channel_id, run_id: first.run_id, spawn_id: "s", unruled: 1 });
  news();
  await list(page).getByText("× 210").waitFor();
  await grab(list(page));
  for (const key of ["j", "j", "j"]) await page.keyboard.press(key);
  await panel(page).getByText("Entry 4 does not follow 3.").nth(1).waitFor(); // of the entry
  const many = (from, n) => Array.from({ length: n }, (_, i) => ({ ...first, id: `i${from + i}`, kind: "file", target: `/home/ana/f${from + i}`, calls: 1, hash: `h${from + i}` }));
  record.list = many(0, 9000);
  record.asked = [];
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("9,000 entries").waitFor();
  equal(record.asked.length, 1, "pages read");
  await grab(list(page));
  for (const last of [8800, 8600, 8400]) { // older ones come as the end is reached
    await until(`the entry f${last}`, async () => {
      await page.keyboard.press("End");
      return (await chosen(page)) === `allowed: write to /home/ana/f${last}, by plan.own`;
    });
  }
  ok((await list(page).getByRole("option").count()) < 120, "virtual");
  // What a person reads stays where it is when newer ones come.
  const read = record.asked.length;
  record.list.push(...many(9000, 1));
  news();
  await panel(page).getByRole("button", { name: "Newer entries have come" }).click();
  await list(page).getByText("/home/ana/f9000").waitFor();
  ok(record.asked.length > read, "the newest page is read");
  mock.world.failNext.set("GateLog.Page", { code: "internal", cause: "The record cannot be read.", remedy: "Try again." });
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("The record cannot be read.").waitFor();
  await panel(page).getByRole("button", { name: "Try again" }).click();
  await list(page).waitFor();
});

test("axe: decisions, wide and narrow", async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  fill(mock);
  await open(page);
  await list(page).getByText("× 210").waitFor();
  await grab(list(page));
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await clean(page, "decisions", { looks: CONTRAST });
});
