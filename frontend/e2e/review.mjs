// What changed in a channel's folder, decided about in its panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { someChanges } from "./mock/reviews.mjs";
import { fail } from "./mock/world.mjs";

const panel = (page) => page.getByRole("region", { name: "Review", exact: true });
const list = (page) => panel(page).getByRole("listbox", { name: "Changed files" });
const paths = (page) => list(page).getByRole("option").evaluateAll((all) => all.map((el) => el.title));
const here = (page) => panel(page).locator(".review-hunk[aria-current=true]").getAttribute("aria-label");
const said = (mock) => mock.reviews.acts.map((a) => a.join(" "));

async function open(page, mock, changes = someChanges()) {
  mock.reviews.files = changes;
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("review of what");
  await page.keyboard.press("Enter");
  await panel(page).waitFor();
}

async function acceptAll(page) {
  await panel(page).getByRole("button", { name: "More ways" }).click();
  await page.getByRole("menuitem", { name: /^Accept all/ }).press("Enter");
}

/** Waits for a file's changes. */
async function shows(page, name) {
  await panel(page).getByRole("heading", { name }).waitFor();
  await panel(page).locator(".review-hunk").first().waitFor();
}

test("review: hunks are accepted, rejected, put back and committed by the keyboard", { size: [1600, 950] }, async (page, mock) => {
  await open(page, mock);
  await until("the list has the keyboard by itself", () => page.evaluate(() => document.activeElement?.matches(".review-list")));
  await becomes(() => paths(page), [".git/config", ".github/workflows/ci.yml", "configs/limits.yaml", "internal/auth/login.go", "internal/limit/bucket.go", "logo.png"], "those that reach further come first");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
  await becomes(() => here(page), "Hunk 3–8, accepted");
  await page.keyboard.press("n");
  await becomes(() => here(page), "Hunk 38–45");
  await clean(page, "a review", { looks: CONTRAST });
  await page.keyboard.press("a");
  await becomes(() => here(page), "Hunk 38–45, accepted");
  await page.keyboard.press("n");
  await becomes(() => here(page), "Hunk 75–77");
  await page.keyboard.press("x");
  await page.getByText("Taken out of the file.").waitFor();
  await becomes(() => panel(page).locator(".review-hunk").count(), 2, "hunks");
  await page.keyboard.press("Control+z");
  await becomes(() => panel(page).locator(".review-hunk").count(), 3, "hunks");
  await until("nothing is done any more", async () => (await panel(page).getAttribute("aria-busy")) === "false");
  await page.keyboard.press("Shift+A");
  await list(page).getByText("accepted", { exact: true }).nth(1).waitFor();
  equal(said(mock), ["stage internal/auth/login.go h5", "reject internal/auth/login.go h6", "undo  u1", "stage internal/auth/login.go h6"]);
  // The last of a file leads to the next one.
  await page.keyboard.press("n");
  await panel(page).getByRole("heading", { name: "bucket.go" }).waitFor();
  await panel(page).getByRole("textbox", { name: "Message of the commit" }).fill("Limit logins per account");
  await page.keyboard.press("Enter");
  await page.getByText("Committed 1a2b3c4.").waitFor();
  await becomes(() => paths(page), [".git/config", ".github/workflows/ci.yml", "internal/limit/bucket.go", "logo.png"]);
  await panel(page).getByRole("button", { name: "feat/rate-limits" }).click();
  await page.keyboard.insertText("fix/login");
  await page.keyboard.press("Enter");
  await panel(page).getByRole("button", { name: "fix/login" }).waitFor();
});

test("review: what reaches further is accepted only once it was opened", { size: [1600, 950] }, async (page, mock) => {
  await open(page, mock);
  await list(page).getByText("runs with the secrets of your CI").waitFor();
  await acceptAll(page);
  await until("all others are accepted", () => mock.reviews.files.filter((f) => f.hunks.every((h) => h.staged)).length === 4);
  await until("nothing is done any more", async () => (await panel(page).getAttribute("aria-busy")) === "false");
  ok(mock.reviews.files.some((f) => f.path.endsWith("ci.yml") && !f.hunks[0].staged), "the workflow waits");
  await list(page).getByText("ci.yml").click();
  await shows(page, "ci.yml");
  await acceptAll(page);
  await until("it is accepted", () => mock.reviews.files.find((f) => f.path.endsWith("ci.yml")).hunks[0].staged);
  await list(page).getByText("config", { exact: true }).click();
  await panel(page).getByRole("button", { name: /^I have seen it/ }).click();
  await list(page).getByText("config", { exact: true }).waitFor({ state: "detached" });
});

