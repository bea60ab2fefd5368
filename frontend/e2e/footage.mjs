// Pictures of what a run did in its browser: in the timeline.
import { clean, DIALOG } from "./clean.mjs";
import { becomes, equal, frames, grab, ok, test, until } from "./harness.mjs";

const rows = (page) => page.locator("article.tool", { has: page.locator(".timeline-browser") });

async function withRun(page, mock) {
  const ch = mock.channel("docs & <b>notes</b>");
  const made = mock.footage.run(ch);
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByText("The countdown is right.").waitFor();
  return { ch, ...made };
}

test("footage: rows of the browser's tools have words, pictures and one height", { size: [1400, 1000] }, async (page, mock) => {
  const { ch, run } = await withRun(page, mock);
  await becomes(() => rows(page).count(), 5);
  const words = await rows(page).evaluateAll((list) => list.map((el) => el.querySelector(".timeline-browser-words").innerText.replaceAll("\n", " ")));
  equal(words, ["Open preview.api-server:8080/login Sign in – Fernway", "Fill in “Email”", "Click “Continue”", "Read console errors only 1 line", "Click element 9 There is no element 9."]);
  await becomes(() => page.locator(".page-thumb img").count(), 4, "thumbnails");
  await page.getByRole("button", { name: "No picture: The page did not answer in time." }).waitFor();
  ok(!(await page.locator(".timeline").innerText()).includes("{"), "no row has JSON");
  await clean(page, "rows with thumbnails");
  // A call under way has its place from the beginning, so that nothing moves when its picture comes.
  mock.world.emit("tool.use", ch.channel_id, run, { tool_use_id: "late", tool_name: "mcp__loop-browser__navigate", input: { url: "http://localhost/" } });
  const last = rows(page).last();
  await last.getByText("Open").waitFor();
  const before = (await last.boundingBox()).height;
  mock.world.emit("tool.result", ch.channel_id, run, { tool_use_id: "late", output: "Opened.", is_error: false });
  mock.footage.add(ch.channel_id, run, { tool_use_id: "late", action: "navigate", title: "Later" }, mock.footage.pictures.values().next().value, Date.now());
  await last.getByText("Later").waitFor();
  await last.locator("img").waitFor();
  equal((await last.boundingBox()).height, before, "height of the row");
});

test("footage: Enter opens the picture, arrows step, Escape goes back to the row", async (page, mock) => {
  await withRun(page, mock);
  const click = page.getByRole("article", { name: "Click “Continue”" });
  await click.waitFor();
  await grab(click);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Picture of the page" });
  await dialog.getByText("Claude clicked “Continue”").waitFor();
  await dialog.getByText("3 of 8", { exact: false }).waitFor();
  await dialog.locator("img").waitFor();
  const place = await dialog.evaluate((el) => {
    const [img, ring] = [el.querySelector("img"), el.querySelector(".page-ring")].map((x) => x.getBoundingClientRect());
    return [(ring.x + ring.width / 2 - img.x) / img.width, (ring.y + ring.height / 2 - img.y) / img.height].map((n) => Math.round(n * 100) / 100);
  });
  equal(place, [0.5, 0.6], "the middle of the ring");
  await clean(page, "a picture", { within: DIALOG });
  await page.keyboard.press("ArrowRight");
  await dialog.getByText("You took over").waitFor();
  await page.keyboard.press("End");
  await dialog.getByText("which failed").waitFor();
  await page.keyboard.press("ArrowLeft");
  await dialog.getByText("The page did not answer in time.").waitFor();
  await clean(page, "a frame without a picture", { within: DIALOG });
  await page.keyboard.press("Home");
  await dialog.getByText("Claude opened").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await until("the row has the keyboard again", () => click.evaluate((el) => el === document.activeElement));
  await page.keyboard.press("Space");
  await until("Space unfolds the call", () => click.locator(".body").count());
});

test("footage: a narrow timeline has quiet rows", { size: [400, 800] }, async (page, mock) => {
  const ch = mock.channel("docs & <b>notes</b>");
  mock.footage.run(ch);
  const show = page.getByRole("button", { name: /sidebar/i }).first();
  if (!(await page.getByRole("treeitem", { name: "docs" }).isVisible())) await show.click();
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByText("The countdown is right.").waitFor();
  await frames(page);
  equal(await page.locator(".page-thumb").evaluateAll((list) => list.some((el) => el.getClientRects().length > 0)), false, "thumbnails are shown");
});
