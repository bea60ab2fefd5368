// Waits for a model that refuses: one row that counts down. A wrong key is not waited for.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const row = (page, name) => page.getByRole("article", { name });

async function begun(page, mock) {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const { channel_id: id } = mock.channel("docs & <b>notes</b>");
  const emit = (type, data) => mock.world.emit(type, id, "f".repeat(32), data);
  emit("message.created", { msg_id: "f".repeat(32), content: "Do the same for the password reset test.", is_bot: false });
  emit("agent.status", { status: "running", state: "running", step: "agent" });
  await page.getByText("Do the same").waitFor();
  const refused = (attempt, ms) => emit("agent.activity", { activity: "api_retry", retry: { attempt, of: 10, delay_ms: ms, why: "The model is overloaded (529)." } });
  return { emit, refused };
}

test("waiting for the model: one row counts down, is announced once, and says what came of it", async (page, mock) => {
  const { emit, refused } = await begun(page, mock);
  await page.evaluate(() => {
    window.heard = [];
    for (const live of document.querySelectorAll("body > .sr-only[role=status]")) {
      new MutationObserver(() => window.heard.push(live.textContent)).observe(live, { subtree: true, childList: true, characterData: true });
    }
  });
  refused(2, 40_000);
  const waits = row(page, /^Trying again/);
  const head = () => waits.locator(".retryrow-head").innerText();
  await waits.getByText("The model is overloaded (529). Try 2 of 10.").waitFor();
  const first = Number(/in (\d+) s/.exec(await head())[1]);
  await until("it counts down", async () => Number(/in (\d+) s/.exec(await head())[1]) < first);
  equal(await waits.getByRole("button").count(), 0, "buttons while the agent's program waits");
  await clean(page, "waiting for the model", { looks: CONTRAST });
  refused(3, 60_000);
  await waits.getByText("Try 3 of 10.").waitFor();
  equal(await waits.count(), 1, "rows");
  await becomes(() => page.evaluate(() => window.heard.filter((t) => t.includes("overloaded")).length), 1, "times it was said");
  emit("message.created", { msg_id: "m", content: "Here I am again.", is_bot: true });
  await row(page, "Tried again 2 times: The model is overloaded (529).").waitFor();
  equal(await waits.count(), 0, "rows that wait");
});

test("waiting for the model: what Loop waits for can begin at once", { quietErrors: true }, async (page, mock) => {
  const { emit, refused } = await begun(page, mock);
  refused(10, 100);
  emit("run.notice", { level: "warning", text: "API Error: Repeated 529 Overloaded errors" });
  emit("run.attempt", { number: 2, kind: "transient", transient: 1, of: 5, reason: "The model is overloaded (529).", delay_ms: 90_000 });
  const waits = row(page, /^Trying again/);
  await waits.getByText("Try 1 of 4.").waitFor();
  equal(await page.getByText("Repeated 529").count(), 0, "words that the row says already");
  await page.setViewportSize({ width: 380, height: 800 });
  await waits.getByText("Now", { exact: true }).waitFor();
  await clean(page, "waiting, narrow");
  await waits.getByRole("button", { name: "Try now" }).click();
  await until("Loop was told", () => mock.log.some((c) => c.name === "Runs.Retry"));
});

test("a wrong key: the card opens the settings with the keyboard in the key's field", async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("401 please");
  await page.keyboard.press("Enter");
  const change = page.getByRole("button", { name: "Change the key" });
  await change.waitFor();
  await clean(page, "a refused key", { looks: CONTRAST });
  await change.press("Enter");
  await page.getByRole("dialog", { name: /^Settings/ }).waitFor();
  await until("the key's field has the keyboard", () => page.evaluate(() => document.activeElement.id === "credential"));
  ok(await page.getByRole("heading", { name: "Model access" }).isVisible(), "its part of the settings");
});