test("review: what reaches further is accepted as it was seen", { quietErrors: true, size: [1600, 950] }, async (page, mock) => {
  await open(page, mock);
  const workflow = () => mock.reviews.files.find((f) => f.path.endsWith("ci.yml"));
  await list(page).getByText("ci.yml").click();
  await shows(page, "ci.yml");
  await list(page).getByText("login.go").click();
  await shows(page, "login.go");
  workflow().hunks = workflow().hunks.map((h) => ({ ...h, id: `${h.id}-later` }));
  await acceptAll(page);
  await page.getByText("The file has changed since you looked at it.").first().waitFor();
  await until("nothing is done any more", async () => (await panel(page).getAttribute("aria-busy")) === "false");
  await page.locator(".toast").getByRole("button", { name: "Close" }).click();
  await acceptAll(page); // without it, until it is opened again
  await until("all others are accepted", () => mock.reviews.files.filter((f) => f.hunks.every((h) => h.staged)).length === 4);
  ok(!workflow().hunks.some((h) => h.staged), "what nobody saw waits");
  await until("nothing is done any more", async () => (await panel(page).getAttribute("aria-busy")) === "false");
  await list(page).getByText("ci.yml").click();
  await shows(page, "ci.yml");
  await acceptAll(page);
  await until("it is accepted", () => workflow().hunks.every((h) => h.staged));
});

test("review: a rejection of which nobody knows whether it was done can be put back", { size: [1600, 950] }, async (page, mock) => {
  await open(page, mock);
  mock.reviews.doubt = fail("interrupted", "Git was broken off, or its container went away, so Loop does not know whether it did this.", "Look at the file: if the change is gone, Undo puts it back.").failure;
  await list(page).getByText("bucket.go").click();
  await shows(page, "bucket.go");
  await list(page).focus();
  await page.keyboard.press("x");
  await page.getByText("so Loop does not know").waitFor();
  await page.getByText("if the change is gone").waitFor();
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await page.getByText("Put back.").waitFor();
  equal(said(mock).at(-1), "undo  u1");
});

test("review: comments gather and go as one prompt with their places", { size: [1600, 950] }, async (page, mock) => {
  await open(page, mock);
  await list(page).getByText("login.go").click();
  await list(page).focus();
  await page.keyboard.press("n");
  await becomes(() => here(page), "Hunk 38–45");
  await page.keyboard.press("c");
  const box = panel(page).getByRole("textbox", { name: "Comment on line 39" });
  await until("the box has the keyboard", () => box.evaluate((el) => el === document.activeElement));
  await page.keyboard.insertText("Take the burst from configs/limits.yaml; a bare 5 does not say what it limits.");
  await clean(page, "a comment", { looks: CONTRAST });
  await page.keyboard.press("Control+Enter");
  await panel(page).getByText("1 comment gathered").waitFor();
  await until("the lines have the keyboard", () => page.evaluate(() => document.activeElement?.matches(".review-lines")));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("c");
  await panel(page).getByRole("textbox", { name: "Comment on line 41" }).fill("Seconds?");
  await page.keyboard.press("Control+Enter");
  await panel(page).getByText("2 comments gathered").waitFor();
  await page.reload(); // they outlive the page
  await open(page, mock);
  await panel(page).getByText("2 comments gathered").waitFor();
  await list(page).focus();
  await page.keyboard.press("Control+Shift+Enter");
  await panel(page).getByText("2 comments gathered").waitFor({ state: "detached" });
  const prompt = await until("the prompt is there", () => mock.log.find((c) => c.name === "Runs.Prompt")?.args[0].prompt);
  ok(/internal\/auth\/login\.go:39\n> wait, ok[^\n]*\nTake the burst/.test(prompt) && /login\.go:41\n> sec[^\n]*\nSeconds\?/.test(prompt), prompt);
});

