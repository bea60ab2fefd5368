// Pictures of what a run did in its browser: in the timeline, and in its playback.
import { readFile } from "node:fs/promises";
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

test("footage: the timeline says who drives", { size: [1400, 1000] }, async (page, mock) => {
  const { ch, run } = await withRun(page, mock);
  const said = page.locator("article.notice");
  await becomes(() => said.count(), 2);
  const words = async () => (await said.allInnerTexts()).map((x) => x.replace(/\s+/g, " ").replace(/\d\d:\d\d/, "T").trim());
  equal(await words(), ["You took over at T. 6.0 s", "You gave back at T."]);
  await clean(page, "who drove");
  mock.world.emit("agent.status", ch.channel_id, run, { status: "running", state: "running" });
  mock.world.emit("run.notice", ch.channel_id, run, { level: "info", text: "You took over the browser.", driver: "person" });
  await becomes(async () => (await words())[2], "You took over at T. Claude waits until you give back.");
  await clean(page, "who drives");
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

const player = (page) => page.getByRole("region", { name: "Playback" });
const at = (page) => player(page).locator(".playback-time strong").innerText();
const position = (page) => player(page).getByRole("slider", { name: "Position" });

async function opened(page) {
  await page.getByRole("button", { name: "Play back" }).click();
  await player(page).waitFor();
  await until("the position has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".playback-seek")));
}

test("footage: a run is played back by keys alone", { size: [1400, 1000] }, async (page, mock) => {
  await withRun(page, mock);
  const end = page.getByRole("article", { name: /^Done/ });
  await grab(end);
  await page.keyboard.press("Tab"); // the review
  await page.keyboard.press("Tab");
  await until("the button has the keyboard", () => page.evaluate(() => document.activeElement?.textContent.includes("Play back")));
  await page.keyboard.press("Enter");
  await until("the position has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".playback-seek")));
  const pane = player(page);
  await pane.getByText("No page is open yet.").waitFor();
  await pane.getByText("2 pictures left out, to save room", { exact: false }).waitFor();
  await becomes(() => at(page), "0:00");
  await page.keyboard.press("ArrowRight");
  await becomes(() => at(page), "0:01");
  const word = (text) => pane.locator(".playback-now").getByText(text).waitFor();
  await word("Says");
  for (const text of ["Run go run ./cmd/api", "Open preview.api-server:8080/login", "Fill in “Email”", "Click “Continue”"]) {
    await page.keyboard.press("]");
    await word(text);
  }
  await page.keyboard.press("ArrowRight");
  await pane.getByText("frame 3 of 8").waitFor();
  await pane.getByRole("img", { name: "Sign in – Fernway: Claude clicked “Continue”" }).waitFor();
  await pane.getByText("listening on :8080", { exact: false }).waitFor();
  await clean(page, "playback");
  await page.keyboard.press("]");
  await word("You drive");
  await pane.getByText("You drove").waitFor();
  await page.keyboard.press("[");
  await word("Click “Continue”");
  await page.keyboard.press("d");
  await until("it is at the decision", async () => /^1:\d\d of 1:\d\d, Click element 9$/.test(await position(page).getAttribute("aria-valuetext")));
  await page.keyboard.press("End");
  await becomes(async () => `/ ${await at(page)}`, await pane.locator(".playback-time .muted").innerText());
  await page.keyboard.press("Space"); // from the beginning again, with idle times skipped
  await until("it plays", async () => ["0:01", "0:02", "0:03", "0:04", "0:05"].includes(await at(page)));
  await page.keyboard.press("Space");
  const still = await at(page);
  await frames(page, 10);
  equal(await at(page), still, "it stands still");
  await page.keyboard.press("Escape");
  await until("the timeline has the keyboard again", () => page.evaluate(() => Boolean(document.activeElement?.closest(".timeline"))));
});

const current = (page) => page.locator("article[aria-current=time]");

test("footage: the timeline goes along with the playback", { size: [1400, 1000] }, async (page, mock) => {
  await withRun(page, mock);
  await opened(page);
  await page.keyboard.press("Home");
  await becomes(() => current(page).locator(".run-time").innerText(), "0:00");
  for (let i = 0; i < 4; i++) await page.keyboard.press("]");
  await becomes(() => current(page).getAttribute("aria-label"), "Click “Continue”");
  equal(await current(page).locator(".run-time").innerText(), "0:09", "time in the gutter");
  const inSight = () => current(page).evaluate((el) => {
    const [row, list] = [el, el.closest(".scroller")].map((x) => x.getBoundingClientRect());
    return row.top >= list.top && row.bottom <= list.bottom + 1;
  });
  await until("it is in sight", inSight);
  await page.keyboard.press("End");
  await becomes(() => current(page).getAttribute("aria-label").then((x) => x.startsWith("Done")), true);
  await until("the end is in sight", inSight);
  await clean(page, "a timeline that goes along");
  // Without the playback the gutter has what it had.
  await player(page).getByRole("slider").press("Escape");
  await page.getByRole("tab", { name: "Playback" }).press("Delete");
  await becomes(() => page.locator(".run-time").count(), 0);
});

test("footage: a link leads back to a moment, in the address bar and in the palette", { size: [1400, 1000] }, async (page, mock) => {
  const { ch, run } = await withRun(page, mock);
  await opened(page);
  for (let i = 0; i < 4; i++) await page.keyboard.press("]");
  await page.keyboard.press("c");
  await page.getByText(/Copied the link to 0:09/).waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  ok(link.startsWith(`${mock.address}/#run=${run}&channel=${ch.channel_id}&t=`), link);
  await page.getByRole("button", { name: "Copy link to 0:09" }).waitFor();
  const there = async () => {
    await becomes(() => at(page), "0:09");
    await becomes(() => current(page).getAttribute("aria-label"), "Click “Continue”");
  };
  await page.keyboard.press("Home");
  await becomes(() => at(page), "0:00");
  // Typed into the address bar of the open page, from another channel, twice.
  for (let i = 0; i < 2; i++) {
    await page.getByRole("treeitem", { name: "api-server" }).click();
    await page.getByText("Fixed.").waitFor();
    await page.evaluate((to) => void (location.hash = to), link.slice(link.indexOf("#")));
    await there();
    equal(new URL(page.url()).hash, "", "the address bar");
  }
  // At the page's start.
  await page.goto("about:blank");
  await page.goto(link);
  await there();
  await page.keyboard.press("Home");
  // In the palette, as in the window, which has no address bar.
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText(link);
  await page.getByRole("option", { name: "Play the run back from 0:09" }).waitFor();
  await page.keyboard.press("Enter");
  await there();
  await page.evaluate(() => void (location.hash = "#run=r&channel=gone&t=1"));
  await page.getByText("This link leads to a channel that this Loop does not have.").waitFor();
});

test("footage: a run is exported as a file, or a failure says why not", { size: [1400, 1000], quietErrors: true }, async (page, mock) => {
  const { run } = await withRun(page, mock);
  mock.footage.exports.set(run, Buffer.from("PK whole"));
  await opened(page);
  const button = player(page).getByRole("button", { name: "Export" });
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  equal(file.suggestedFilename(), "loop-run-1.zip", "name");
  equal(await readFile(await file.path(), "utf8"), "PK whole", "content");
  await page.getByText("The run is in loop-run-1.zip, with your downloads.").waitFor();
  mock.footage.exports.set(run, { code: "config", cause: "Loop cannot tell which secrets to leave out of this export: the keyring is locked.", remedy: "Mend that, then export the run again." });
  await button.click();
  await page.getByText("the keyring is locked", { exact: false }).first().waitFor();
  mock.footage.exports.set(run, "torn");
  await button.click();
  await page.getByText("The export ended before it was whole.").first().waitFor();
  await until("it can be tried again", () => button.isEnabled());
});

test("footage: a run under way is played back up to now", { size: [1400, 1000] }, async (page, mock) => {
  const ch = mock.channel("docs & <b>notes</b>");
  const run = "underway1";
  const began = Date.now() - 65_000;
  const e = (type, data, after) => mock.world.emit(type, ch.channel_id, run, data, began + after);
  e("message.created", { msg_id: "m1", content: "Try it", is_bot: false }, 0);
  e("agent.status", { status: "running", state: "starting", step: "agent" }, 100);
  e("agent.status", { status: "running", state: "running" }, 500);
  e("tool.use", { tool_use_id: "t1", tool_name: "Bash", input: { command: "sleep 900" } }, 5000);
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByText("sleep 900").first().waitFor();
  await page.getByRole("button", { name: "Play back what was done so far" }).click();
  const pane = player(page);
  await pane.getByText("still running", { exact: false }).waitFor();
  await pane.getByRole("slider").press("End");
  await until("it is as long as it has lasted", async () => /^1:\d\d/.test(await at(page)));
  const length = async () => pane.locator(".playback-time .muted").innerText();
  const before = await length();
  await until("it grows", async () => (await length()) !== before);
  await pane.locator("pre.command").getByText("sleep 900").waitFor();
  e("tool.result", { tool_use_id: "t1", output: "slept", is_error: false }, Date.now() - began);
  e("agent.status", { status: "completed", state: "done", duration_ms: 70_000, num_turns: 1 }, Date.now() - began);
  await until("it has ended", async () => (await pane.getByText("still running", { exact: false }).count()) === 0);
});

test("footage: scrubbing by pointer, gaps with their reason, and tabs where it is narrow", { size: [1300, 1000] }, async (page, mock) => {
  const { ch, run } = await withRun(page, mock);
  const started = mock.world.events.get(ch.channel_id).find((e) => e.type === "agent.status").timestamp;
  await opened(page);
  const pane = player(page);
  const track = await pane.locator(".playback-track").boundingBox();
  await page.mouse.move(track.x + track.width * 0.2, track.y + 60);
  await page.mouse.down();
  await page.mouse.move(track.x + track.width * 0.99, track.y + 60, { steps: 4 });
  await page.mouse.up();
  await until("it is near the end", () => position(page).evaluate((el) => el.value / el.max > 0.98));
  const gap = await position(page).evaluate((el, [time, began]) => (time + 200 - began) / el.max, [mock.footage.frames.get(run).find((f) => f.why).time, started]);
  await page.mouse.click(track.x + track.width * gap, track.y + 60);
  await pane.locator(".playback-page").getByText("The page did not answer in time.").waitFor();
  await pane.getByRole("button", { name: "4×" }).click();
  equal(await pane.getByRole("button", { name: "4×" }).getAttribute("aria-pressed"), "true", "the speed");
  await pane.getByRole("checkbox", { name: "Skip idle" }).uncheck();
  await page.setViewportSize({ width: 640, height: 1000 });
  const tabs = pane.getByRole("tab");
  await becomes(() => tabs.allInnerTexts(), ["Terminal", "Page"]);
  await pane.getByRole("tab", { name: "Terminal" }).click();
  await pane.getByText("listening on :8080", { exact: false }).waitFor();
  equal(await pane.locator(".playback-page").isVisible(), false, "the page is behind the other tab");
  await page.keyboard.press("ArrowRight");
  await until("the other tab has the keyboard", () => pane.getByRole("tab", { name: "Page" }).evaluate((el) => el === document.activeElement));
  await pane.locator(".playback-page").waitFor();
  await clean(page, "playback in a narrow window");
});

async function fromPalette(page) {
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("play back the last run");
  await page.keyboard.press("Enter");
  await until("the position has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".playback-seek")));
}

test("footage: a run without a browser has the terminal alone, from the palette", { size: [1300, 1000] }, async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await fromPalette(page);
  const pane = player(page);
  await pane.getByText("No browser: the terminal takes the width").waitFor();
  await page.keyboard.press("End");
  await pane.locator(".playback-screen pre.command").first().waitFor();
  await clean(page, "playback without a browser");
});

test("footage: a terminal that was recorded during the run is drawn, or says why not", { size: [1300, 1000], quietErrors: true }, async (page, mock) => {
  const ch = mock.channel("api-server");
  const began = mock.world.events.get(ch.channel_id).find((e) => e.type === "agent.status").timestamp;
  const record = (name, title, text) => mock.terminals.recordings.set(name, {
    text, info: { name, session_id: "s", channel_id: ch.channel_id, title, started_at: new Date(began).toISOString(), duration_ms: 2000, bytes: 90, cols: 80, rows: 24 },
  });
  record("r.cast", "build", '{"version":2,"width":80,"height":24}\n[0.5,"o","$ make\\r\\n"]\n[2,"o","recorded output\\r\\n"]\n');
  record("x.cast", "broken", "nothing");
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  await fromPalette(page);
  const pane = player(page);
  const drawn = () => pane.locator(".playback-screen .xterm-rows").innerText().then((t) => t.trim().split(/\s*\n\s*/).filter(Boolean), () => []);
  await page.keyboard.press("ArrowRight");
  await becomes(drawn, ["$ make"]);
  await page.keyboard.press("End");
  await becomes(drawn, ["$ make", "recorded output"]);
  await page.keyboard.press("Home");
  await becomes(drawn, []);
  await pane.getByRole("combobox", { name: "Terminal" }).selectOption("broken");
  await pane.getByText("This file is not a recording that can be played.").waitFor();
  await clean(page, "a broken recording");
  await pane.getByRole("combobox", { name: "Terminal" }).selectOption("The agent's commands");
  await pane.getByText("No command yet.").waitFor();
});
