// The rules of the gate in their panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, grab, test, until } from "./harness.mjs";
import { SUGGESTED } from "./mock/rules.mjs";

const panel = (page) => page.getByRole("region", { name: "Rules", exact: true });
const list = (page) => panel(page).getByRole("grid", { name: "Rules of the gate" });
const chosen = (page) => list(page).locator("[aria-selected=true] .rules-number").innerText();
const numbers = (page) => list(page).locator(".rules-number").count();
const editor = (page) => panel(page).getByRole("form");
const field = (page) => panel(page).getByRole("textbox", { name: "What to test" });

async function open(page) {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("rules of the gate");
  await page.keyboard.press("Enter");
  await panel(page).waitFor();
}

test("rules: in the order in which they count, tested, moved, deleted and undone by keys", { size: [2000, 900], quietErrors: true }, async (page) => {
  await open(page);
  await list(page).waitFor();
  await becomes(() => list(page).evaluate((el) => el === document.activeElement), true, "the palette has given the list the keyboard");
  equal(await numbers(page), 8, "rules");
  await list(page).getByText("Rule 3 matches everything this rule does").waitFor();
  for (const key of ["j", "j", "j", "j"]) await page.keyboard.press(key);
  await becomes(() => chosen(page), "4");
  await page.keyboard.press("k");
  await becomes(() => chosen(page), "3");
  await page.keyboard.press("t");
  await until("the field has a call of the rule", async () => (await field(page).inputValue()) === "~/.cache/go-build/x");
  await panel(page).getByText("No: allowed without a question").waitFor();
  await becomes(() => list(page).locator(".rules-row.decides .rules-number").innerText(), "3");
  await field(page).fill("~/.bashrc");
  await panel(page).getByText("Yes: you are asked").waitFor();
  await becomes(() => list(page).locator(".rules-row.decides .rules-number").innerText(), "6");
  await field(page).fill("~/");
  await panel(page).getByText("That names a folder.").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await list(page).getByRole("button", { name: "Move above 3" }).click();
  await list(page).getByText("Rule 3 matches everything").waitFor({ state: "detached" });
  await becomes(() => chosen(page), "3");
  await grab(list(page));
  await page.keyboard.press("Alt+ArrowDown");
  await becomes(() => chosen(page), "4");
  await page.keyboard.press("Delete");
  await page.getByText("Rule 4 was deleted.").waitFor();
  await becomes(() => numbers(page), 7, "one less");
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await becomes(() => numbers(page), 8, "back again");
  await grab(list(page));
  await page.keyboard.press("Home");
  await page.keyboard.press("Delete");
  await page.getByText("This rule is Loop's own and stays.").waitFor();
  await page.keyboard.press("Enter");
  equal(await editor(page).count(), 0, "editors of a rule that stays");
  await page.keyboard.press("/");
  await page.keyboard.insertText("bashrc");
  await becomes(() => numbers(page), 1, "rules that fit");
  await page.keyboard.insertText("nothing at all");
  await panel(page).getByRole("button", { name: "Show all" }).click();
});

test("rules: the mode of a channel, files that wait or cannot be read, and a failure", { quietErrors: true }, async (page, mock) => {
  mock.world.failNext.set("GateRules.List", { code: "internal", cause: "The rules cannot be read.", remedy: "Try again." });
  await open(page);
  await panel(page).getByText("The rules cannot be read.").waitFor();
  await panel(page).getByRole("button", { name: "Try again" }).click();
  const modes = panel(page).getByRole("group", { name: "Mode of this channel" });
  await modes.getByRole("button", { name: "Shadow" }).click();
  await page.locator(".statusbar .need", { hasText: "Gate only watches here" }).waitFor();
  await field(page).fill("~/.bashrc");
  await panel(page).getByText("Enforced, it would be asked").waitFor();
  await panel(page).getByRole("button", { name: "As the settings say" }).click();
  await page.locator(".statusbar").getByText("Gate on").waitFor();
  const { rules } = mock.gate;
  rules.files = [{ origin: "yours", path: "/home/ana/.loop/config.json", last_good: true, problems: [{ path: "", line: 7, col: 1, field: "", message: "a comma is missing", remedy: "Add one.", warning: false }] },
    { origin: "project", path: "/srv/api-server/.loop/config.json", waiting: ["env"], channel_id: mock.channel("api-server").channel_id }];
  mock.world.emit("gate.rules", "", "", null);
  await panel(page).getByRole("alert").getByText("line 7: a comma is missing").waitFor();
  await list(page).getByText("1 setting waits for approval").waitFor();
  await list(page).getByRole("button", { name: "Review the file" }).click();
  await page.getByRole("dialog").waitFor();
});

