// What is too much, too large or the other way round: the page stays usable and says what is left out.
import { clean } from "./clean.mjs";
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

/** Hunks of so many lines each. */
const hunks = (n, each) => Array.from({ length: n }, (_, i) => ({
  id: `h${i}`, staged: false, old: 1 + i * 20, old_size: each, new: 1 + i * 20, new_size: each, section: "", lines: Array.from({ length: each }, (_x, k) => `${"-+ "[k % 3]}line ${k} of ${i}\n`).join(""),
}));

test("bad input: changes of 20,000 lines, in many hunks and in one; only what is near is made", { size: [1600, 950] }, async (page, mock) => {
  mock.reviews.files = [{ path: "many.go", kind: "M", hunks: hunks(2200, 9) }, { path: "one.go", kind: "M", hunks: hunks(1, 19_800) }];
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("review of what");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Review", exact: true });
  const bottom = () => panel.locator(".review-hunks").evaluate((el) => el.scrollTo(0, el.scrollHeight));
  const made = async (what) => ok((await panel.locator(".review-lines tr").count()) < 2500, `rows of ${what}`);
  await panel.getByText("line 2 of 0", { exact: true }).first().waitFor();
  await made("many hunks");
  await bottom();
  await panel.getByText("line 8 of 2199", { exact: true }).first().waitFor();
  await made("many hunks at their end");
  await panel.getByRole("listbox").focus();
  await page.keyboard.press("n");
  await panel.locator(".review-hunk[aria-current=true]").getByText("line 2 of 1", { exact: true }).first().waitFor();
  await panel.getByRole("option", { name: /one/ }).click();
  await panel.getByRole("button", { name: "Show all 19,800 lines" }).click();
  await made("one hunk");
  await bottom();
  await panel.getByText("line 19799 of 0", { exact: true }).first().waitFor();
  await made("one hunk at its end");
  await panel.locator(".review-lines").focus();
  await page.keyboard.press("ArrowDown");
  ok(await panel.locator(".review-line").first().evaluate((el) => { const r = el.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; }), "the line is in sight");
});

test("bad input: text from right to left begins at the right, and what is around it does not turn", { open: after((mock, ch) => {
  const say = (id, content, is_bot) => mock.world.emit("message.created", ch.channel_id, "r-rtl", { msg_id: id, content, is_bot });
  say("p", "لماذا يفشل الاختبار؟", false);
  say("a", "الاختبار ينتظر 50 مللي ثانية فقط.\n\n- الملف `internal/auth/login_test.go:64`\n- السبب: سباق\n\nThe fix is a signal.", true);
}) }, async (page) => {
  await page.getByRole("treeitem", { name: "large" }).click();
  await page.getByText("The fix is a signal.").waitFor();
  // Where the first letter of a text stands in its line, as a part of the line's width.
  const side = (text) => page.getByText(text).evaluate((el) => {
    const range = document.createRange();
    const node = document.createTreeWalker(el, NodeFilter.SHOW_TEXT).nextNode();
    range.setStart(node, 0);
    range.setEnd(node, 1);
    const [letter, line] = [range.getBoundingClientRect(), el.getBoundingClientRect()];
    return (letter.left + letter.width / 2 - line.left) / line.width > 0.5 ? "right" : "left";
  });
  equal(await side("لماذا يفشل"), "right", "a prompt");
  equal(await side("الاختبار ينتظر"), "right", "an answer");
  equal(await side("The fix is a signal."), "left", "a paragraph after it");
  await prompt(page).fill("شكرا");
  equal(await prompt(page).evaluate((el) => el.matches(":dir(rtl)")), true, "the prompt box");
});

// A window of 1280 by 800 at each zoom has so many of the page's own pixels.
for (const zoom of [0.5, 2, 3]) {
  test(`bad input: at a zoom of ${zoom * 100} % nothing is wider than the window`, { size: [Math.round(1280 / zoom), Math.round(800 / zoom)] }, async (page) => {
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    ok(await fits(), "the first page");
    await page.keyboard.press("Control+Shift+p");
    await page.getByPlaceholder("Go to channel, file or command").fill("api-server");
    await page.keyboard.press("Enter");
    await page.getByText("Fixed.").first().waitFor();
    ok(await fits(), "a timeline");
    await prompt(page).fill("still here");
    const seen = await prompt(page).evaluate((el) => { const r = el.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.width > 100; });
    ok(seen, "the prompt box is in sight");
    await page.keyboard.press("Control+,");
    await page.getByRole("dialog", { name: "Settings" }).waitFor();
    ok(await fits(), "the settings");
    await clean(page, `at ${zoom * 100} %`);
  });
}