test("review: from the end of a run; a file; refusals; a rebase; nothing changed", { quietErrors: true, size: [1600, 950] }, async (page, mock) => {
  mock.reviews.files = someChanges();
  mock.reviews.files.push({ path: "internal/auth/login_test.go", kind: "M", hunks: [{ ...someChanges()[3].hunks[1], id: "t1" }] });
  mock.reviews.run = { files: [{ path: "internal/auth/login_test.go" }] };
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const end = page.getByRole("article").filter({ has: page.getByRole("button", { name: "Review" }) }).last();
  await end.focus();
  await page.keyboard.press("r");
  await becomes(() => paths(page), ["internal/auth/login_test.go"], "the files of the run");
  await panel(page).getByRole("radio", { name: "Worktree" }).click();
  await becomes(async () => (await paths(page)).length, 7);
  await list(page).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowUp");
  await panel(page).getByText("This file is no text.").waitFor();
  mock.reviews.failNext = fail("conflict", "The file has changed since you looked at it. Nothing was staged.", "Look at it again, then decide once more.");
  await page.keyboard.press("a");
  await page.getByText("The file has changed since you looked at it.").first().waitFor();
  mock.reviews.state = "rebase";
  await page.keyboard.press("F5");
  await panel(page).getByText("A rebase is under way.").waitFor();
  await panel(page).getByRole("button", { name: "Abort" }).click();
  await panel(page).getByText("What was resolved since it began would be lost.").waitFor();
  await clean(page, "a rebase", { looks: CONTRAST });
  await panel(page).getByRole("button", { name: "Keep it" }).click();
  await panel(page).getByRole("button", { name: "Continue" }).click();
  await panel(page).getByText("A rebase is under way.").waitFor({ state: "detached" });
  await list(page).focus();
  await page.keyboard.press("o");
  await page.getByRole("region", { name: "Files of the container" }).waitFor();
  await becomes(() => mock.files.reads.at(-1), "logo.png", "the file that was opened");
  mock.reviews.files = [];
  await page.getByRole("tab", { name: /^Review/ }).click();
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("Nothing changed.").waitFor();
  await clean(page, "nothing changed");
  mock.reviews.state = "no-repository";
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("is no git repository.").waitFor();
});

