// Back to before a prompt: the panel, its keys, what leaves, and undoing it.
import { clean } from "./clean.mjs";
import { equal, ok, test, until } from "./harness.mjs";

const SHOTS = process.env.LOOP_REWIND_SHOTS; // a folder for pictures, to compare with the look
const panel = (page) => page.getByRole("region", { name: "Back to here" });
const promptRow = (page) => page.locator("article.prompt").first();

async function open(page) {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await promptRow(page).waitFor();
  await promptRow(page).focus();
  await page.keyboard.press("b");
  await panel(page).getByText("4 change back").waitFor();
}

test("rewind: b on a prompt shows what would change, greys what leaves, and Ctrl+Enter goes back", async (page, mock) => {
  await open(page);
  await page.getByText("Leaves the conversation").waitFor();
  await until("what leaves is grey", async () => (await page.locator(".rewound-leaving").count()) > 3);
  equal(await page.locator(".rewound-target").count(), 1, "the prompt that stays");
  await panel(page).getByText("you, ").waitFor();
  await clean(page, "the way back");
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/rewind-open.png` });

  await until("the list has the keyboard", () => page.evaluate(() => document.activeElement?.classList.contains("rewind-list")));
  const keep = panel(page).getByRole("checkbox", { name: /Keep my edit/ });
  await page.keyboard.press("k");
  ok(await keep.isChecked(), "k keeps the edit");
  await page.keyboard.press("ArrowDown");
  equal(await keep.count(), 0, "a file of the agent's alone has nothing to keep");
  await page.keyboard.press("2");
  equal(await panel(page).getByRole("radio", { name: /Files only/ }).getAttribute("aria-checked"), "true", "files only");
  equal(await page.getByText("Leaves the conversation").count(), 0, "nothing leaves with the files");
  await page.keyboard.press("1");
  await page.keyboard.press("Control+Enter");

  await page.getByText(/^Went back to /).first().waitFor();
  const call = mock.log.find((c) => c.name === "Rewind.Back");
  equal(JSON.stringify(call.args[1]), JSON.stringify({ what: "both", keep: ["configs/limits.yaml"], mark: "m1", stop: false }), "what was asked");
  await until("the panel is closed", async () => (await panel(page).count()) === 0);
  const box = page.getByRole("textbox", { name: "Prompt" });
  await until("the prompt is in the box, which has the keyboard", () => box.evaluate((el) => el === document.activeElement && el.value !== ""));
  const row = page.locator("article.rewound");
  await until("what left is folded", async () => (await page.locator("article.tool").count()) === 0);
  await row.getByRole("button", { name: /Show .* that left/ }).click();
  await page.locator("article.rewound-leaving").first().waitFor();
  await clean(page, "what left, opened");
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/rewind-went.png` });
  await row.getByRole("button", { name: "Undo" }).click();
  await row.getByText(/, undone$/).waitFor();
  await until("all is there again", async () => (await page.locator(".rewound-leaving").count()) === 0 && (await page.locator("article.tool").count()) > 0);
});

test("rewind: a prompt comes back with what was chosen for it", async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await promptRow(page).waitFor();
  for (const r of mock.world.runs.values()) Object.assign(r, { plan: true, model: "haiku" });
  await promptRow(page).focus();
  await page.keyboard.press("b");
  await panel(page).getByText("4 change back").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Went back to /).first().waitFor();
  await page.getByText("Plan first, read-only", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Model: .*haiku.*, for this prompt/i }).waitFor();
});

test("rewind: Esc cancels, and the timeline has its colours again", async (page, mock) => {
  await open(page);
  await page.locator(".rewound-leaving").first().waitFor();
  await page.keyboard.press("Escape");
  await until("the panel is closed", async () => (await panel(page).count()) === 0);
  equal(await page.locator(".rewound-leaving").count(), 0, "grey rows");
  equal(mock.log.filter((c) => c.name === "Rewind.Back").length, 0, "calls");
});

test("rewind: without a checkpoint only the conversation goes, and a run under way is stopped first", async (page, mock) => {
  mock.rewinds.more = { no_files: "There is no checkpoint of the files.", files: [], total: 0, live: "r1" };
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await promptRow(page).focus();
  await page.keyboard.press("b");
  await panel(page).getByText("There is no checkpoint of the files.").waitFor();
  ok(await panel(page).getByRole("radio", { name: /Files only/ }).isDisabled(), "files cannot be chosen");
  await panel(page).getByRole("button", { name: /Stop and go back/ }).click();
  await page.getByText(/The conversation went back to /).first().waitFor();
  equal(mock.log.find((c) => c.name === "Rewind.Back").args[1].stop, true, "stop");
});

test("rewind: what changed meanwhile is said in the panel, and nothing goes", { quietErrors: true }, async (page, mock) => {
  mock.rewinds.refuse = ["conflict", "Files have changed since you looked.", "Look at what would change now, then go back."];
  mock.rewinds.more = { files: Array.from({ length: 20 }, (_, i) => ({ path: `internal/pkg${i}/file${i}.go`, back: "changed", added: i, removed: 1, bytes: 1 })), total: 20 };
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await promptRow(page).focus();
  await page.keyboard.press("b");
  await panel(page).getByText("20 change back").waitFor();
  const list = panel(page).getByRole("listbox");
  ok(await list.evaluate((el) => el.scrollHeight > el.clientHeight), "a long list scrolls");
  await list.press("Control+Enter");
  await panel(page).getByText("Files have changed since you looked.").waitFor();
  await clean(page, "a refusal");
});
