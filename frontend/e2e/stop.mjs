// A stopped run keeps its text, and a run goes on while its background task does.
import { becomes, equal, test } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });

test("stop keeps what was said, also after a reload", { speed: 10 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  mock.play.pauseAt = "count";
  await prompt(page).fill("go on");
  await page.keyboard.press("Enter");
  const said = page.locator("article.text").last();
  await said.getByText("that count").waitFor();
  await page.keyboard.press("Control+.");
  await page.getByText("Stopped", { exact: true }).waitFor();
  const look = async () => [await said.getByText("Cut off here").count(), await page.locator(".steps .bad").count(), await page.locator("article.text").count()];
  const text = await said.innerText();
  const seen = await look();
  equal(seen.slice(0, 2), [1, 0], "marked, and no failed start");
  await page.reload();
  await page.getByText("Stopped", { exact: true }).waitFor();
  await becomes(look, seen, "the same after a reload");
  equal(await said.innerText(), text, "the words after a reload");
});

test("a run waits for what goes on in the background, and says so", { speed: 10 }, async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("start the dev server");
  await page.keyboard.press("Enter");
  await page.getByText("Waiting for 1 background task").waitFor();
  const tasks = page.getByRole("list", { name: "In the background" });
  await tasks.getByText("npm run dev -- --port 5173").waitFor();
  await prompt(page).fill("what comes next");
  await page.keyboard.press("Enter");
  await page.getByText("The next prompt waits for what still runs in the background.").waitFor();
  await page.reload();
  await tasks.getByText("npm run dev -- --port 5173").waitFor();
  await page.getByRole("button", { name: "End now", exact: true }).click();
  await page.getByText("Ended with the run: npm run dev -- --port 5173").waitFor();
  await tasks.waitFor({ state: "detached" });
  await page.getByRole("list", { name: "Waiting prompts" }).waitFor({ state: "detached" });
  await page.locator(".item.prompt", { hasText: "what comes next" }).waitFor();
});
