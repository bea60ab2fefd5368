// What the end of a run says came of it.
import { clean, CONTRAST } from "./clean.mjs";
import { equal, test, until } from "./harness.mjs";

test("changed files: the end names them, each leads to its call, and nothing is claimed of commands", { speed: 20 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("count words");
  await page.keyboard.press("Enter");
  const sum = page.getByRole("button", { name: /^1 file/ });
  await sum.waitFor();
  equal((await sum.innerText()).replaceAll(/\s+/g, " ").trim(), "1 file +6", "the sum");
  equal(await page.getByText("no files changed").count(), 0, "claims");
  await sum.press("Enter");
  const file = page.getByRole("list", { name: "Changed files" }).getByRole("button", { name: "words.py" });
  await clean(page, "the end", { looks: CONTRAST });
  await file.press("Enter");
  await until("the call has the keyboard", () => page.evaluate(() => document.activeElement?.textContent?.includes("words.py") && document.activeElement.tagName === "ARTICLE"));
  equal(mock.log.filter((c) => c.name === "Runs.Prompt").length, 1, "prompts");
});