test("review: narrow, it is one column, and the list before the changes", { size: [1600, 950] }, async (page, mock) => {
  await open(page, mock);
  await panel(page).getByRole("radio", { name: "Split" }).waitFor();
  await page.setViewportSize({ width: 1000, height: 800 });
  await panel(page).getByRole("radio", { name: "Split" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+b");
  await page.setViewportSize({ width: 640, height: 800 });
  await until("the list is alone", async () => (await list(page).isVisible()) && !(await panel(page).locator(".review-hunk").first().isVisible()));
  await list(page).focus();
  await page.keyboard.press("Enter");
  await panel(page).locator(".review-hunk").first().waitFor();
  ok(!(await list(page).isVisible()), "the changes are in front");
  await clean(page, "a narrow review");
  await page.keyboard.press("Escape");
  await list(page).waitFor();
});

const runScope = (mock) => mock.log.findLast((c) => c.name === "Review.Status").args[1];

test("review: what a run changed is told from what became of it, also without a repository", { quietErrors: true, size: [1600, 950] }, async (page, mock) => {
  mock.reviews.files = someChanges();
  mock.reviews.run = { files: [
    { path: "internal/auth/login.go" }, { path: "go.mod", since: "committed" }, { path: "README.md", since: "edited" }, { path: "Makefile", since: "other" }, { path: "dist/app.js", since: "outside", kind: "A" },
  ] };
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByRole("article").filter({ has: page.getByRole("button", { name: "Review" }) }).last().focus();
  await page.keyboard.press("r");
  await becomes(async () => (await paths(page)).length, 5);
  await until("the list has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".review-list")));
  ok(runScope(mock).kind === "run" && runScope(mock).from, "a run was asked for");
  equal(await panel(page).getByRole("radio", { checked: true }).first().textContent().then((t) => /^Run \d\d:\d\d$/.test(t)), true);
  await list(page).getByText("changed again since").waitFor();
  for (const word of ["committed", "to read", "not in git"]) await list(page).getByText(word, { exact: true }).waitFor();
  await clean(page, "a run", { looks: CONTRAST });
  const hunks = panel(page).locator(".review-hunks");
  await hunks.getByRole("button", { name: /^Accept/ }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await hunks.getByText("This change is committed.").waitFor();
  await page.keyboard.press("a");
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+A");
  equal(await hunks.getByRole("button", { name: /^(Accept|Reject)/ }).count(), 0);
  await page.keyboard.press("ArrowDown");
  await hunks.getByText("Here is what the run did.").waitFor();
  equal(mock.reviews.acts, [], "nothing of it was decided about");
  // It comes back after a reload, with run and file.
  await until("Loop keeps the panel", () => Object.values(mock.world.memory).some((v) => v.includes('"path":"README.md"')));
  const asked = runScope(mock).from;
  await page.reload();
  await hunks.getByText("Here is what the run did.").waitFor();
  equal(runScope(mock), { kind: "run", from: asked });
  await hunks.getByRole("button", { name: "Show the worktree" }).click();
  await becomes(async () => (await paths(page)).length, 6);
  // A folder that is no repository.
  mock.reviews.state = "no-repository";
  mock.reviews.run = { editable: false, until: "now", files: [{ path: "notes.txt", since: "" }] };
  await panel(page).getByRole("radio", { name: /^(Run|Last turn)/ }).first().click();
  await becomes(() => paths(page), ["notes.txt"]);
  await panel(page).getByText("The run goes on: these are its changes up to now.").waitFor();
  equal(await panel(page).getByRole("textbox", { name: "Message of the commit" }).count(), 0);
  mock.reviews.run = { files: [] };
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("The run changed no files.").waitFor();
  mock.reviews.run = { files: [], failure: fail("not_found", "There is no checkpoint of the files.", "Look at the worktree.") };
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("There is no checkpoint of the files.").waitFor();
  await clean(page, "no checkpoint");
  mock.reviews.state = "none";
  await panel(page).getByRole("button", { name: "Show the worktree" }).click();
  await becomes(async () => (await paths(page)).length, 6);
});

/** A file of so many hunks; the lines of each by their place in it. */
const many = (path, n, each, line) => ({ path, kind: "M", hunks: Array.from({ length: n }, (_, i) => ({
  id: `${path}${i}`, staged: false, old: 1 + i * 1000, old_size: each, new: 1 + i * 1000, new_size: each, section: `part ${i}`, lines: Array.from({ length: each }, (_x, k) => `${line(k)} in ${i}\n`).join(""),
})) });

const section = (page) => panel(page).locator(".review-hunk[aria-current=true] .review-section").innerText();
const keyboard = (page) => page.evaluate(() => document.activeElement.closest(".review-hunk")?.matches(".here") ?? document.activeElement.className);
const press = async (page, key, times) => {
  for (let i = 0; i < times; i++) await page.keyboard.press(key);
};

test("review: the keyboard goes with the hunk, however far, and every hunk is in its way", { size: [1600, 950] }, async (page, mock) => {
  await open(page, mock, [many("a.go", 80, 30, (k) => `${"-+ "[k % 3]}line ${k}`), many("b.go", 2, 3, (k) => `+line ${k}`)]);
  await panel(page).getByText("line 1 in 0", { exact: true }).waitFor();
  equal(await panel(page).locator(".review-bar").count(), 80, "bars");
  ok((await panel(page).locator(".review-lines").count()) < 40, "lines that are far are not made");
  await page.keyboard.press("Enter");
  await until("the lines have the keyboard", () => page.evaluate(() => document.activeElement.matches(".here .review-lines")));
  await press(page, "n", 50);
  await becomes(() => section(page), "part 50");
  equal(await page.evaluate(() => document.activeElement.matches(".here .review-lines")), true, "the keyboard after many hunks");
  await press(page, "ArrowDown", 45); // beyond its end
  await becomes(() => section(page), "part 51");
  await page.keyboard.press("a");
  await until("it is accepted", () => said(mock).at(-1) === "stage a.go a.go51");
  await becomes(async () => (await here(page)).endsWith(", accepted"), true, "it is shown as accepted");
  await until("the keyboard is in the folded hunk", async () => (await keyboard(page)) === true);
  await until("nothing is done any more", async () => (await panel(page).getAttribute("aria-busy")) === "false");
  await page.keyboard.press("n");
  await becomes(() => section(page), "part 52");
  equal(await page.evaluate(() => document.activeElement.matches(".here .review-lines")), true, "the keyboard after a folded hunk");
  // By Tab the next hunk is the chosen one.
  await page.keyboard.press("Tab");
  await becomes(() => section(page), "part 53");
  await panel(page).locator(".review-hunks").evaluate((el) => el.scrollTo(0, 0));
  await panel(page).getByText("line 1 in 0", { exact: true }).waitFor();
  await page.keyboard.press("a");
  await until("the one with the keyboard is accepted", () => said(mock).at(-1) === "stage a.go a.go53");
  await becomes(async () => (await here(page)).endsWith(", accepted"), true, "it is shown as accepted");
  await until("the keyboard is in it", async () => (await keyboard(page)) === true);
  await until("nothing is done any more", async () => (await panel(page).getAttribute("aria-busy")) === "false");
  await press(page, "n", 27); // into the next file
  await panel(page).getByRole("heading", { name: "b.go" }).waitFor();
  await until("the keyboard is in the next file", async () => (await keyboard(page)) === true);
  await page.keyboard.press("Escape");
  await until("the list has the keyboard", () => page.evaluate(() => document.activeElement.matches(".review-list")));
});

test("review: what is selected or commented stays made; columns and the chosen hunk stay where they are", { size: [1600, 950] }, async (page, mock) => {
  const gaps = { ...many("gaps.go", 1, 390, (k) => (k < 10 ? `-line ${k}` : `+line ${k}`)) };
  await open(page, mock, [many("a.go", 60, 2, (k) => `+line ${k} ${"long ".repeat(10)}`), many("b.go", 60, 30, (k) => `+line ${k}`), gaps]);
  const scroller = panel(page).locator(".review-hunks");
  const inSight = () => scroller.evaluate((el) => {
    const [all, bar] = [el, el.querySelector(".review-hunk.here .review-bar")].map((x) => x.getBoundingClientRect());
    return bar.top >= all.top - 1 && bar.bottom <= all.bottom + 1;
  });
  await page.addStyleTag({ content: ".review-hunks { overflow-anchor: none; }" }); // as in WebKitGTK
  await list(page).getByText("b.go").click();
  await panel(page).getByText("line 0 in 0", { exact: true }).click();
  await page.keyboard.press("c");
  await page.keyboard.insertText("Why?");
  await page.keyboard.press("Control+Enter");
  await panel(page).getByText("line 1 in 1", { exact: true }).evaluate((el) => getSelection().selectAllChildren(el));
  await scroller.evaluate((el) => el.scrollTo(0, el.scrollHeight));
  await panel(page).getByText("line 1 in 59", { exact: true }).waitFor();
  await panel(page).getByText("line 1 in 9", { exact: true }).waitFor({ state: "detached" });
  equal(await page.evaluate(() => getSelection().toString()), "line 1 in 1", "the selection");
  equal(await scroller.getByRole("button", { name: "Remove the comment on line 1" }).count(), 1, "the comment");
  // Those above the last hunk grow once they are near.
  await list(page).focus();
  await page.keyboard.press("p"); // into the file before
  await becomes(() => section(page), "part 59");
  await panel(page).getByText(/^line 1 .* in 50$/).waitFor();
  await becomes(inSight, true, "the chosen hunk is in sight");
  await list(page).getByText("gaps.go").click();
  await panel(page).getByRole("radio", { name: "Split" }).click();
  await scroller.evaluate((el) => el.scrollTo(0, el.scrollHeight / 2));
  await becomes(() => panel(page).locator(".review-split").count(), 2, "parts");
  const columns = await panel(page).locator(".review-split").evaluateAll((all) => all.map((t) => [...t.querySelectorAll("tr:last-child td:nth-last-child(3)")].map((td) => Math.round(td.getBoundingClientRect().x)).join()));
  equal(columns[0], columns[1], "where the right columns begin");
});
