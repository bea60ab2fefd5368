// The page when something goes wrong: no answer, a lost answer, gaps in the events, refusals.
import { once } from "node:events";
import { connect } from "node:net";
import { becomes, equal, frames, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });

test("offline: said plainly, the prompt waits and goes out once on return", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  mock.down();
  await page.getByText("Loop does not answer.").waitFor();
  await prompt(page).fill("sent while away");
  await page.keyboard.press("Enter");
  await page.getByText("waiting to send").waitFor();
  await page.reload(); // a page can also be opened while Loop does not answer
  await page.getByText("this page connects by itself").waitFor();
  mock.up();
  await page.getByText("Done", { exact: true }).waitFor();
  equal([...mock.world.runs.values()].filter((r) => r.prompt === "sent while away").length, 1, "runs");
  await page.getByText("waiting to send").waitFor({ state: "detached" });
});

test("an answer that is lost: sent again with the same id, run once", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  mock.world.failNext.set("Runs.Prompt", { code: "disk_full", cause: "The disk is full.", remedy: "Free some space.", detail: "" });
  await prompt(page).fill("precious words");
  await page.keyboard.press("Enter");
  await page.getByText("not sent").waitFor();
  await page.getByText("The disk is full.").waitFor();
  await page.getByRole("button", { name: "Put it back" }).click();
  await becomes(() => prompt(page).inputValue(), "precious words", "text");
  await page.keyboard.press("Enter");
  await page.getByText("Done", { exact: true }).waitFor();
});

test("a socket that breaks goes on where it was, or takes a new snapshot: nothing missing, nothing twice", { speed: 4 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const snapshots = () => mock.log.filter((c) => c.name === "System.Snapshot").length;
  const stored = (which) => mock.world.events.get(mock.channel("docs & <b>notes</b>").channel_id).filter(which).length;
  for (const [run, forget] of [[1, false], [2, true]]) {
    mock.play.pauseAt = "I'll write"; // the socket breaks in the middle of a sentence
    await prompt(page).fill("go");
    await page.keyboard.press("Enter");
    await until("it writes", () => mock.play.paused);
    await page.getByText("I'll write").nth(run - 1).waitFor();
    const before = snapshots();
    mock.cut();
    if (forget) mock.world.forget();
    mock.play.paused = false;
    await page.getByText("Done", { exact: true }).nth(run - 1).waitFor();
    equal(snapshots() > before, forget, "took a snapshot");
    await becomes(() => page.locator("article.tool").count(), stored((e) => e.type === "tool.use"), "tools");
    await becomes(() => page.locator("article.text").count(), stored((e) => e.type === "message.created" && e.data.is_bot), "texts");
    await becomes(() => page.locator("article.prompt").count(), run, "prompts");
  }
});

test("a wrong key is said, not retried for ever", { quietErrors: true, alone: true }, async (page, mock, context) => {
  const other = await context.newPage();
  let asked = 0;
  other.on("request", (r) => (asked += r.url().includes("/api/") ? 1 : 0));
  other.on("websocket", () => asked++);
  await other.clock.install();
  await other.goto(`${mock.address}/#token=${"0".repeat(64)}`);
  await other.getByText("This page has no valid key.").waitFor();
  const aMinute = async () => {
    for (let i = 0; i < 6; i++) {
      await other.clock.fastForward(10_000); // longer than any pause between two tries
      await frames(other);
    }
    return asked;
  };
  const before = await aMinute(); // includes requests that were on their way when the first was refused
  ok(before > 0, "nothing was asked");
  equal(await aMinute(), before, "requests, a minute later");
  await other.goto(mock.url); // the right address, pasted into the open page, is enough
  await other.getByRole("treeitem", { name: "api-server" }).waitFor();
});

test("a run that fails says why, what helps, and can be retried", async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("401 please");
  await page.keyboard.press("Enter");
  await page.getByText("The model refused the key (401).").waitFor();
  await page.getByRole("button", { name: "Show details" }).click();
  await page.getByText("invalid x-api-key").waitFor();
  await page.getByRole("button", { name: "Copy details" }).click();
  await until("the clipboard has it", async () => (await page.evaluate(() => navigator.clipboard.readText())).includes("authentication_error"));
  await page.getByRole("button", { name: "Retry" }).click();
  await until("a second run", () => [...mock.world.runs.values()].filter((r) => r.prompt === "401 please").length === 2);
});

test("no engine: first page and timeline say what helps", { scenario: "fresh" }, async (page, mock) => {
  const failure = { code: "engine_permission", cause: "Docker is there, but this user may not use it.", remedy: "Run “sudo usermod -aG docker ana”.", detail: "permission denied" };
  mock.world.engine = { ...mock.world.engine, ok: false, failure };
  mock.world.emit("engine.status", "", "", mock.world.engine);
  await page.getByText(failure.cause).first().waitFor();
  await page.getByText(failure.remedy).first().waitFor();
  await page.getByRole("button", { name: "Demo channel" }).click();
  await page.locator(".composer").getByText(failure.cause).waitFor();
});

test("who leaves in the middle of a question harms nobody else", async (page, mock) => {
  const left = connect(new URL(mock.address).port, "127.0.0.1");
  const head = ["POST /api/call/System.Snapshot HTTP/1.1", "Host: x", `Authorization: Bearer ${mock.token}`, "Content-Length: 2", "Expect: 100-continue"];
  left.write(`${head.join("\r\n")}\r\n\r\n`);
  await once(left, "data"); // the server reads the request by now
  left.resetAndDestroy();
  await once(left, "close");
  await page.reload();
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
});

