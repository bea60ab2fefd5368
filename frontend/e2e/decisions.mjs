// The record of decisions in its panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";
import { recordsOf } from "./mock/gate.mjs";

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
  mock.gate.records = recordsOf(ch, tools[0][0], [tools[0][1], tools[1][1]], n);
  mock.gate.files = [{ file: `${ch.channel_id}-2026-11-22.jsonl`, channel_id: ch.channel_id, records: 6 }];
  return ch;
}

test("decisions: grouped by tool call, walked by J and K, with all that is known beside them", { size: [2000, 900] }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  fill(mock);
  await open(page);
  await grab(list(page));
  await list(page).getByText("× 210").waitFor();
  await panel(page).getByText("Chain verified").waitFor();
  await page.keyboard.press("j");
  await becomes(() => chosen(page), "allowed: write to calls that plan.own covers, by plan.own");
  await page.keyboard.press("j");
  await becomes(() => chosen(page), "allowed: write to /home/ana/.gitconfig, by you, once");
  const detail = panel(page).locator(".decisions-right .decisions-detail");
  for (const part of ["Allowed once", "startup.git-home", "version 27", "after 1 m 12 s", "git config --global"]) await detail.getByText(part, { exact: false }).first().waitFor();
  await page.keyboard.press("m");
  await page.getByText("Rule copied. It belongs into gates.agentgate.file_rules").waitFor();
  equal(await page.evaluate(() => navigator.clipboard.readText()), '{"paths":["/home/ana/.gitconfig"],"operations":["write"],"decision":"allow"}', "the rule");
  await page.keyboard.press("c");
  await page.getByText("Entry copied.").waitFor();
  await page.keyboard.press("j");
  await becomes(() => chosen(page), "denied: read /home/ana/.netrc⟨RLO⟩, by credential.home");
  await page.keyboard.press("ArrowLeft");
  await list(page).getByText("denied", { exact: true }).waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await list(page).getByText("denied", { exact: true }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.insertText("gitconfig");
  await becomes(() => list(page).getByRole("option").count(), 2, "rows that fit");
  await page.keyboard.insertText("nothing at all");
  await panel(page).getByRole("button", { name: "Show all" }).click();
  await panel(page).getByRole("button", { name: "Denied 2" }).click();
  await becomes(() => list(page).getByRole("option").count(), 4, "rows that were denied");
  await grab(list(page));
  await page.keyboard.press("Home");
  await page.keyboard.press("t");
  await until("its tool call has the keyboard", () => page.evaluate(() => document.activeElement?.matches("article.tool")));
});

test("decisions: nothing yet, a broken chain, a failure, and very many", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await open(page);
  await panel(page).getByText("Nothing was decided yet").waitFor();
  const ch = fill(mock);
  mock.gate.files[0].broken = "line 1188 does not follow line 1187";
  await panel(page).getByRole("button", { name: "Verify again" }).click();
  await panel(page).getByText("line 1188 does not follow line 1187").waitFor();
  // A new decision has the record read again.
  mock.world.emit("gate.decided", ch.channel_id, mock.gate.records[0].run_id, { channel_id: ch.channel_id, run_id: mock.gate.records[0].run_id, spawn_id: "s", unruled: 1 });
  await list(page).getByText("× 210").waitFor();
  mock.gate.records = Array.from({ length: 9000 }, (_, i) => ({ ...mock.gate.records[0], kind: "file", target: `/home/ana/f${i}`, calls: 1, hash: `h${i}` }));
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("9,000 entries").waitFor();
  await grab(list(page));
  await page.keyboard.press("End");
  await becomes(() => chosen(page), "allowed: write to /home/ana/f8999, by plan.own");
  ok((await list(page).getByRole("option").count()) < 120, "virtual");
  mock.world.failNext.set("GateLog.Read", { code: "internal", cause: "The record cannot be read.", remedy: "Try again." });
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
