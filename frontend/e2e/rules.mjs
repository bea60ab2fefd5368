// The rules of the gate in their panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, grab, test, until } from "./harness.mjs";

const panel = (page) => page.getByRole("region", { name: "Rules", exact: true });
const list = (page) => panel(page).getByRole("grid", { name: "Rules of the gate" });
const chosen = (page) => list(page).locator("[aria-selected=true] .rules-number").innerText();
const numbers = (page) => list(page).locator(".rules-number").count();
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
  await grab(list(page));
  equal(await numbers(page), 8, "rules");
  await list(page).getByText("Rule 3 matches everything this rule does").waitFor();
  for (const key of ["j", "j", "j", "j"]) await page.keyboard.press(key);
  await becomes(() => chosen(page), "4");
  await page.keyboard.press("k");
  await becomes(() => chosen(page), "3");
  await page.keyboard.press("Enter");
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

test("axe: rules", async (page) => {
  await open(page);
  await field(page).fill("~/.bashrc");
  await panel(page).getByText("Yes: you are asked").waitFor();
  await list(page).getByText("shadowed", { exact: true }).click();
  await clean(page, "rules", { looks: CONTRAST });
});
