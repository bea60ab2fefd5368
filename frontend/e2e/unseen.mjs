// The mark of a channel whose work ended while nobody looked.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, test, until } from "./harness.mjs";

test("unseen: what ends elsewhere is marked in the tree until it is looked at, over a reload too", { speed: 20 }, async (page, mock) => {
  const item = (name) => page.getByRole("treeitem", { name });
  const marked = () => page.locator(".row-news .row-name").allInnerTexts();
  await item("docs").click();
  await until("what is old is no news", async () => mock.world.memory.seen);
  equal(await marked(), [], "at first");
  mock.play.pauseAt = "I'll write";
  await page.getByRole("textbox", { name: "Prompt" }).fill("something long");
  await page.keyboard.press("Enter");
  await until("it writes", () => mock.play.paused);
  await item("infra").click();
  mock.play.paused = false;
  await item(/docs.* new/).waitFor();
  equal((await marked()).length, 1, "marked");
  await clean(page, "the tree", { looks: CONTRAST });
  await page.reload();
  await item(/docs.* new/).waitFor();
  await item("docs").click();
  await becomes(marked, [], "looked at");
  await page.reload();
  await item("docs").waitFor();
  equal(await marked(), [], "after a reload");
});
