// What opened rows of the timeline show, and their keys.
import { clean } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const row = (page, name) => page.getByRole("article", { name });

/** Gives the keyboard to a row that is anywhere in the list. */
async function goTo(page, name, key = "Home") {
  await page.locator("article[tabindex='0']").focus();
  await page.keyboard.press(key);
  for (let i = 0; i < 30; i++) {
    if (await row(page, name).evaluateAll((all) => all.some((el) => el === document.activeElement))) return;
    const was = await page.evaluate(() => document.activeElement.getAttribute("aria-posinset"));
    await page.keyboard.press("j");
    await page.waitForFunction((w) => document.activeElement.getAttribute("aria-posinset") !== w, was);
  }
  throw new Error(`no row ${name}`);
}

async function opened(page) {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
}

test("timeline rows: a command's first and last lines in its colours, all of them by a key", async (page) => {
  await opened(page);
  await goTo(page, /^Run go test.* exit 1$/);
  await page.keyboard.press("Enter");
  const box = row(page, /^Run go test.* exit 1$/).getByRole("figure", { name: "Output" });
  await box.getByText("80 more lines").waitFor();
  ok(!(await box.innerText()).includes("Exit code"), "the row says the exit status");
  equal(await box.locator("span[style]").filter({ hasText: "=== FAIL" }).evaluate((el) => el.style.color), "var(--ansi-1)");
  await clean(page, "an opened command");
  await page.keyboard.press("a");
  await box.getByText("(attempt 20)").waitFor();
  ok(await page.evaluate(() => document.activeElement.tagName === "ARTICLE"), "the row keeps the keyboard");
  await box.getByRole("button", { name: "show less" }).click();
  await box.getByText("80 more lines").waitFor();
  ok(await page.evaluate(() => document.activeElement.tagName === "ARTICLE"), "the row has the keyboard after a click");
  await page.keyboard.press("ArrowLeft");
  await becomes(() => box.count(), 0, "boxes");
});

test("timeline rows: an edit is one diff with colours, numbers and the changed words, and its lines wrap", async (page) => {
  await opened(page);
  await goTo(page, /^Edit .*login_test/);
  await page.keyboard.press("Enter");
  const change = row(page, /^Edit .*login_test/).getByRole("group", { name: "Lines of internal/auth/login_test.go" });
  await becomes(() => change.locator(".diff-word").allInnerTexts(), ["sessions.", "Len", "Sessions"], "changed words, cut where their colours change");
  equal(await change.locator("tr.del .no").allInnerTexts(), ["61", "63"], "numbers of removed lines");
  await clean(page, "an opened edit");
  await page.setViewportSize({ width: 700, height: 900 });
  await becomes(() => change.evaluate((el) => el.scrollWidth - el.clientWidth), 0, "hidden to the right");
});

test("timeline rows: a read has its lines' numbers and colours", async (page) => {
  await opened(page);
  await goTo(page, /^Read .*login_test/);
  await page.keyboard.press("Enter");
  const content = row(page, /^Read .*login_test/).getByRole("figure", { name: "Content" });
  await content.getByText("136 more lines").waitFor();
  await content.locator(".codelines-text span[style]").first().waitFor();
  equal((await content.locator("tr").nth(2).locator("td").allInnerTexts()).join(" "), '3 import "testing"');
  await clean(page, "an opened read");
  await page.keyboard.press("a");
  await content.getByText("time.Sleep(50").waitFor();
  await becomes(() => content.locator("tr").count(), 148, "lines");
});

test("timeline rows: below 420 px there is no gutter, and the file comes before its folder", async (page) => {
  await opened(page);
  await page.setViewportSize({ width: 360, height: 900 });
  await goTo(page, /^Edit .*login_test/);
  const edit = row(page, /^Edit .*login_test/);
  equal((await edit.locator(".object").innerText()).trim(), "login_test.go internal/auth");
  equal(await edit.locator(".gutter").isVisible(), false, "a tenth of a second");
  await page.keyboard.press("Enter");
  await becomes(() => page.locator(".scroller").evaluate((el) => el.scrollWidth - el.clientWidth), 0, "hidden to the right");
  await clean(page, "narrow rows");
});

test("timeline rows: reads and searches in one row, which opens to them, and none goes away while one reads", async (page, mock) => {
  await opened(page);
  const { channel_id: id, dir } = mock.channel("api-server");
  const emit = (type, data) => mock.world.emit(type, id, "f".repeat(32), data);
  const call = (n, name, input, output) => {
    emit("tool.use", { tool_use_id: n, tool_name: name, input });
    emit("tool.result", { tool_use_id: n, output, is_error: false });
  };
  emit("message.created", { msg_id: "p".repeat(32), content: "Look at the rest.", is_bot: false });
  await page.getByText("Look at the rest.").waitFor();
  for (const f of ["auth/a.go", "auth/b.go", "web/c.go"]) call(f, "Read", { file_path: `${dir}/internal/${f}` }, "1→package x\n2→\n");
  call("s1", "Grep", { pattern: "Sleep" }, "Found 1 file\na.go");
  const all = row(page, "Read 3 files and searched once");
  await all.getByText("internal/auth, internal/web").waitFor();
  equal(await row(page, /^Search Sleep/).count(), 0, "rows of their own");
  await goTo(page, "Read 3 files and searched once", "End");
  await page.keyboard.press("Enter");
  await row(page, /^Search Sleep/).waitFor();
  await clean(page, "an opened run of reads");
  await page.keyboard.press("j");
  await until("the first of them has the keyboard", () => page.evaluate(() => /^Read .*a\.go/.test(document.activeElement.getAttribute("aria-label"))));
  await page.keyboard.press("k");
  await until("the run has the keyboard", () => page.evaluate(() => document.activeElement.getAttribute("aria-label").startsWith("Read 3 files")));
  emit("message.created", { msg_id: "m".repeat(32), content: "And three more.", is_bot: true });
  for (const f of ["d.go", "e.go", "f.go"]) {
    call(f, "Read", { file_path: `${dir}/${f}` }, "1→package x\n");
    await row(page, new RegExp(`^Read .*/${f}`)).waitFor();
  }
  equal(await row(page, /^Read .*[def]\.go/).count(), 3, "rows that may be read");
  await page.keyboard.press("ArrowLeft");
  await becomes(() => row(page, /^Search Sleep/).count(), 0, "rows after it is closed");
  ok(await page.evaluate(() => document.activeElement.tagName === "ARTICLE"), "the run keeps the keyboard");
});