test("rules: a new one by keys, with what it would have matched, undone, and the keyboard given back", { size: [2000, 1000], quietErrors: true }, async (page) => {
  const before = page.getByRole("treeitem", { name: "api-server" });
  await open(page);
  await list(page).waitFor();
  await becomes(() => list(page).evaluate((el) => el === document.activeElement), true, "the list has the keyboard");
  await page.keyboard.press("n");
  await editor(page).getByText("Write which files it is about.").waitFor();
  const save = editor(page).getByRole("button", { name: "Save" });
  equal(await save.isDisabled(), true, "nothing can be saved yet");
  await page.keyboard.insertText("~/.cache/**");
  await editor(page).getByText("a pattern begins with “/”").waitFor();
  await editor(page).getByText("Write /home/* in place of “~”").waitFor();
  const patterns = editor(page).getByRole("textbox", { name: "Files, one pattern" });
  await patterns.fill("/home/ana/.ssh/**");
  await editor(page).getByRole("radio", { name: "Allow" }).check();
  await editor(page).getByText("never allowed for good").waitFor();
  await page.keyboard.press("Control+Enter");
  equal(await numbers(page), 8, "rules, while it cannot be saved");
  await patterns.fill("/home/*/.cache/go-build/**");
  await editor(page).getByText("It leaves nothing for rule 3").waitFor();
  await editor(page).getByText("It leaves nothing for rule 4").waitFor();
  await patterns.fill("/home/ana/.cache/pip/**");
  await editor(page).getByText("Would have matched 2 of the last 120 decisions.").waitFor();
  equal(await editor(page).getByRole("region", { name: "What it would have matched" }).getByRole("listitem").count(), 2, "matches that are listed");
  await page.keyboard.press("Escape");
  await page.getByText("The rule was not saved.").waitFor();
  await page.getByRole("status").getByRole("button", { name: "Go on" }).click();
  await until("the text is there again", async () => (await patterns.inputValue()) === "/home/ana/.cache/pip/**");
  await editor(page).getByRole("combobox", { name: "It holds" }).selectOption("Everywhere");
  await until("it can be saved", () => save.isEnabled());
  await page.keyboard.press("Control+Enter");
  await page.getByText("Rule 3 was saved.").waitFor();
  await becomes(() => numbers(page), 9, "one more");
  await becomes(() => chosen(page), "3");
  await page.keyboard.press("u");
  await becomes(() => numbers(page), 8, "taken back");
  await page.keyboard.press("Escape");
  await becomes(() => before.evaluate((el) => el === document.activeElement), true, "the keyboard is back where it was");
});

test("rules: one is changed, turned off and on, and one is suggested", { size: [2000, 1000], quietErrors: true }, async (page, mock) => {
  mock.gate.rules.suggested = SUGGESTED;
  await open(page);
  await grab(list(page));
  for (const key of ["j", "j", "j", "j", " "]) await page.keyboard.press(key);
  await page.getByText("Rule 4 is off.").waitFor();
  await list(page).getByText("This rule is off: it counts for nothing.").waitFor();
  await panel(page).getByRole("button", { name: "Off 1" }).click();
  await becomes(() => numbers(page), 1, "rules that are off");
  await panel(page).getByRole("button", { name: "All" }).click();
  await list(page).getByRole("button", { name: "Turn on" }).click();
  await page.getByText("Rule 4 is on.").waitFor();
  await grab(list(page));
  await page.keyboard.press("Enter");
  const patterns = editor(page).getByRole("textbox", { name: "Files, one pattern" });
  equal([await patterns.inputValue(), await editor(page).getByRole("combobox", { name: "Kind" }).isDisabled()], ["/home/*/.cache/go-build/trim.txt", true], "the rule as it is");
  await editor(page).getByText("Rule 3 (").waitFor();
  await editor(page).getByRole("textbox", { name: "Reason" }).fill("It is rebuilt.");
  await patterns.fill("/home/*/.cache/other/**");
  await editor(page).getByText("so it would never count").waitFor({ state: "detached" });
  await until("it can be saved", () => editor(page).getByRole("button", { name: "Save" }).isEnabled());
  await page.keyboard.press("Control+Enter");
  await page.getByText("Rule 4 was saved.").waitFor();
  await list(page).getByText("/home/*/.cache/other/**").waitFor();
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await list(page).getByText("~/.cache/go-build/trim.txt").waitFor();
  await grab(list(page));
  await page.keyboard.press("2");
  await until("the suggestion is in the editor", async () => (await patterns.inputValue()) === "/home/ana/.npmrc");
  equal(await numbers(page), 8, "nothing is saved unseen");
  await page.keyboard.press("Escape");
  await becomes(() => list(page).evaluate((el) => el === document.activeElement), true, "the list has the keyboard again");
  await panel(page).getByText("You allowed 41 questions like this by hand, in 4 runs.").waitFor();
});

test("axe: a rule that is written", { quietErrors: true }, async (page, mock) => {
  mock.gate.rules.suggested = SUGGESTED;
  await open(page);
  await grab(list(page));
  await panel(page).getByText("You allowed 41 questions").waitFor();
  await clean(page, "suggestions", { looks: CONTRAST });
  for (const key of ["j", "j", "j", "j", " "]) await page.keyboard.press(key);
  await page.getByText("Rule 4 is off.").waitFor();
  await page.keyboard.press("1");
  await editor(page).getByText("Would have matched 2 of").waitFor();
  await clean(page, "the editor", { looks: CONTRAST });
  await editor(page).getByRole("textbox", { name: "Files, one pattern" }).fill("x");
  await editor(page).getByText("a pattern begins with").waitFor();
  await clean(page, "an error in the editor", { looks: CONTRAST });
});

test("axe: rules", async (page) => {
  await open(page);
  await field(page).fill("~/.bashrc");
  await panel(page).getByText("Yes: you are asked").waitFor();
  await list(page).getByText("shadowed", { exact: true }).click();
  await clean(page, "rules", { looks: CONTRAST });
});
