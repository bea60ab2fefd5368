// A file named in a prompt with @.
import { clean } from "./clean.mjs";
import { fail } from "./mock/world.mjs";
import { equal, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });
const becomes = (page, text) => until(`the prompt is ${JSON.stringify(text)}`, async () => (await prompt(page).inputValue()) === text);
const options = (page) => page.getByRole("listbox", { name: "Files" }).getByRole("option");

test("prompt: @ offers files, by the keyboard and by a click", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await prompt(page).click();
  await page.keyboard.type("see @read");
  await options(page).first().waitFor();
  equal(await options(page).count(), 1, "options");
  equal(await options(page).first().getAttribute("id"), await prompt(page).getAttribute("aria-activedescendant"), "active option");
  await clean(page, "the list of files");
  await page.keyboard.press("Enter");
  await becomes(page, "see @README.md ");
  await options(page).first().waitFor({ state: "detached" });
  await page.keyboard.type("and @cm");
  await options(page).first().waitFor();
  await page.keyboard.press("Tab");
  await becomes(page, "see @README.md and @cmd/");
  await page.getByRole("option", { name: /main\.go/ }).click();
  await becomes(page, "see @README.md and @cmd/main.go ");
  ok(await prompt(page).evaluate((el) => el === document.activeElement), "the prompt box lost the focus");
});

test("prompt: @ says when nothing matches, hides no character, and Esc keeps the text", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await prompt(page).click();
  await page.keyboard.type("@zzz");
  await page.getByText("No file matches. Not searched: 3 that git ignores.").waitFor();
  await clean(page, "no file");
  await page.keyboard.press("Escape");
  await page.getByText("No file matches").waitFor({ state: "detached" });
  await becomes(page, "@zzz");
  await prompt(page).fill("");
  await page.keyboard.type("@notes");
  await page.locator(".mention .hidden-char").first().waitFor();
  await prompt(page).fill("");
  mock.files.down = fail("dir", "The folder is gone.", "Put it back.");
  await page.keyboard.type("@x");
  await page.getByText("The folder is gone. Put it back.").waitFor();
});

test("prompt: @ and a quick Enter take the file of the last letter, not one of an earlier list", async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await prompt(page).click();
  await page.keyboard.type("@c");
  await options(page).first().waitFor();
  let release;
  mock.world.held.set("Files.Find", new Promise((r) => { release = r; }));
  await page.keyboard.type("md/main");
  await page.keyboard.press("Enter");
  await becomes(page, "@cmd/main");
  mock.world.held.delete("Files.Find");
  release();
  await becomes(page, "@cmd/main.go ");
  ok(!mock.log.some((c) => c.name === "Runs.Prompt"), "the prompt was sent");
});

test("prompt: Enter and Tab wait for the first list of @, and send nothing", async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await prompt(page).click();
  for (const key of ["Enter", "Tab"]) {
    const release = mock.world.hold("Files.Find");
    await page.keyboard.type("@cmd/main");
    await page.getByText("Looking for files").waitFor();
    await page.keyboard.press(key);
    release();
    await becomes(page, "@cmd/main.go ");
    await prompt(page).fill("");
  }
  const release = mock.world.hold("Files.Find");
  await page.keyboard.type("@nothing-is-named-so");
  await page.keyboard.press("Enter");
  release();
  await page.getByText("No file matches.").waitFor();
  ok(!mock.log.some((c) => c.name === "Runs.Prompt"), "a prompt was sent");
  await page.keyboard.press("Enter");
  await until("the prompt was sent", () => mock.log.some((c) => c.name === "Runs.Prompt"));
});
