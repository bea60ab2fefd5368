// Finding in the timeline, and in all that was said and done.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const bar = (page) => page.getByRole("search", { name: "Find in the timeline" });
const count = (page) => bar(page).getByRole("status");
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? "");

test("find: in a timeline by the keyboard, from the newest hit back, with its words marked", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+f");
  const field = bar(page).getByRole("textbox");
  await until("the field has the keyboard", () => field.evaluate((el) => el === document.activeElement));
  await page.keyboard.type("session");
  await becomes(() => count(page).innerText().then((t) => /^\? of \d+$/.test(t)), true, "a count");
  await page.keyboard.press("Enter");
  await becomes(() => count(page).innerText().then((t) => t.startsWith("1 of ")), true, "the newest");
  ok(await field.evaluate((el) => el === document.activeElement), "the field keeps the keyboard");
  await until("words are marked", () => page.evaluate(() => (CSS.highlights.get("loop-found")?.size ?? 0) > 0));
  await clean(page, "the field to find", { looks: CONTRAST });
  await page.keyboard.press("Shift+Enter");
  await becomes(() => count(page).innerText().then((t) => { const [, at, of] = /^(\d+) of (\d+)/.exec(t) ?? []; return at === of; }), true, "around to the oldest");
  await page.keyboard.press("Escape");
  await becomes(() => bar(page).count(), 0, "fields");
  await becomes(() => page.evaluate(() => document.activeElement?.tagName), "ARTICLE", "the row of the hit has the keyboard");
  await becomes(() => page.evaluate(() => CSS.highlights.has("loop-found")), false, "marks are gone");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("no such words");
  await becomes(() => count(page).innerText(), "Nothing found");
  mock.world.findFails = true;
  await page.keyboard.type("!");
  await becomes(() => count(page).innerText(), "The database could not be read.");
});

test("find: a hit in what a row hides opens it", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("39.812s");
  await becomes(() => count(page).innerText(), "? of 1");
  await page.keyboard.press("Enter");
  await page.getByRole("figure", { name: "Output" }).getByText("39.812s").waitFor();
});

test("find: everywhere, to a row that is on no loaded page", { scenario: "long" }, async (page) => {
  await page.keyboard.press("Control+Shift+f");
  const dialog = page.getByRole("dialog", { name: "Find in all that was said and done" });
  const field = dialog.getByRole("combobox");
  await until("the field has the keyboard", () => field.evaluate((el) => el === document.activeElement));
  await clean(page, "nothing sought yet", { looks: CONTRAST });
  await page.keyboard.type("Task 3: look");
  await dialog.getByText("1, newest first").waitFor();
  equal(await dialog.getByRole("option").count(), 1);
  await clean(page, "hits", { looks: CONTRAST });
  await page.keyboard.press("Enter");
  await becomes(() => dialog.count(), 0, "dialogs");
  await becomes(() => focused(page).then((t) => t.includes("Task 3: look at module 2")), true, "the row has the keyboard");
  await page.keyboard.press("Control+Shift+f");
  await field.fill("Task 699 zebra");
  await dialog.getByText("Nothing was said or done with these words").waitFor();
  await field.fill("tidy");
  await dialog.getByText("100 and more").waitFor();
  for (let i = 0; i < 14; i++) await page.keyboard.press("PageDown");
  await dialog.getByText("200 and more").waitFor();
  await page.setViewportSize({ width: 320, height: 700 });
  await clean(page, "hits where it is narrow");
  await page.keyboard.press("Escape");
  await becomes(() => dialog.count(), 0, "dialogs");
});
