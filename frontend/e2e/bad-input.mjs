// What is too much, too large or the other way round: the page stays usable and says what is left out.
import { equal, ok, test } from "./harness.mjs";
import { long } from "./mock/history.mjs";

const prompt = (page) => page.locator("[data-prompt]");

/** Opens the page after so much was said. */
const after = (say) => async (page, mock) => {
  say(mock, mock.world.addChannel("large", "/home/ana/src/large"));
  await page.goto(mock.url);
  await page.getByText("today $").waitFor();
};

test("bad input: a hundred thousand events; the newest at once, the oldest by a search", { open: after((mock, ch) => long(mock.world, ch, 12_500)) }, async (page) => {
  await page.getByRole("treeitem", { name: "large" }).click();
  await page.getByText("Task 12500:").waitFor();
  ok((await page.locator("article").count()) < 80, "virtualised");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("Task 7: look");
  await page.getByText(/of \d+/).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Task 7: look at module 6").waitFor();
  ok((await page.locator("article").count()) < 80, "still virtualised");
});

function large(mock, ch) {
  const say = (id, content, is_bot) => mock.world.emit("message.created", ch.channel_id, "r-large", { msg_id: id, content, is_bot });
  say("p", "Print everything.", false);
  say("lines", "A line of the message that is very long, as a whole.\n\n".repeat(100_000), true);
  say("one", "w".repeat(5 << 20), true);
  say("end", "That was everything.", true);
}

test("bad input: a message of 5 MB, one in lines and one in a single line", { open: after(large) }, async (page) => {
  await page.getByRole("treeitem", { name: "large" }).click();
  await page.getByText("That was everything.").waitFor();
  await prompt(page).fill("still here");
  equal(await prompt(page).inputValue(), "still here");
  await page.getByRole("button", { name: "Show the next 146 KB" }).last().click();
  await page.getByText("That was everything.").waitFor();
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
});