test("a timeline that cannot be read can be read again", { quietErrors: true }, async (page, mock) => {
  mock.world.failNext.set("Channels.Timeline", { code: "internal", cause: "The database did not answer.", remedy: "Try again." });
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("The database did not answer.").waitFor();
  await page.getByRole("button", { name: "Load again" }).click();
  await page.getByText("Fixed.").waitFor();
});

test("a folder that cannot be opened says so and stays usable", { loop: {}, quietErrors: true }, async (page) => {
  await page.keyboard.press("Control+o");
  await page.getByRole("option", { name: "docs" }).waitFor();
  await page.getByLabel("Path").fill("/nowhere");
  await page.getByLabel("Path").press("Enter");
  await page.getByText("That folder cannot be opened.").waitFor();
  await page.getByLabel("Path").fill("/");
  await page.getByLabel("Path").press("Enter");
  await page.getByRole("option", { name: "etc" }).waitFor();
  await page.getByRole("button", { name: "Open this folder" }).click();
  await page.getByText("is the whole file system").waitFor();
  ok(await page.getByRole("option", { name: "etc" }).isVisible(), "list still there");
});

test("a missing image that Loop can build is built from the run that wanted it", { speed: 20 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("no image please");
  await page.keyboard.press("Enter");
  await page.getByText("Sandbox image not found: openclaw-sandbox-common:bookworm-slim.").waitFor();
  await page.getByRole("button", { name: "Build the image" }).click();
  await page.getByText("Building the common sandbox image 42 %").waitFor();
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  mock.world.sandboxBuild();
  await page.getByText("The image is ready.").waitFor();
});

test("a part that cannot be loaded says so in its place; trying again brings it, with the keyboard", { quietErrors: true, alone: true }, async (page) => {
  let down = "js";
  let refused = 0;
  await page.route(/\/(ReviewPanel|FindDialog)-.*\.(js|css)/, (r) => {
    if (!down || !r.request().url().includes(`.${down}`)) return r.continue();
    refused++;
    return r.abort();
  });
  await page.reload();
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("review of what changed");
  await page.keyboard.press("Enter");
  const place = page.getByRole("group", { name: "The review" });
  await place.getByText("The review could not be loaded.").waitFor();
  await becomes(() => place.evaluate((el) => el.contains(document.activeElement)), true, "the keyboard waits there");
  // What is loaded ahead comes to this part, too: a try that finds it under way is not one of its own.
  await until("all was tried ahead", () => page.evaluate(() => performance.getEntriesByName("loaded ahead").length > 0));
  const before = refused;
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // Try again
  await until("it is tried twice", () => refused >= before + 2);
  await place.getByText("Trying again did not help").waitFor();
  down = "";
  await place.getByRole("button", { name: "Try again" }).click();
  await place.waitFor({ state: "detached" });
  await becomes(() => page.evaluate(() => Boolean(document.activeElement?.closest(".review"))), true, "the keyboard is in the review");
  await page.keyboard.press("Control+Shift+F"); // a dialog
  await page.getByRole("dialog").getByRole("textbox").or(page.getByRole("dialog").getByRole("combobox")).first().waitFor();
});

const styled = (page, name) => page.evaluate((n) => [...document.styleSheets].filter((s) => s.href?.includes(`/${n}-`) && s.cssRules.length > 0).length, name);

test("a part whose styles did not load comes with them when it is tried again", { quietErrors: true, alone: true }, async (page) => {
  let down = true;
  await page.route(/\/(ReviewPanel|FindDialog)-.*\.css/, (r) => (down ? r.abort() : r.continue()));
  await page.reload();
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).waitFor();
  await page.keyboard.press("Control+Shift+F");
  const dialog = page.getByRole("dialog", { name: "Not loaded" });
  await dialog.getByText("The search could not be loaded.").waitFor();
  equal(await styled(page, "FindDialog"), 0, "stylesheets while they fail");
  down = false;
  await dialog.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("dialog").getByRole("textbox").or(page.getByRole("dialog").getByRole("combobox")).first().waitFor();
  equal(await styled(page, "FindDialog"), 1, "stylesheets");
});

test("where trying again does not help, the page is to be loaded again", { quietErrors: true, alone: true }, async (page) => {
  const first = [...(await (await page.request.get(page.url().split("#")[0])).text()).matchAll(/assets\/[\w.-]+/g)].map((m) => m[0]);
  ok(first.length > 0, "what the page begins with");
  let down = true;
  await page.route(/\/assets\/.*\.(js|css)/, (r) => (down && !first.some((f) => r.request().url().includes(f)) ? r.abort() : r.continue()));
  await page.reload();
  const card = page.locator("[data-coming=failed]").first();
  await page.getByRole("treeitem", { name: "docs" }).click();
  await card.getByText("could not be loaded.").waitFor();
  const primary = card.locator("button.primary");
  equal(await primary.innerText(), "Try again");
  await primary.click();
  await card.getByText("Trying again did not help").waitFor();
  equal(await primary.innerText(), "Reload the page");
  down = false;
  await primary.click();
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).waitFor();
});
